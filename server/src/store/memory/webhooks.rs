//! Webhooks in memory: tables beside those of the store, which the step that ends a job fills too.

use std::any::Any;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{WebhookEventType, WebhookId};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::MemoryStore;
use super::data::{Data, Extension};
use super::queue::before;
use super::rows::after;
use super::table::{AnyTable, Table};
use crate::domain::webhook::{Delivery, DeliveryClaim, DeliveryDetails, DeliveryId, Webhooks};
use crate::domain::{AccountId, JobKey, JobRecord, JobState, PromptImage, Turn};
use crate::limits::JOBS_AT_ONCE;
use crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE;
use crate::store::webhooks::WebhookStore;
use crate::store::{Result, StoreError};

#[derive(Debug)]
struct WebhookTables {
    /// With the number of their last change.
    webhooks: Table<AccountId, (i64, Webhooks)>,
    deliveries: Table<Place, Stored>,
    changed: Arc<Notify>,
}

/// Deliveries of a webhook are listed newest first.
type Place = (AccountId, WebhookId, Reverse<(Timestamp, DeliveryId)>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    delivery: Delivery,
    /// Of the lease on it, and when that ends.
    lease: Option<(u128, Timestamp)>,
}

impl Stored {
    fn place(&self) -> Place {
        let Delivery { account, webhook, id, created_at, .. } = self.delivery;
        (account, webhook, Reverse((created_at, id)))
    }

    /// When a worker may claim it.
    fn claimable_at(&self) -> Option<Timestamp> {
        let due_at = self.delivery.due_at?;
        Some(self.lease.map_or(due_at, |(_, end)| end.max(due_at)))
    }
}

impl Extension for WebhookTables {
    fn tables(&mut self) -> [&mut dyn AnyTable; 2] {
        [&mut self.webhooks, &mut self.deliveries]
    }

    fn job_ended(&mut self, job: &JobRecord, images: Arc<[PromptImage]>) {
        let account = job.key.account;
        let Some((_, webhooks)) = self.webhooks.get(&account) else { return };
        let event = match job.state {
            JobState::Completed(..) => WebhookEventType::GenerationCompleted,
            _ => WebhookEventType::GenerationFailed,
        };
        for webhook in webhooks.told(&event) {
            let (client_job_id, attempts, last_attempt) = (job.key.client_job_id.clone(), 0, None);
            let (event, images) = (event.clone(), images.clone());
            let details = DeliveryDetails { client_job_id, event, images, attempts, last_attempt };
            let (id, created_at, due_at) = (rand::random(), job.updated_at, Some(job.updated_at));
            let delivery = Delivery { account, webhook, id, created_at, due_at, details };
            let stored = Stored { delivery, lease: None };
            self.deliveries.insert(stored.place(), stored);
        }
        self.changed.notify_one();
    }

    fn delete_account(&mut self, account: AccountId) {
        self.webhooks.remove(&account);
        self.deliveries.remove_where(|(of, ..), _| *of == account);
    }
}

impl WebhookTables {
    fn of(data: &mut Data) -> Result<&mut Self> {
        let extension = data.extension.as_deref_mut().map(|extension| extension as &mut dyn Any);
        let found = extension.and_then(|any| any.downcast_mut());
        found.ok_or_else(|| StoreError::Internal("the store has no webhooks".into()))
    }

    fn of_webhook(&self, account: AccountId, id: WebhookId) -> impl Iterator<Item = &Stored> {
        let first = (account, id, Reverse((Timestamp::MAX, [u8::MAX; 16])));
        let from = self.deliveries.range(first..).map(|(_, stored)| stored);
        from.take_while(move |one| (one.delivery.account, one.delivery.webhook) == (account, id))
    }

    /// The delivery of the webhook whose turn it is that has been due longest.
    fn next(&self, now: Timestamp, turn: &Turn) -> Option<Place> {
        let webhooks = self.webhooks.iter().filter(|(account, _)| !turn.except.contains(account));
        let all =
            webhooks.flat_map(|(account, (_, of))| of.all.iter().map(|one| (*account, one.id)));
        let due = all.filter_map(|(account, id)| {
            let (mut claimed, mut first) = (0, None);
            for one in self.of_webhook(account, id) {
                claimed += usize::from(one.lease.is_some_and(|(_, end)| end > now));
                let at = one.claimable_at().filter(|at| *at <= now).map(|at| (at, one.place()));
                first = first.into_iter().chain(at).min();
            }
            first.filter(|_| claimed < WEBHOOK_DELIVERIES_AT_ONCE)
        });
        due.map(|(_, place)| place).min_by_key(|place| (place.0 <= turn.after, *place))
    }
}

