//! Generation jobs as workers see them: leases and outcomes.
//!
//! A lease runs by the database's clock, so servers need not agree on the time. Each claim has
//! a new fencing token (`fence`), so a worker whose lease was taken over changes nothing.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use super::PostgresStore;
use super::db::{Db, Params, Statement};
use super::jobs::{job_columns, job_key, job_or_none, later, random_id, rows_of_job};
use super::notify::CHANNEL;
use super::rows::{StoredImage, column, micros};
use crate::domain::{
    AccountId, Claim, GenerationRequest, JobKey, Lease, PromptImage, Release, Turn, output_prompt,
};
use crate::error_chain::error_chain;
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobQueue, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&CLAIM, &FAIL_LATE, &DELETE_ENDED, &RENEW, &RELEASE, &REQUEST, &COMPLETE, &FAIL];

/// The accounts with jobs that have not ended, from the one after `$4` on, are walked by one probe
/// of an index each, up to the first that has a job due. The rows of an account are compared as a
/// range, because `account_id = …` could be planned with the index `job_due`, through the due jobs
/// of all accounts. Rows that another claim has locked are skipped.
static CLAIM: Statement = Statement::non_idempotent(
    "jobs.claim",
    concat!(
        "WITH RECURSIVE \
         clock AS MATERIALIZED (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now), \
         turn (round, account_id) AS ( \
             SELECT 0, $4::bigint \
             UNION ALL \
             SELECT next.round, next.account_id FROM turn CROSS JOIN LATERAL ( \
                 (SELECT turn.round, j.account_id FROM job j \
                     WHERE j.due_at IS NOT NULL AND j.account_id > turn.account_id \
                     ORDER BY j.account_id, j.due_at LIMIT 1) \
                 UNION ALL \
                 (SELECT 1, j.account_id FROM job j \
                     WHERE j.due_at IS NOT NULL AND j.account_id > 0 AND turn.round = 0 \
                     ORDER BY j.account_id, j.due_at LIMIT 1) \
                 LIMIT 1) AS next \
             WHERE next.round = 0 OR next.account_id <= $4), \
         due AS MATERIALIZED ( \
             SELECT first.* FROM turn CROSS JOIN LATERAL ( \
                 SELECT j.account_id, j.name_digest, j.due_at FROM job j \
                 WHERE j.due_at IS NOT NULL AND j.account_id >= turn.account_id \
                     AND (j.account_id, j.due_at) \
                         <= (turn.account_id, (SELECT now FROM clock)) \
                 ORDER BY j.account_id, j.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS first \
             WHERE turn.account_id <> ALL ($5::bigint[]) \
                 AND (turn.round = 1 OR turn.account_id > $4) \
             LIMIT 1) \
         UPDATE job j SET setbacks = j.setbacks + (j.fence IS NOT NULL)::integer, fence = $2, \
             due_at = clock.now + $3::bigint * interval '1 microsecond' \
         FROM due, clock \
         WHERE j.account_id = due.account_id AND j.name_digest = due.name_digest \
         RETURNING j.setbacks, \
             (extract(epoch FROM clock.now - due.due_at) * 1000000)::bigint AS overdue, ",
        job_columns!(),
    ),
);

/// Rows that another server fails at the same time are skipped.
static FAIL_LATE: Statement = Statement::idempotent(
    "jobs.fail_late",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now), \
         late AS MATERIALIZED ( \
             SELECT account_id, name_digest FROM job \
             WHERE submitting_since \
                 <= (SELECT now FROM clock) - $2::bigint * interval '1 microsecond' \
             ORDER BY submitting_since LIMIT $3 FOR UPDATE SKIP LOCKED) \
         UPDATE job j SET state = 'failed', reason = $4, submitting_since = NULL, updated_at = ",
        later!(),
        " FROM late, clock \
         WHERE j.account_id = late.account_id AND j.name_digest = late.name_digest \
         RETURNING j.account_id, j.client_job_id",
    ),
);

