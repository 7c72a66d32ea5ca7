//! Webhooks and the deliveries of their events. The statements that end a job store its events: see
//! [`super::rows::EVENTS`].

use std::time::Duration;

use promptarium::WebhookId;

use super::prelude::*;
use crate::domain::webhook::{Delivery, Webhooks};
use crate::limits::JOBS_AT_ONCE;
use crate::limits::product::WEBHOOK_DELIVERIES_AT_ONCE;
use crate::store::webhooks::WebhookStore;

const DELIVERY: &str =
    "d.account_id, d.webhook_id, d.id, d.created_at, d.due_at, d.is_claimed, d.version, d.details";

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
        "SELECT {DELIVERY} FROM webhook_delivery d
         WHERE d.account_id = $1 AND d.webhook_id = $2 AND d.id <= $3
         ORDER BY d.id DESC LIMIT $4";
    /// Looks through the webhooks with due deliveries, beginning after the account `$3`, and takes the
    /// first due one of a webhook that has fewer than `$5` claimed. Of two claims that find the same
    /// first one, one gets nothing, so that the two cannot exceed the number. `IS TRUE` keeps the planner
    /// to the key.
    non_idempotent CLAIM "webhooks.claim"
        "WITH RECURSIVE turn (round, account_id, webhook_id) AS (
             SELECT 0, $3::bigint, 9223372036854775807
             UNION ALL
             SELECT next.round, next.account_id, next.webhook_id FROM turn CROSS JOIN LATERAL (
                 (SELECT turn.round, d.account_id, d.webhook_id FROM webhook_delivery d
                     WHERE (d.account_id, d.webhook_id) > (turn.account_id, turn.webhook_id)
                         AND d.due_at IS NOT NULL
                     ORDER BY d.account_id, d.webhook_id, d.due_at LIMIT 1)
                 UNION ALL
                 (SELECT 1, d.account_id, d.webhook_id FROM webhook_delivery d
                     WHERE turn.round = 0 AND d.account_id > 0 AND d.due_at IS NOT NULL
                     ORDER BY d.account_id, d.webhook_id, d.due_at LIMIT 1)
                 LIMIT 1) AS next
             WHERE next.round = 0 OR next.account_id <= $3),
         due AS MATERIALIZED (
             SELECT one.* FROM turn CROSS JOIN LATERAL (
                 SELECT d.account_id, d.webhook_id, d.id FROM webhook_delivery d
                 WHERE d.account_id = turn.account_id AND d.webhook_id = turn.webhook_id
                     AND d.due_at <= $1 ORDER BY d.due_at LIMIT 1) AS first
             CROSS JOIN LATERAL (
                 SELECT d.account_id, d.webhook_id, d.id FROM webhook_delivery d
                 WHERE d.account_id = first.account_id AND d.webhook_id = first.webhook_id
                     AND d.id = first.id AND (d.due_at <= $1) IS TRUE
                 FOR UPDATE SKIP LOCKED) AS one
             WHERE turn.account_id <> ALL ($4::bigint[])
                 AND (turn.round = 1 OR turn.account_id > $3)
                 AND (SELECT count(*) FROM webhook_delivery d
                     WHERE d.account_id = turn.account_id AND d.webhook_id = turn.webhook_id
                         AND d.is_claimed AND d.due_at > $1) < $5::bigint
             LIMIT 1)
         UPDATE webhook_delivery d SET due_at = $2, is_claimed = true, version = d.version + 1 FROM due
         WHERE d.account_id = due.account_id AND d.webhook_id = due.webhook_id AND d.id = due.id
         RETURNING {DELIVERY}";
    idempotent PUT_DELIVERY "webhooks.put_delivery"
        "UPDATE webhook_delivery d
         SET due_at = $5, details = $6, is_claimed = false, version = d.version + 1
         WHERE d.account_id = $1 AND d.webhook_id = $2 AND d.id = $3 AND d.version = $4
         RETURNING true";
    idempotent DELETE_OLD "webhooks.delete_old"
        "DELETE FROM webhook_delivery d WHERE d.ctid = ANY (ARRAY(
             SELECT o.ctid FROM webhook_delivery o WHERE o.created_at <= $1
             ORDER BY o.created_at LIMIT $2))
         RETURNING true";
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
        first: &str,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let params: Params<'_> = &[&account.0, &webhook.get(), &first, &int(limit)];
        let rows = self.db.rows(By::Server, &[(&DELIVERIES, params)]).await?;
        rows.iter().map(delivery).collect()
    }

    async fn claim_delivery(&self, lease: Duration, turn: &Turn) -> Result<Option<Delivery>> {
        let except: Vec<_> = turn.except.iter().map(|account| account.0).collect();
        let (now, most) = (self.db.now(), int(WEBHOOK_DELIVERIES_AT_ONCE));
        let params: Params<'_> = &[&now, &after(now, lease), &turn.after.0, &except, &most];
        let rows = self.db.rows(By::Server, &[(&CLAIM, params)]).await?;
        rows.first().map(delivery).transpose()
    }

    async fn put_delivery(&self, new: &Delivery) -> Result<()> {
        let Delivery { account, webhook, id, due_at, version, details, .. } = new;
        let params: Params<'_> =
            &[&account.0, &webhook.get(), &&**id, version, due_at, &Json(details)];
        let rows = self.db.rows(By::Server, &[(&PUT_DELIVERY, params)]).await?;
        self.deliveries_changed.notify_one();
        rows.first().map(drop).ok_or(StoreError::LeaseLost)
    }

    async fn deliveries_changed(&self) {
        self.deliveries_changed.notified().await;
    }

    async fn delete_old_deliveries(&self, age: Duration) -> Result<usize> {
        let params: Params<'_> = &[&before(self.db.now(), age), &int(JOBS_AT_ONCE)];
        Ok(self.db.rows(By::Server, &[(&DELETE_OLD, params)]).await?.len())
    }
}

/// The delivery in a row of [`DELIVERY`].
fn delivery(row: &Row) -> Result<Delivery> {
    Ok(Delivery {
        account: AccountId(column(row, "account_id")?),
        webhook: WebhookId::new(column(row, "webhook_id")?),
        id: column::<&str>(row, "id")?.into(),
        created_at: column(row, "created_at")?,
        due_at: column(row, "due_at")?,
        is_claimed: column(row, "is_claimed")?,
        version: column(row, "version")?,
        details: column::<Json<_>>(row, "details")?.0,
    })
}