impl MemoryStore {
    /// Adds the tables of webhooks if they are absent.
    pub(crate) fn add_webhooks(&self) {
        let data = &mut *self.data.write();
        if data.extension.is_none() {
            let webhooks = data.accounts.beside("webhooks");
            let deliveries = data.accounts.beside("delivery");
            let tables = WebhookTables { webhooks, deliveries, changed: Arc::default() };
            data.extension = Some(Box::new(tables));
        }
    }

    async fn of_webhooks<T: Send>(
        &self,
        step: impl FnOnce(&mut WebhookTables, Timestamp) -> Result<T> + Send,
    ) -> Result<T> {
        self.step(|data| {
            let now = data.now();
            step(WebhookTables::of(data)?, now)
        })
        .await
    }
}

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)> {
        let found = |tables: &mut WebhookTables, _| Ok(tables.webhooks.get(&account).cloned());
        Ok(self.of_webhooks(found).await?.unwrap_or_default())
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
        self.step(|data| {
            let all = WebhookTables::of(data)?.webhooks.iter().map(|(id, of)| (*id, of.1.clone()));
            let all: Vec<_> = all.collect();
            let name = |id| data.accounts.get(&id).map(|account| account.name.to_string());
            Ok(all.into_iter().filter_map(|(id, of)| Some((name(id)?, id, of))).collect())
        })
        .await
    }

    async fn deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        self.of_webhooks(|tables, _| {
            let mut all = tables.of_webhook(account, webhook).map(|one| &one.delivery);
            if before.is_some() {
                all.find(|one| Some(one.id) == before);
            }
            Ok(all.take(limit).cloned().collect())
        })
        .await
    }

    async fn retry_delivery(
        &self,
        account: AccountId,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Delivery> {
        self.of_webhooks(|tables, now| {
            let found = tables.of_webhook(account, webhook).find(|one| one.delivery.id == id);
            let mut stored = found.ok_or(StoreError::NotFound)?.clone();
            stored.delivery.due_at = Some(now);
            tables.deliveries.insert(stored.place(), stored.clone());
            tables.changed.notify_one();
            Ok(stored.delivery)
        })
        .await
    }

    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<DeliveryClaim>> {
        self.step(|data| {
            let (now, fence) = (data.now(), rand::random());
            let tables = WebhookTables::of(data)?;
            let Some(place) = tables.next(now, turn) else { return Ok(None) };
            let stored = tables.deliveries.get_mut(&place).ok_or(StoreError::NotFound)?;
            stored.lease = Some((fence, after(now, lease)));
            let delivery = stored.delivery.clone();
            let of = tables.webhooks.get(&delivery.account);
            let webhook = of.and_then(|(_, of)| of.clone().get_mut(delivery.webhook).cloned());
            let client_job_id = delivery.details.client_job_id.clone();
            let job = data.job(&JobKey { account: delivery.account, client_job_id });
            let job = job.map(|job| job.record.clone());
            Ok(Some(DeliveryClaim { fence, delivery, webhook, job }))
        })
        .await
    }

    async fn end_claim(&self, claim: &DeliveryClaim) -> Result<()> {
        self.of_webhooks(|tables, _| {
            let ended = Stored { delivery: claim.delivery.clone(), lease: None };
            let lease = tables.deliveries.get(&ended.place()).and_then(|stored| stored.lease);
            if lease.is_none_or(|(fence, _)| fence != claim.fence) {
                return Err(StoreError::LeaseLost);
            }
            tables.deliveries.insert(ended.place(), ended);
            tables.changed.notify_one();
            Ok(())
        })
        .await
    }

    async fn delivery_due(&self, at_most: Duration) {
        let next = |tables: &mut WebhookTables, now| {
            // What is due now waits for one that is claimed.
            let due = tables.deliveries.values().filter_map(Stored::claimable_at);
            let next = due.filter(|at| *at > now).min();
            let wait = next.and_then(|at| at.duration_since(now).try_into().ok());
            Ok((wait.unwrap_or(at_most).min(at_most), tables.changed.clone()))
        };
        if let Ok((wait, changed)) = self.of_webhooks(next).await {
            let _ = timeout(wait, changed.notified()).await;
        }
    }

    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize> {
        self.of_webhooks(|tables, now| {
            let until = before(now, age);
            let old = tables.deliveries.iter().filter(|(place, _)| place.2.0.0 <= until);
            let old: Vec<_> = old.take(JOBS_AT_ONCE).map(|(place, _)| *place).collect();
            old.iter().for_each(|place| drop(tables.deliveries.remove(place)));
            Ok(old.len())
        })
        .await
    }
}
