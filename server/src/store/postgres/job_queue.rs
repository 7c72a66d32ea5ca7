//! Generation jobs as workers see them: leases and outcomes.
//!
//! A lease runs by the clocks of the servers, which may differ by less than the lease. Each claim
//! has a new fencing token (`fence`), so a worker whose lease was taken over changes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use const_format::formatcp;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use super::PostgresStore;
use super::claims::{CLAIM, DELETE_ENDED, ENDED, FAIL_LATE, LATE, NEXT};
use super::db::{By, Db, Params, Statement, refs};
use super::job_rows::{IN_QUEUE, LEAVE_QUEUE, job_key, job_or_none};
use super::jobs::{random_id, rows_of_job};
use super::prompts::values_of_one;
use super::rows::{INPUT_COLUMNS, NEW_MEMBER, NEW_PROMPT, after, before, column, int, later};
use crate::domain::{
    AccountId, Claim, GenerationRequest, JobKey, Lease, PromptImage, Release, Turn, output_prompt,
};
use crate::error_chain::error_chain;
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobQueue, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&RENEW, &NOTE, &RELEASE, &REQUEST, &COMPLETE, &FAIL];

static RENEW: Statement = Statement::idempotent(
    "jobs.renew",
    formatcp!(
        "WITH queued AS (
             UPDATE job j SET claimable_at = $4
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.*), {IN_QUEUE}
         SELECT true FROM queued"
    ),
);

static NOTE: Statement = Statement::idempotent(
    "jobs.note",
    "UPDATE job j SET provider_state = coalesce($4, j.provider_state), waits_for = $5
     WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 RETURNING true",
);

static RELEASE: Statement = Statement::idempotent(
    "jobs.release",
    formatcp!(
        "WITH queued AS (
             UPDATE job j SET fence = NULL, claimable_at = $5,
                 failed_attempts = CASE $6::text WHEN 'failed_attempt' THEN j.failed_attempts + 1
                     WHEN 'shutdown' THEN j.failed_attempts ELSE 0 END,
                 failing_since = CASE $6 WHEN 'failed_attempt' THEN coalesce(j.failing_since, $4)
                     WHEN 'shutdown' THEN j.failing_since END,
                 waits_for = CASE WHEN $6 IN ('failed_attempt', 'shutdown') THEN j.waits_for END,
                 updated_at = CASE WHEN $6 = 'in_progress' AND j.state = 'queued' THEN {later}
                 ELSE j.updated_at END,
                 state = CASE WHEN $6 = 'in_progress' AND j.state = 'queued' THEN 'in_progress'
                     ELSE j.state END
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.*), {IN_QUEUE}
         SELECT true FROM queued",
        later = later!("$4", "j.updated_at")
    ),
);

/// A job that the provider never accepted has no output, so its request is not found here.
static REQUEST: Statement = Statement::read_only(
    "jobs.request",
    "SELECT request FROM job
     WHERE account_id = $1 AND name_digest = $2 AND fence = $3
         AND state IN ('queued', 'in_progress')",
);

/// Locks the job first: of two concurrent ends the second finds no fence. Then locks the vault
/// against deletion until the prompt is in it; a vault whose deletion commits first is replaced
/// by General.
static COMPLETE: Statement = Statement::idempotent(
    "jobs.complete",
    formatcp!(
        "WITH {NEW_PROMPT}, {NEW_MEMBER}, leased AS MATERIALIZED (
             SELECT vault_id FROM job
             WHERE account_id = $1 AND name_digest = $2 AND fence = $3
                 AND state IN ('queued', 'in_progress')
             FOR UPDATE),
         target AS MATERIALIZED (
             SELECT v.id FROM vault v WHERE v.account_id = $1 AND v.id IN (
                 (SELECT vault_id FROM leased),
                 (SELECT g.id FROM vault g WHERE g.account_id = $1 AND g.system))
                 AND EXISTS (SELECT FROM leased)
             ORDER BY v.system LIMIT 1 FOR NO KEY UPDATE),
         created AS (
             INSERT INTO prompt (account_id, {INPUT_COLUMNS}, created_at, updated_at, images, id)
             SELECT $1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, new_prompt.id
             FROM target, new_prompt RETURNING id, kind),
         added AS (
             INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind)
             SELECT $1, new_member.id, target.id, created.id, created.kind
             FROM created, target, new_member),
         in_count AS (
             UPDATE vault v SET prompt_count = v.prompt_count + 1
             FROM target WHERE v.account_id = $1 AND v.id = target.id),
         ended AS (
             UPDATE job j SET state = 'completed', prompt_id = created.id, vault_id = target.id,
                 claimable_at = NULL, fence = NULL, updated_at = {later}
             FROM target, created
             WHERE j.account_id = $1 AND j.name_digest = $2
             RETURNING j.name_digest
         ), {LEAVE_QUEUE}
         SELECT created.id FROM leased LEFT JOIN created ON true",
        later = later!("$12", "j.updated_at")
    ),
);