static DELETE_ENDED: Statement = Statement::idempotent(
    "jobs.delete_ended",
    "WITH clock AS MATERIALIZED (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now), \
     old AS MATERIALIZED ( \
         SELECT account_id, name_digest FROM job \
         WHERE state IN ('completed', 'failed') AND updated_at \
             <= (SELECT now FROM clock) - $2::bigint * interval '1 microsecond' \
         ORDER BY updated_at LIMIT $3 FOR UPDATE SKIP LOCKED) \
     DELETE FROM job j USING old \
     WHERE j.account_id = old.account_id AND j.name_digest = old.name_digest \
     RETURNING true",
);

static RENEW: Statement = Statement::idempotent(
    "jobs.renew",
    "UPDATE job SET due_at = coalesce($4::timestamptz, clock_timestamp()) \
         + $5::bigint * interval '1 microsecond' \
     WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
     RETURNING true",
);

/// Notifies only if the job is due at once; otherwise workers wait until it is due.
static RELEASE: Statement = Statement::idempotent(
    "jobs.release",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET fence = NULL, \
             due_at = clock.now + $5::bigint * interval '1 microsecond', \
             setbacks = CASE $6::text WHEN 'failed_attempt' THEN j.setbacks + 1 \
                 WHEN 'shutdown' THEN j.setbacks ELSE 0 END, \
             updated_at = CASE WHEN $6 = 'in_progress' AND j.state = 'queued' THEN ",
        later!(),
        " ELSE j.updated_at END, \
             state = CASE WHEN $6 = 'in_progress' AND j.state = 'queued' THEN 'in_progress' \
                 ELSE j.state END \
         FROM clock WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 \
         RETURNING CASE WHEN $5::bigint <= 0 THEN pg_notify($7, '')::text END",
    ),
);

/// A job that the provider never accepted has no output, so its request is not found here.
static REQUEST: Statement = Statement::read_only(
    "jobs.request",
    "SELECT job_order FROM job \
     WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
         AND state IN ('queued', 'in_progress')",
);

/// Locks the job first: of two concurrent ends the second finds no fence. Then locks the vault
/// against deletion until the prompt is in it; a vault whose deletion commits first is replaced
/// by General.
static COMPLETE: Statement = Statement::idempotent(
    "jobs.complete",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now), \
         leased AS MATERIALIZED ( \
             SELECT account_id, name_digest, vault_id FROM job \
             WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
                 AND state IN ('queued', 'in_progress') \
             FOR UPDATE), \
         target AS MATERIALIZED ( \
             SELECT v.account_id, v.id FROM leased \
             JOIN account ON account.id = leased.account_id \
             JOIN vault v ON v.account_id = leased.account_id \
                 AND v.id IN (leased.vault_id, account.general_vault_id) \
             ORDER BY v.id = leased.vault_id DESC LIMIT 1 FOR KEY SHARE OF v), \
         created AS ( \
             INSERT INTO prompt (account_id, kind, title, body, platform, model_id, aspect_ratio, \
                 image_url, reference_media_urls, images, created_at, updated_at) \
             SELECT account_id, $5, $6, $7, $8, $9, $10, $11, $12, $13, now, now \
             FROM target, clock \
             RETURNING account_id, id, kind), \
         added AS ( \
             INSERT INTO membership (account_id, vault_id, prompt_id, kind) \
             SELECT created.account_id, target.id, created.id, created.kind FROM created, target), \
         ended AS ( \
             UPDATE job j SET state = 'completed', prompt_id = created.id, vault_id = target.id, \
                 due_at = NULL, fence = NULL, updated_at = ",
        later!(),
        " FROM leased, target, created, clock \
             WHERE j.account_id = leased.account_id AND j.name_digest = leased.name_digest) \
         SELECT created.id FROM leased LEFT JOIN created ON true",
    ),
);

static FAIL: Statement = Statement::idempotent(
    "jobs.fail",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'failed', reason = $5, due_at = NULL, fence = NULL, \
             updated_at = ",
        later!(),
        " FROM clock WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 \
         RETURNING true",
    ),
);

/// The reason of a failed job whose row does not decode.
const UNREADABLE: &str = "the stored request cannot be read";

const AT_ONCE: i64 = JOBS_AT_ONCE as i64;

