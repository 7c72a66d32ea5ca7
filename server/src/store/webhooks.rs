//! Webhooks in the store. The step that ends a job stores its events: one delivery for each webhook
//! that the account has then, that is enabled, and that wants it.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::WebhookId;

use super::{JobStore, Result, StoreError};
use crate::domain::webhook::{Delivery, Webhooks};
use crate::domain::{AccountId, Turn};

/// How often a change that met another one is tried again.
const CONFLICTS_MAX: u32 = 20;

/// No method checks a key.
#[async_trait]
pub(crate) trait WebhookStore: JobStore {
    /// The webhooks of an account, and the number of their last change.
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)>;

    /// Replaces them, if there was no change since; returns whether it did.
    async fn put_webhooks(&self, account: AccountId, change: i64, new: &Webhooks) -> Result<bool>;

    /// The webhooks of all accounts, with the names of these.
    async fn all_webhooks(&self) -> Result<Vec<(String, AccountId, Webhooks)>>;

    /// Newest first, from the id `first` on.
    async fn deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        first: &str,
        limit: usize,
    ) -> Result<Vec<Delivery>>;

    /// Claims a delivery as [`JobQueue::claim_job`](super::JobQueue::claim_job) claims a job, not more
    /// than [`WEBHOOK_DELIVERIES_AT_ONCE`](crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE) of one
    /// webhook at once.
    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<Delivery>>;

    /// Stores the details of a delivery and when it is due, and ends the claim on it. Fails with
    /// [`StoreError::LeaseLost`] if it has changed since it was read.
    async fn put_delivery(&self, delivery: &Delivery) -> Result<()>;

    /// Waits for the next event, or end of a claim, of this server.
    async fn deliveries_changed(&self);

    /// Deletes deliveries that are older than `age`, not more than a thousand. Returns how many.
    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize>;
}

/// Changes the webhooks of an account in one step.
pub(crate) async fn change_webhooks<T, E: From<StoreError>>(
    store: &dyn WebhookStore,
    account: AccountId,
    change: impl Fn(&mut Webhooks) -> Result<T, E>,
) -> Result<T, E> {
    for _ in 0..CONFLICTS_MAX {
        let (version, mut webhooks) = store.webhooks(account).await?;
        let result = change(&mut webhooks)?;
        if store.put_webhooks(account, version, &webhooks).await? {
            return Ok(result);
        }
    }
    Err(StoreError::Unavailable("other requests change the webhooks too".into()).into())
}