static FAIL: Statement = Statement::idempotent(
    "jobs.fail",
    formatcp!(
        "WITH ended AS (
             UPDATE job j SET state = 'failed', reason = $5, claimable_at = NULL, fence = NULL,
                 updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.name_digest
         ), {LEAVE_QUEUE}
         SELECT true FROM ended",
        later = later!("$4", "j.updated_at")
    ),
);

/// The reason of a failed job whose row does not decode.
const UNREADABLE: &str = "the stored request cannot be read";

#[async_trait]
impl JobQueue for PostgresStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        let except: Vec<_> = turn.except.iter().map(|account| account.0).collect();
        loop {
            let now = self.db.now();
            let until = after(now, lease);
            let params: Params<'_> = &[&now, &until, &turn.after.0, &except];
            let next = self.db.rows(By::Server, &NEXT, params).await?;
            let Some(next) = next.first() else { return Ok(None) };
            let account = AccountId(column(next, "account_id")?);
            let due_at: Timestamp = column(next, "due_at")?;
            let (name, fence) = (column::<&[u8]>(next, "name_digest")?, random_id());
            let params: Params<'_> = &[&account.0, &name, &fence, &until, &now];
            let rows = self.db.rows(By::Server, &CLAIM, params).await?;
            let Some(row) = rows.first() else { continue };
            let lease = Lease { job: job_key(row)?, fence: fence.as_u128() };
            let error = match job_or_none(row) {
                Ok(Some(job)) => {
                    let failed_attempts = column::<i32>(row, "failed_attempts")?.unsigned_abs();
                    let since = |at| now.duration_since(at).unsigned_abs();
                    let failing_for = column::<Option<_>>(row, "failing_since")?.map(since);
                    let failing_for = failing_for.unwrap_or_default();
                    let overdue = since(due_at);
                    return Ok(Some(Claim { lease, job, failed_attempts, failing_for, overdue }));
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
        let now = self.db.now();
        let params: Params<'_> = &[&now, &reason];
        let failed = change(&self.db, &LATE, &FAIL_LATE, before(now, limit), params).await?;
        failed.iter().map(job_key).collect()
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        let until = before(self.db.now(), age);
        Ok(change(&self.db, &ENDED, &DELETE_ENDED, until, &[]).await?.len())
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        let until = after(self.db.now(), lasting);
        fenced(&self.db, &RENEW, lease, &[&until]).await.map(drop)
    }

    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
    ) -> Result<()> {
        fenced(&self.db, &NOTE, lease, &[&provider_state, &waits_for]).await.map(drop)
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        let outcome = match outcome {
            Release::Waiting => "waiting",
            Release::InProgress => "in_progress",
            Release::FailedAttempt => "failed_attempt",
            Release::Shutdown => "shutdown",
        };
        let fence = Uuid::from_u128(lease.fence);
        let now = self.db.now();
        let params: Params<'_> = &[&fence, &now, &after(now, pause), &outcome];
        // If it is due later, workers wait until it is.
        let is_due = pause.is_zero();
        let rows = rows_of_job(&self.db, &RELEASE, &lease.job, is_due, params).await?;
        rows.first().ok_or(StoreError::LeaseLost)?;
        self.notifier.wake_after(pause);
        Ok(())
    }

    async fn complete_job(&self, lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId> {
        // The request never changes, so reading it in a statement of its own is safe.
        let row = fenced(&self.db, &REQUEST, lease, &[]).await?;
        let Json(request) = column::<Json<GenerationRequest>>(&row, "request")?;
        // The statement chooses the vault.
        let prompt = output_prompt(&request, VaultId::new(0));
        let mut values = values_of_one(&prompt, self.db.now());
        values.push(Box::new(Json(images)));
        let row = fenced(&self.db, &COMPLETE, lease, &refs(&values)).await?;
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
async fn fenced(
    db: &Db,
    statement: &'static Statement,
    lease: &Lease,
    params: Params<'_>,
) -> Result<Row> {
    let fence = Uuid::from_u128(lease.fence);
    let params = [&[&fence as _], params].concat();
    let rows = rows_of_job(db, statement, &lease.job, false, &params).await?;
    rows.into_iter().next().ok_or(StoreError::LeaseLost)
}

/// Changes the jobs that `search` finds until this time, account by account. `change` has account,
/// names and time before the other parameters.
async fn change(
    db: &Db,
    search: &Statement,
    change: &Statement,
    until: Timestamp,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let found = db.rows(By::Server, search, &[&until, &int(JOBS_AT_ONCE)]).await?;
    let mut accounts: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for row in &found {
        let names = accounts.entry(column(row, "account_id")?).or_default();
        names.push(column(row, "name_digest")?);
    }
    let mut changed = Vec::new();
    for (account, names) in &accounts {
        let params = [&[account as _, names as _, &until as _], params].concat();
        changed.extend(db.rows(By::Server, change, &params).await?);
    }
    Ok(changed)
}
