//! Webhooks in memory: tables beside those of the store, which the step that ends a job fills too.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{WebhookEventType, WebhookId};
use tokio::sync::Notify;

use super::MemoryStore;
use super::data::{Data, Extension};
use super::table::{AnyTable, Table};
use crate::clock::{after, before};
use crate::domain::webhook::{Delivery, DeliveryDetails, Webhooks};
use crate::domain::{AccountId, JobRecord, JobState, PromptImage, Turn};
use crate::limits::JOBS_AT_ONCE;
use crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE;
use crate::store::webhooks::WebhookStore;
use crate::store::{Result, StoreError};

#[derive(Debug)]
struct WebhookTables {
    /// With the number of their last change.
    webhooks: Table<AccountId, (i64, Webhooks)>,
    deliveries: Table<DeliveryKey, Delivery>,
    /// Those that wait, by when a worker may claim them, and whether they are claimed until then.
    due: Table<DueKey, bool>,
    changed: Arc<Notify>,
}

type DeliveryKey = (AccountId, WebhookId, Arc<str>);
type DueKey = (AccountId, WebhookId, Timestamp, Arc<str>);

impl Extension for WebhookTables {
    fn tables(&mut self) -> [&mut dyn AnyTable; 3] {
        [&mut self.webhooks, &mut self.deliveries, &mut self.due]
    }

    fn job_ended(&mut self, job: &JobRecord, images: Arc<[PromptImage]>) {
        let (account, created_at) = (job.key.account, job.updated_at);
        let Some((_, webhooks)) = self.webhooks.get(&account) else { return };
        let event = match job.state {
            JobState::Completed(..) => WebhookEventType::GenerationCompleted,
            _ => WebhookEventType::GenerationFailed,
        };
        for webhook in webhooks.subscribed(&event).collect::<Vec<_>>() {
            self.put(Delivery {
                account,
                webhook,
                id: Delivery::new_id(created_at).into(),
                created_at,
                due_at: Some(created_at),
                is_claimed: false,
                version: 0,
                details: DeliveryDetails {
                    client_job_id: job.key.client_job_id.clone(),
                    event: event.clone(),
                    images: images.clone(),
                    attempts: 0,
                    last_attempt: None,
                },
            });
        }
    }

    fn delete_account(&mut self, account: AccountId) {
        self.webhooks.remove(&account);
        self.deliveries.remove_where(|(of, ..), _| *of == account);
        self.due.remove_where(|(of, ..), _| *of == account);
    }
}

impl WebhookTables {
    fn leave_queue(&mut self, key: &DeliveryKey) {
        if let Some(at) = self.deliveries.get(key).and_then(|delivery| delivery.due_at) {
            self.due.remove(&(key.0, key.1, at, key.2.clone()));
        }
    }

    fn put(&mut self, delivery: Delivery) {
        let key = (delivery.account, delivery.webhook, delivery.id.clone());
        self.leave_queue(&key);
        if let Some(at) = delivery.due_at {
            self.due.insert((key.0, key.1, at, key.2.clone()), delivery.is_claimed);
        }
        self.deliveries.insert(key, delivery);
        self.changed.notify_one();
    }

    /// What has been due longest of the webhook whose turn it is.
    fn next(&self, now: Timestamp, turn: &Turn) -> Option<DueKey> {
        let all = self.webhooks.iter().filter(|(account, _)| !turn.except.contains(account));
        let all = all.flat_map(|(account, (_, of))| of.all.iter().map(|one| (*account, one.id)));
        let due = all.filter_map(|(account, id)| {
            let of = |from, until| {
                let last = (account, id, until, Arc::from("~"));
                self.due.range((account, id, from, Arc::from(""))..=last)
            };
            let (first, _) = of(Timestamp::MIN, now).next()?;
            let claimed = of(now, Timestamp::MAX).filter(|(_, is_claimed)| **is_claimed).count();
            (claimed < WEBHOOK_DELIVERIES_AT_ONCE).then_some(first)
        });
        due.min_by_key(|due| (due.0 <= turn.after, *due)).cloned()
    }
}

