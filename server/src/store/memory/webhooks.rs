//! Webhooks in memory: tables beside those of the store, which the step that ends a job fills too.

use std::any::Any;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{WebhookEventType, WebhookId};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::MemoryStore;
use super::data::{Data, Extension};
use super::table::{AnyTable, Table};
use crate::clock::{after, before};
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
    deliveries: Table<DeliveryKey, Delivery>,
    /// Those that wait, by when a worker may claim them, with their time and the fence of a lease.
    due: Table<DueKey, (Timestamp, Option<u128>)>,
    changed: Arc<Notify>,
}

/// Deliveries of a webhook are listed newest first.
type DeliveryKey = (AccountId, WebhookId, Reverse<(Timestamp, DeliveryId)>);
type DueKey = (AccountId, WebhookId, Timestamp, DeliveryId);

fn delivery_key(of: &Delivery) -> DeliveryKey {
    (of.account, of.webhook, Reverse((of.created_at, of.id)))
}

impl Extension for WebhookTables {
    fn tables(&mut self) -> [&mut dyn AnyTable; 3] {
        [&mut self.webhooks, &mut self.deliveries, &mut self.due]
    }

    fn job_ended(&mut self, job: &JobRecord, images: Arc<[PromptImage]>) {
        let account = job.key.account;
        let Some((_, webhooks)) = self.webhooks.get(&account) else { return };
        let event = match job.state {
            JobState::Completed(..) => WebhookEventType::GenerationCompleted,
            _ => WebhookEventType::GenerationFailed,
        };
        for webhook in webhooks.subscribed(&event).collect::<Vec<_>>() {
            let (client_job_id, attempts, last_attempt) = (job.key.client_job_id.clone(), 0, None);
            let (event, images) = (event.clone(), images.clone());
            let details = DeliveryDetails { client_job_id, event, images, attempts, last_attempt };
            let (id, created_at, due_at) = (rand::random(), job.updated_at, Some(job.updated_at));
            let delivery = Delivery { account, webhook, id, created_at, due_at, details };
            self.put(delivery);
        }
        self.changed.notify_one();
    }

    fn delete_account(&mut self, account: AccountId) {
        self.webhooks.remove(&account);
        self.deliveries.remove_where(|(of, ..), _| *of == account);
        self.due.remove_where(|(of, ..), _| *of == account);
    }
}

fn absent() -> StoreError {
    StoreError::Internal("the store has no webhooks".into())
}

impl WebhookTables {
    fn of(data: &Data) -> Result<&Self> {
        let extension = data.extension.as_deref().map(|extension| extension as &dyn Any);
        extension.and_then(|any| any.downcast_ref()).ok_or_else(absent)
    }

    fn of_mut(data: &mut Data) -> Result<&mut Self> {
        let extension = data.extension.as_deref_mut().map(|extension| extension as &mut dyn Any);
        extension.and_then(|any| any.downcast_mut()).ok_or_else(absent)
    }

    fn of_webhook(&self, account: AccountId, id: WebhookId) -> impl Iterator<Item = &Delivery> {
        let first = (account, id, Reverse((Timestamp::MAX, [u8::MAX; 16])));
        let from = self.deliveries.range(first..).map(|(_, delivery)| delivery);
        from.take_while(move |one| (one.account, one.webhook) == (account, id))
    }

    /// What waits of a webhook from this time on, and the fence of each lease.
    fn waiting(
        &self,
        (account, id): (AccountId, WebhookId),
        from: Timestamp,
    ) -> impl DoubleEndedIterator<Item = (DueKey, Option<u128>)> {
        let ends = (account, id, from, [0; 16])..=(account, id, Timestamp::MAX, [u8::MAX; 16]);
        self.due.range(ends).map(|(due, (_, fence))| (*due, *fence))
    }

    /// Stores a delivery, which waits if it is due.
    fn put(&mut self, delivery: Delivery) {
        let Delivery { account, webhook, id, created_at, due_at, .. } = delivery;
        if let Some(at) = due_at {
            self.due.insert((account, webhook, at, id), (created_at, None));
        }
        self.deliveries.insert(delivery_key(&delivery), delivery);
    }

    fn all(&self) -> impl Iterator<Item = (AccountId, WebhookId)> {
        let all = self.webhooks.iter();
        all.flat_map(|(account, (_, of))| of.all.iter().map(|one| (*account, one.id)))
    }

