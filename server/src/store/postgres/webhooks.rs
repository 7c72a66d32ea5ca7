//! Webhooks and the deliveries of their events. The statements that end a job store its events: see
//! [`super::rows::EVENTS`].
//!
//! A delivery is in `webhook_delivery`, with its account, and in `due_delivery` while it waits, where
//! the lease on it is.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::WebhookId;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use super::PostgresStore;
use super::jobs::{change_found, random_id};
use super::rows::{all, column, int};
use super::send::{By, Params};
use crate::clock::{after, before};
use crate::domain::webhook::{Delivery, DeliveryClaim, DeliveryId, Webhooks};
use crate::domain::{AccountId, JobKey, Turn};
use crate::limits::JOB_POLL;
use crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE;
use crate::store::webhooks::WebhookStore;
use crate::store::{JobStore, Result, StoreError};

const DELIVERY: &str = "d.account_id, d.id, d.webhook_id, d.details, d.due_at, d.created_at";

statements! {
    read_only READ "webhooks.read"
        "SELECT w.version, w.document FROM webhooks w WHERE w.account_id = $1";
    non_idempotent PUT "webhooks.put"
        "WITH changed AS (
             UPDATE webhooks w SET version = w.version + 1, document = $3::jsonb
             WHERE w.account_id = $1 AND w.version = $2 RETURNING 1 AS one),
         added AS (
             INSERT INTO webhooks (account_id, version, document)
             SELECT $1, 1, $3 WHERE $2::bigint = 0
             ON CONFLICT DO NOTHING RETURNING 1 AS one)
         SELECT one FROM changed UNION ALL SELECT one FROM added";
    long_read ALL_OF "webhooks.all"
        "SELECT a.name, w.account_id, w.document FROM account a
         JOIN webhooks w ON w.account_id = a.id ORDER BY a.name";
    read_only DELIVERIES "webhooks.deliveries"
        "SELECT {DELIVERY} FROM webhook_delivery d WHERE d.account_id = $1 AND d.webhook_id = $2
             AND (d.created_at, d.id) < (coalesce((SELECT b.created_at FROM webhook_delivery b
                 WHERE b.account_id = $1 AND b.id = $3),
                 CASE WHEN $3::bytea IS NULL THEN 'infinity' ELSE '-infinity' END::timestamptz),
                 coalesce($3, ''))
         ORDER BY d.created_at DESC, d.id DESC LIMIT $4";
    /// `+ 0` keeps the planner to the key.
    idempotent RETRY "webhooks.retry"
        "WITH d AS (
             UPDATE webhook_delivery d SET due_at = $4
             WHERE d.account_id = $1 AND d.id = $3 AND d.webhook_id + 0 = $2::bigint RETURNING d.*),
         due AS (
             INSERT INTO due_delivery AS q (account_id, webhook_id, id, due_at)
             SELECT $1, d.webhook_id, d.id, d.due_at FROM d
             ON CONFLICT (account_id, id) DO UPDATE SET due_at = excluded.due_at
                 WHERE q.fence IS NULL)
         SELECT {DELIVERY} FROM d";
    /// Looks through the webhooks with deliveries, beginning after the account `$3`, and takes the first
    /// due one of a webhook that has fewer than `$6` claimed. Of two claims that find the same first
    /// one, one gets nothing, so that the two cannot exceed the number.
    non_idempotent NEXT "webhooks.next"
        "WITH RECURSIVE turn (round, account_id, webhook_id) AS (
             SELECT 0, $3::bigint, 9223372036854775807
             UNION ALL
             SELECT next.round, next.account_id, next.webhook_id FROM turn CROSS JOIN LATERAL (
                 (SELECT turn.round, d.account_id, d.webhook_id FROM due_delivery d
                     WHERE (d.account_id, d.webhook_id) > (turn.account_id, turn.webhook_id)
                     ORDER BY d.account_id, d.webhook_id LIMIT 1)
                 UNION ALL
                 (SELECT 1, d.account_id, d.webhook_id FROM due_delivery d WHERE turn.round = 0
                     AND d.account_id > 0 ORDER BY d.account_id, d.webhook_id LIMIT 1)
                 LIMIT 1) AS next
             WHERE next.round = 0 OR next.account_id <= $3),
         due AS MATERIALIZED (
             SELECT one.* FROM turn CROSS JOIN LATERAL (
                 SELECT d.account_id, d.id FROM due_delivery d
                 WHERE d.account_id = turn.account_id AND d.webhook_id = turn.webhook_id
                     AND d.due_at <= $1 ORDER BY d.due_at, d.id LIMIT 1) AS first
             CROSS JOIN LATERAL (
                 SELECT d.account_id, d.id, d.fence FROM due_delivery d
                 WHERE d.account_id = first.account_id AND d.id = first.id AND d.due_at <= $1
                 FOR UPDATE SKIP LOCKED) AS one
             WHERE turn.account_id <> ALL ($4::bigint[])
                 AND (turn.round = 1 OR turn.account_id > $3)
                 AND (SELECT count(*) FROM due_delivery d WHERE d.account_id = turn.account_id
                     AND d.webhook_id = turn.webhook_id AND d.claimed_until > $1) < $6::bigint
             LIMIT 1)
         UPDATE due_delivery d SET due_at = $2, claimed_until = $2, fence = $5 FROM due
         WHERE d.account_id = due.account_id AND d.id = due.id
         RETURNING d.account_id, d.id, due.fence IS NOT NULL AS again";
    read_only CLAIMED "webhooks.claimed"
        "SELECT {DELIVERY}, w.document FROM webhook_delivery d
         LEFT JOIN webhooks w ON w.account_id = $1 WHERE d.account_id = $1 AND d.id = $2";
    /// The delivery is gone.
    idempotent FORGET "webhooks.forget"
        "DELETE FROM due_delivery d WHERE d.account_id = $1 AND d.id = $2";
    idempotent END "webhooks.end"
        "WITH due AS (
             UPDATE due_delivery q SET due_at = coalesce($4, q.due_at), fence = NULL,
                 claimed_until = NULL
             WHERE q.account_id = $1 AND q.id = $2 AND q.fence = $3
                 AND $4::timestamptz IS NOT NULL RETURNING q.id),
         gone AS (
             DELETE FROM due_delivery q WHERE q.account_id = $1 AND q.id = $2
                 AND q.fence = $3 AND $4 IS NULL RETURNING q.id),
         held AS MATERIALIZED (SELECT id FROM due UNION ALL SELECT id FROM gone)
         UPDATE webhook_delivery d SET due_at = $4, details = $5
         FROM held WHERE d.account_id = $1 AND d.id = held.id RETURNING true";
    read_only OLD "webhooks.old"
        "SELECT d.account_id, d.id AS name_digest FROM webhook_delivery d
         WHERE d.created_at <= $1 ORDER BY d.created_at LIMIT $2";
    idempotent DELETE_OLD "webhooks.delete_old"
        "WITH gone AS (
             DELETE FROM webhook_delivery d WHERE d.account_id = $1
                 AND d.id = ANY ($2::bytea[]) AND $3::timestamptz IS NOT NULL
             RETURNING d.id),
         due AS (
             DELETE FROM due_delivery q USING gone
             WHERE q.account_id = $1 AND q.id = gone.id)
         SELECT true FROM gone";
}