#[async_trait]
impl JobQueue for PostgresStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        let except: Vec<_> = turn.except.iter().map(|account| account.0).collect();
        let lasting = micros(lease);
        loop {
            let fence = random_id();
            let params: Params<'_> = &[&self.db.now(), &fence, &lasting, &turn.after.0, &except];
            let rows = self.db.rows(&CLAIM, params).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            let lease = Lease { job: job_key(row)?, fence: fence.as_u128() };
            let error = match job_or_none(row) {
                Ok(Some(job)) => {
                    let failed_attempts = column::<i32>(row, "setbacks")?.unsigned_abs();
                    let overdue = u64::try_from(column::<i64>(row, "overdue")?).unwrap_or(0);
                    let overdue = Duration::from_micros(overdue);
                    return Ok(Some(Claim { lease, job, failed_attempts, overdue }));
                }
                Ok(None) => return Ok(None),
                Err(error) => error_chain(&error),
            };
            // Left as it is, it would be due again after each lease, before all younger jobs.
            tracing::error!(job = ?lease.job, error, "a stored job cannot be read and is failed");
            match self.fail_job(&lease, UNREADABLE).await {
                Ok(()) | Err(StoreError::LeaseLost) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>> {
        let params: Params<'_> = &[&self.db.now(), &micros(limit), &AT_ONCE, &reason];
        self.db.rows(&FAIL_LATE, params).await?.iter().map(job_key).collect()
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        let params: Params<'_> = &[&self.db.now(), &micros(age), &AT_ONCE];
        Ok(self.db.rows(&DELETE_ENDED, params).await?.len())
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        let lasting = micros(lasting);
        fenced(&self.db, &RENEW, lease, &[&self.db.now(), &lasting]).await.map(drop)
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        let outcome = match outcome {
            Release::Waiting => "waiting",
            Release::InProgress => "in_progress",
            Release::FailedAttempt => "failed_attempt",
            Release::Shutdown => "shutdown",
        };
        let params: Params<'_> = &[&self.db.now(), &micros(pause), &outcome, &CHANNEL];
        fenced(&self.db, &RELEASE, lease, params).await?;
        self.notifier.wake_after(pause);
        Ok(())
    }

    async fn complete_job(&self, lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId> {
        // The request never changes, so reading it in a statement of its own is safe.
        let row = fenced(&self.db, &REQUEST, lease, &[]).await?;
        let Json(request) = column::<Json<GenerationRequest>>(&row, "job_order")?;
        // The statement chooses the vault.
        let prompt = output_prompt(&request, VaultId::new(0));
        let inputs = &prompt.inputs;
        let media = inputs.reference_media_urls.as_deref();
        let params: Params<'_> = &[
            &self.db.now(),
            &prompt.kind.as_str(),
            &&*prompt.title,
            &&*prompt.text,
            &prompt.platform.as_deref(),
            &inputs.model_id.as_deref(),
            &inputs.aspect_ratio.as_deref(),
            &inputs.image_url.as_deref(),
            &media.map(|urls| urls.iter().map(|url| &**url).collect::<Vec<_>>()),
            &Json(images.into_iter().map(StoredImage::from).collect::<Vec<_>>()),
        ];
        let row = fenced(&self.db, &COMPLETE, lease, params).await?;
        let prompt: Option<i64> = column(&row, "id")?;
        prompt.map(PromptId::new).ok_or(StoreError::UnknownVault)
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        fenced(&self.db, &FAIL, lease, &[&self.db.now(), &reason]).await.map(drop)
    }

    async fn job_due(&self, at_most: Duration, _: &[AccountId]) {
        self.notifier.due(at_most).await;
    }
}

/// Runs a statement whose first parameters are account, name and fence. It returns a row exactly
/// if the lease still holds.
async fn fenced(db: &Db, statement: &Statement, lease: &Lease, params: Params<'_>) -> Result<Row> {
    let fence = Uuid::from_u128(lease.fence);
    let params = [&[&fence as _], params].concat();
    let rows = rows_of_job(db, statement, &lease.job, &params).await?;
    rows.into_iter().next().ok_or(StoreError::LeaseLost)
}