    /// What has been due longest of the webhook whose turn it is.
    fn next(&self, now: Timestamp, turn: &Turn) -> Option<DueKey> {
        let due = self.all().filter(|(account, _)| !turn.except.contains(account));
        let due = due.filter_map(|of| {
            let (first, _) = self.waiting(of, Timestamp::MIN).next()?;
            let claimed = || self.waiting(of, now).filter(|(_, fence)| fence.is_some()).count();
            (first.2 <= now && claimed() < WEBHOOK_DELIVERIES_AT_ONCE).then_some(first)
        });
        due.min_by_key(|due| (due.0 <= turn.after, *due))
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
            step(WebhookTables::of_mut(data)?, now)
        })
        .await
    }
}

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)> {
        let found = |data: &Data| Ok(WebhookTables::of(data)?.webhooks.get(&account).cloned());
        Ok(self.look(found).await?.unwrap_or_default())
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
            let all = WebhookTables::of(data)?.webhooks.iter();
            let name = |id| data.accounts.get(id).map(|account| account.name.to_string());
            Ok(all.filter_map(|(id, (_, of))| Some((name(id)?, *id, of.clone()))).collect())
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
        self.look(|data| {
            let mut all = WebhookTables::of(data)?.of_webhook(account, webhook);
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
            let found = tables.of_webhook(account, webhook).find(|one| one.id == id);
            let delivery =
                Delivery { due_at: Some(now), ..found.ok_or(StoreError::NotFound)?.clone() };
            let waiting =
                tables.waiting((account, webhook), Timestamp::MIN).find(|(due, _)| due.3 == id);
            match waiting {
                Some((_, Some(_))) => return Ok(delivery),
                Some((due, None)) => drop(tables.due.remove(&due)),
                None => {}
            }
            tables.put(delivery.clone());
            tables.changed.notify_one();
            Ok(delivery)
        })
        .await
    }

    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<DeliveryClaim>> {
        self.step(|data| {
            let (now, fence) = (data.now(), rand::random());
            let tables = WebhookTables::of_mut(data)?;
            let Some(due) = tables.next(now, turn) else { return Ok(None) };
            let (created_at, _) = tables.due.remove(&due).ok_or(StoreError::NotFound)?;
            let (account, webhook, _, id) = due;
            let until = (account, webhook, after(now, lease), id);
            tables.due.insert(until, (created_at, Some(fence)));
            let found = tables.deliveries.get(&(account, webhook, Reverse((created_at, id))));
            let delivery = found.ok_or(StoreError::NotFound)?.clone();
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
            let Delivery { account, webhook, .. } = claim.delivery;
            let is_held = |(_, fence): &(DueKey, Option<u128>)| *fence == Some(claim.fence);
            let held = tables.waiting((account, webhook), Timestamp::MIN).rev().find(is_held);
            let (due, _) = held.ok_or(StoreError::LeaseLost)?;
            tables.due.remove(&due);
            tables.put(claim.delivery.clone());
            tables.changed.notify_one();
            Ok(())
        })
        .await
    }

    async fn delivery_due(&self, at_most: Duration) {
        let next = |data: &Data| {
            let (tables, now) = (WebhookTables::of(data)?, data.now());
            // What is due now waits for one that is claimed.
            let later = after(now, Duration::from_micros(1));
            let next = tables.all().filter_map(|of| tables.waiting(of, later).next());
            let next = next.map(|(due, _)| due.2).min();
            let wait = next.and_then(|at| at.duration_since(now).try_into().ok());
            Ok((wait.unwrap_or(at_most).min(at_most), tables.changed.clone()))
        };
        if let Ok((wait, changed)) = self.look(next).await {
            let _ = timeout(wait, changed.notified()).await;
        }
    }

    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize> {
        self.of_webhooks(|tables, now| {
            let until = before(now, age);
            let old = tables.deliveries.iter().filter(|(key, _)| key.2.0.0 <= until);
            let old: Vec<_> = old.take(JOBS_AT_ONCE).map(|(key, _)| *key).collect();
            old.iter().for_each(|key| drop(tables.deliveries.remove(key)));
            tables.due.remove_where(|_, (created_at, _)| *created_at <= until);
            Ok(old.len())
        })
        .await
    }
}