#[async_trait]
impl WebhookStore for PostgresStore {
    async fn webhooks(&self, account: AccountId) -> Result<(i64, Webhooks)> {
        let rows = self.db.rows(By::Server, &[(&READ, &[&account.0])]).await?;
        let Some(row) = rows.first() else { return Ok((0, Webhooks::default())) };
        Ok((column(row, "version")?, column::<Json<_>>(row, "document")?.0))
    }

    async fn put_webhooks(&self, account: AccountId, change: i64, new: &Webhooks) -> Result<bool> {
        let params: Params<'_> = &[&account.0, &change, &Json(new)];
        Ok(!self.db.rows(By::Server, &[(&PUT, params)]).await?.is_empty())
    }

    async fn all_webhooks(&self) -> Result<Vec<(String, AccountId, Webhooks)>> {
        let rows = self.db.rows(By::Server, &[(&ALL_OF, &[])]).await?;
        all(&rows, |row| {
            let account = AccountId(column(row, "account_id")?);
            Ok(Some((column(row, "name")?, account, column::<Json<_>>(row, "document")?.0)))
        })
    }

    async fn deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let before = before.as_ref().map(|id| &id[..]);
        let params: Params<'_> = &[&account.0, &webhook.get(), &before, &int(limit)];
        let rows = self.db.rows(By::Server, &[(&DELIVERIES, params)]).await?;
        rows.iter().map(delivery).collect()
    }

    async fn retry_delivery(
        &self,
        account: AccountId,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Delivery> {
        let params: Params<'_> = &[&account.0, &webhook.get(), &&id[..], &self.db.now()];
        let rows = self.db.rows(By::Server, &[(&RETRY, params)]).await?;
        self.deliveries_changed.notify_one();
        delivery(rows.first().ok_or(StoreError::NotFound)?)
    }

    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<DeliveryClaim>> {
        let except: Vec<_> = turn.except.iter().map(|account| account.0).collect();
        loop {
            let (now, fence) = (self.db.now(), random_id());
            let most = int(WEBHOOK_DELIVERIES_AT_ONCE);
            let params: Params<'_> =
                &[&now, &after(now, lease), &turn.after.0, &except, &fence, &most];
            let next = self.db.rows(By::Server, &[(&NEXT, params)]).await?;
            let Some(next) = next.first() else { return Ok(None) };
            let (account, id): (i64, &[u8]) = (column(next, "account_id")?, column(next, "id")?);
            let rows = self.db.rows(By::Server, &[(&CLAIMED, &[&account, &id])]).await?;
            let Some(row) = rows.first() else {
                // In a distributed database it may be seen a moment later.
                if column(next, "again")? {
                    self.db.rows(By::Server, &[(&FORGET, &[&account, &id])]).await?;
                }
                continue;
            };
            let delivery = delivery(row)?;
            let webhooks = column::<Option<Json<Webhooks>>>(row, "document")?;
            let webhook = webhooks.and_then(|Json(mut of)| of.get_mut(delivery.webhook).cloned());
            let client_job_id = delivery.details.client_job_id.clone();
            let key = JobKey { account: AccountId(account), client_job_id };
            let job = match self.job_by_key(&key).await {
                Err(StoreError::NotFound) => None,
                job => Some(job?),
            };
            let fence = fence.as_u128();
            return Ok(Some(DeliveryClaim { fence, delivery, webhook, job }));
        }
    }

    async fn end_claim(&self, claim: &DeliveryClaim) -> Result<()> {
        let Delivery { account, id, due_at, details, .. } = &claim.delivery;
        let fence = Uuid::from_u128(claim.fence);
        let params: Params<'_> = &[&account.0, &&id[..], &fence, due_at, &Json(details)];
        let rows = self.db.rows(By::Server, &[(&END, params)]).await?;
        self.deliveries_changed.notify_one();
        rows.first().map(drop).ok_or(StoreError::LeaseLost)
    }

    async fn delivery_due(&self, at_most: Duration) {
        let poll = JOB_POLL.mul_f64(rand::random_range(0.75..0.9));
        let _ = timeout(at_most.min(poll), self.deliveries_changed.notified()).await;
    }

    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize> {
        let until = before(self.db.now(), age);
        Ok(change_found(&self.db, &OLD, &DELETE_OLD, until, &[]).await?.len())
    }
}

/// The delivery in a row of [`DELIVERY`].
fn delivery(row: &Row) -> Result<Delivery> {
    let id: &[u8] = column(row, "id")?;
    Ok(Delivery {
        account: AccountId(column(row, "account_id")?),
        webhook: WebhookId::new(column(row, "webhook_id")?),
        id: id.try_into().map_err(|error| StoreError::Internal(Box::new(error)))?,
        created_at: column(row, "created_at")?,
        due_at: column(row, "due_at")?,
        details: column::<Json<_>>(row, "details")?.0,
    })
}