impl MemoryStore {
    /// Adds the tables of webhooks if they are absent.
    pub(crate) fn add_webhooks(&self) {
        let data = &mut *self.data.write();
        if data.extension.is_none() {
            let webhooks = data.accounts.beside("webhooks");
            let deliveries = data.accounts.beside("delivery");
            let (due, changed) = (data.accounts.beside("due-delivery"), Arc::default());
            let tables = WebhookTables { webhooks, deliveries, due, changed };
            data.extension = Some(Box::new(tables));
        }
    }

    async fn of_webhooks<T: Send>(
        &self,
        step: impl FnOnce(&mut WebhookTables, Timestamp) -> Result<T> + Send,
    ) -> Result<T> {
        self.step(|data| {
            let now = data.now();
            step(tables_of_mut(data)?, now)
        })
        .await
    }
}

fn absent() -> StoreError {
    StoreError::Internal("the store has no webhooks".into())
}

fn tables_of(data: &Data) -> Result<&WebhookTables> {
    let extension = data.extension.as_deref().map(|extension| extension as &dyn Any);
    extension.and_then(|any| any.downcast_ref()).ok_or_else(absent)
}

fn tables_of_mut(data: &mut Data) -> Result<&mut WebhookTables> {
    let extension = data.extension.as_deref_mut().map(|extension| extension as &mut dyn Any);
    extension.and_then(|any| any.downcast_mut()).ok_or_else(absent)
}

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)> {
        let found = self.look(|data| Ok(tables_of(data)?.webhooks.get(&account).cloned()));
        Ok(found.await?.unwrap_or_default())
    }

    async fn put_webhooks(&self, account: AccountId, change: i64, new: &Webhooks) -> Result<bool> {
        self.of_webhooks(|tables, _| {
            let is_last = tables.webhooks.get(&account).map_or(0, |(last, _)| *last) == change;
            if is_last {
                tables.webhooks.insert(account, (change + 1, new.clone()));
            }
            Ok(is_last)
        })
        .await
    }

    async fn all_webhooks(&self) -> Result<Vec<(String, AccountId, Webhooks)>> {
        self.look(|data| {
            let all = tables_of(data)?.webhooks.iter();
            let name = |id| data.accounts.get(id).map(|account| account.name.to_string());
            Ok(all.filter_map(|(id, (_, of))| Some((name(id)?, *id, of.clone()))).collect())
        })
        .await
    }

    async fn deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        first: &str,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        self.look(|data| {
            let (from, to) = ((account, webhook, "".into()), (account, webhook, first.into()));
            let found = tables_of(data)?.deliveries.range(from..=to).rev().take(limit);
            Ok(found.map(|(_, delivery)| delivery.clone()).collect())
        })
        .await
    }

    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<Delivery>> {
        self.of_webhooks(|tables, now| {
            let next =
                tables.next(now, turn).map(|(account, webhook, _, id)| (account, webhook, id));
            let found = next.and_then(|key| tables.deliveries.get(&key));
            let claimed = found.map(|delivery| Delivery {
                due_at: Some(after(now, lease)),
                is_claimed: true,
                version: delivery.version + 1,
                ..delivery.clone()
            });
            claimed.iter().cloned().for_each(|delivery| tables.put(delivery));
            Ok(claimed)
        })
        .await
    }

    async fn put_delivery(&self, delivery: &Delivery) -> Result<()> {
        let key = (delivery.account, delivery.webhook, delivery.id.clone());
        let (is_claimed, version) = (false, delivery.version + 1);
        self.of_webhooks(|tables, _| {
            let stored = tables.deliveries.get(&key).filter(|one| one.version == delivery.version);
            stored.ok_or(StoreError::LeaseLost)?;
            tables.put(Delivery { is_claimed, version, ..delivery.clone() });
            Ok(())
        })
        .await
    }

    async fn deliveries_changed(&self) {
        if let Ok(changed) = self.look(|data| Ok(tables_of(data)?.changed.clone())).await {
            changed.notified().await;
        }
    }

    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize> {
        self.of_webhooks(|tables, now| {
            let until = before(now, age);
            let old = tables.deliveries.iter().filter(|(_, one)| one.created_at <= until);
            let old: Vec<_> = old.take(JOBS_AT_ONCE).map(|(key, _)| key.clone()).collect();
            for key in &old {
                tables.leave_queue(key);
                tables.deliveries.remove(key);
            }
            Ok(old.len())
        })
        .await
    }
}
