//! Webhooks in the store. The step that ends a job stores its events: one delivery for each webhook
//! that the account has then, that is enabled, and that wants it.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::WebhookId;

use super::{Result, StoreError};
use crate::domain::webhook::{Delivery, DeliveryClaim, DeliveryId, Webhooks};
use crate::domain::{AccountId, Turn};

/// How often a change that met another one is tried again.
const CONFLICTS_MAX: u32 = 20;

/// No method checks a key.
#[async_trait]
pub(crate) trait WebhookStore: Send + Sync + 'static {
    /// The webhooks of an account, and the number of their last change.
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)>;

    /// Replaces them, if there was no change since; returns whether it did.
    async fn put_webhooks(&self, account: AccountId, change: i64, new: &Webhooks) -> Result<bool>;

    /// The webhooks of all accounts, with the names of these.
    async fn all_webhooks(&self) -> Result<Vec<(String, AccountId, Webhooks)>>;

    /// Newest first, those before one of them. None follow one that does not exist any more.
    async fn deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<Delivery>>;

    /// Makes a delivery due now, whatever became of it.
    async fn retry_delivery(
        &self,
        account: AccountId,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Delivery>;

    /// Claims a delivery as [`JobQueue::claim_job`](super::JobQueue::claim_job) claims a job, not more
    /// than [`WEBHOOK_DELIVERIES_AT_ONCE`](crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE) of one
    /// webhook at once.
    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<DeliveryClaim>>;

    /// Ends a claim, and stores the details of its delivery, and when that is due again. Fails with
    /// [`StoreError::LeaseLost`] if there is a later claim.
    async fn end_claim(&self, claim: &DeliveryClaim) -> Result<()>;

    /// Waits until a delivery may be due, `at_most` this long.
    async fn delivery_due(&self, at_most: Duration);

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
