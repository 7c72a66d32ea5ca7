//! Generation jobs as workers see them: leases and outcomes.
//!
//! A lease runs by the clocks of the servers. Each claim has a new fencing token (`fence`), so a
//! worker whose lease was taken over changes nothing.
//!
//! A job that this server queues or releases wakes its own workers. For those of other servers, a
//! worker looks itself after [`JOB_POLL`].

use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{sleep, timeout};

use super::jobs::{
    IN_QUEUE, JOB_COLUMNS, LEAVE_QUEUE, LOST, change_found, first_job, job_key, rows_of_job,
};
use super::prelude::*;
use super::prompts::values_of_one;
use crate::error_chain::error_chain;
use crate::limits::JOB_POLL;

statements! {
    /// Looks through the accounts with jobs that have not ended, from `$3` on, with a probe of an
    /// index for each, and takes the first due job that no other claim has locked, until `$2`.
    non_idempotent NEXT "jobs.next"
        "WITH RECURSIVE turn (round, account_id) AS (
             SELECT 0, $3::bigint
             UNION ALL
             SELECT next.round, next.account_id FROM turn CROSS JOIN LATERAL (
                 (SELECT turn.round, d.account_id FROM due_job d
                     WHERE NOT d.submitting AND d.account_id > turn.account_id
                     ORDER BY d.account_id, d.due_at LIMIT 1)
                 UNION ALL
                 (SELECT 1, d.account_id FROM due_job d
                     WHERE NOT d.submitting AND d.account_id > 0 AND turn.round = 0
                     ORDER BY d.account_id, d.due_at LIMIT 1)
                 LIMIT 1) AS next
             WHERE next.round = 0 OR next.account_id <= $3),
         due AS MATERIALIZED (
             SELECT first.* FROM turn CROSS JOIN LATERAL (
                 SELECT d.account_id, d.name_digest, d.due_at FROM due_job d
                 WHERE NOT d.submitting AND d.account_id >= turn.account_id
                     AND (d.account_id, d.due_at) <= (turn.account_id, $1)
                 ORDER BY d.account_id, d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS first
             WHERE turn.account_id <> ALL ($4::bigint[])
                 AND (turn.round = 1 OR turn.account_id > $3)
             LIMIT 1)
         UPDATE due_job d SET due_at = $2
         FROM due WHERE d.account_id = due.account_id AND d.name_digest = due.name_digest
         RETURNING d.account_id, d.name_digest, due.due_at";
    /// Claims the job that [`NEXT`] has found until `$4`, unless it has changed since or is locked.
    non_idempotent CLAIM "jobs.claim"
        "WITH due AS MATERIALIZED (
             SELECT j.name_digest FROM job j
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.claimable_at <= $5
             FOR UPDATE SKIP LOCKED),
         in_queue AS (
             UPDATE due_job d SET due_at = $4 FROM due
             WHERE d.account_id = $1 AND d.name_digest = due.name_digest)
         UPDATE job j SET fence = $3, claimable_at = $4,
             failed_attempts = j.failed_attempts + (j.fence IS NOT NULL)::integer,
             failing_since = CASE WHEN j.fence IS NULL THEN j.failing_since
                 ELSE coalesce(j.failing_since, $5) END
         FROM due WHERE j.account_id = $1 AND j.name_digest = due.name_digest
         RETURNING j.failed_attempts, j.failing_since, {JOB_COLUMNS}";
    read_only LATE "jobs.late"
        "SELECT d.account_id, d.name_digest FROM due_job d
         WHERE d.submitting AND d.due_at <= $1 ORDER BY d.due_at LIMIT $2";
    read_only ENDED "jobs.ended"
        "SELECT j.account_id, j.name_digest FROM job j
         WHERE j.state IN ('completed', 'failed') AND j.updated_at <= $1
         ORDER BY j.updated_at LIMIT $2";
    /// Of the jobs `$2` of an account, those that ended long ago still.
    idempotent DELETE_ENDED "jobs.delete_ended"
        "DELETE FROM job j WHERE j.account_id = $1 AND j.name_digest = ANY ($2::bytea[])
             AND j.state IN ('completed', 'failed') AND j.updated_at <= $3 RETURNING true";
    idempotent RENEW "jobs.renew"
        "WITH queued AS (
             UPDATE job j SET claimable_at = $4
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.*), {IN_QUEUE}
         SELECT true FROM queued";
    idempotent NOTE "jobs.note"
        "UPDATE job j SET provider_state = coalesce($4, j.provider_state), waits_for = $5,
             updated_at = CASE WHEN $6::boolean AND j.state = 'queued' THEN {later}
                 ELSE j.updated_at END,
             state = CASE WHEN $6 THEN 'in_progress' ELSE j.state END
         WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 RETURNING true"
        { later = later!("$7", "j.updated_at") };
    /// `$6` says that its failed attempts stay, with what it waits for, `$7` that this was one
    /// more, `$8` that the provider has begun.
    idempotent RELEASE "jobs.release"
        "WITH queued AS (
             UPDATE job j SET fence = NULL, claimable_at = $5,
                 failed_attempts =
                     CASE WHEN $6::boolean THEN j.failed_attempts + $7::boolean::integer ELSE 0 END,
                 failing_since = CASE WHEN $7 THEN coalesce(j.failing_since, $4)
                     WHEN $6 THEN j.failing_since END,
                 waits_for = CASE WHEN $6 THEN j.waits_for END,
                 updated_at = CASE WHEN $8::boolean AND j.state = 'queued' THEN {later}
                     ELSE j.updated_at END,
                 state = CASE WHEN $8 THEN 'in_progress' ELSE j.state END
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.*), {IN_QUEUE}
         SELECT true FROM queued"
        { later = later!("$4", "j.updated_at") };
    /// Locks the job first: of two ends at once the second finds no fence. Then locks the vault;
    /// General replaces one whose deletion commits first.
    idempotent COMPLETE "jobs.complete"
        "WITH {NEW_PROMPT}, leased AS MATERIALIZED (
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
         saved AS (
             INSERT INTO prompt (account_id, {INPUT_COLUMNS}, created_at, updated_at, images, id)
             SELECT $1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, new_prompt.id
             FROM target, new_prompt RETURNING id, kind),
         {INTO_TARGET},
         ended AS (
             UPDATE job j SET state = 'completed', prompt_id = saved.id, vault_id = target.id,
                 claimable_at = NULL, fence = NULL, updated_at = {later}
             FROM target, saved WHERE j.account_id = $1 AND j.name_digest = $2
             RETURNING j.name_digest, j.client_job_id, j.state, j.updated_at, $13::jsonb AS images
         ), {LEAVE_QUEUE}, {EVENTS}
         SELECT saved.id FROM leased LEFT JOIN saved ON true"
        { later = later!("$12", "j.updated_at") };
    idempotent FAIL "jobs.fail"
        "WITH ended AS (
             UPDATE job j SET state = 'failed', reason = $5, claimable_at = NULL, fence = NULL,
                 updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3
             RETURNING j.name_digest, j.client_job_id, j.state, j.updated_at, '[]'::jsonb AS images
         ), {LEAVE_QUEUE}, {EVENTS}
         SELECT true FROM ended"
        { later = later!("$4", "j.updated_at") };
}

#[async_trait]
impl JobQueue for PostgresStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        let except: Vec<_> = turn.except.iter().map(|account| account.0).collect();
        loop {
            let now = self.db.now();
            let until = after(now, lease);
            let params: Params<'_> = &[&now, &until, &turn.after.0, &except];
            let next = self.db.rows(By::Server, &[(&NEXT, params)]).await?;
            let Some(next) = next.first() else { return Ok(None) };
            let (account, due_at): (i64, _) =
                (column(next, "account_id")?, column(next, "due_at")?);
            let (name, fence) = (column::<&[u8]>(next, "name_digest")?, Uuid::new_v4());
            let params: Params<'_> = &[&account, &name, &fence, &until, &now];
            let rows = self.db.rows(By::Server, &[(&CLAIM, params)]).await?;
            let Some(row) = rows.first() else { continue };
            let lease = Lease { job: job_key(row)?, fence: fence.as_u128() };
            let error = match first_job(&rows) {
                Ok(job) => {
                    let failed_attempts = column::<i32>(row, "failed_attempts")?.unsigned_abs();
                    let since = |at| now.duration_since(at).unsigned_abs();
                    let failing_for = column::<Option<_>>(row, "failing_since")?.map(since);
                    let (failing_for, overdue) = (failing_for.unwrap_or_default(), since(due_at));
                    return Ok(Some(Claim { lease, job, failed_attempts, failing_for, overdue }));
                }
                Err(error) => error_chain(&error),
            };
            // Left as it is, it would be due again after each lease, before all younger jobs.
            tracing::error!(job = ?lease.job, error, "a stored job cannot be read and is failed");
            match self.fail_job(&lease, "the stored request cannot be read").await {
                Ok(()) | Err(StoreError::LeaseLost) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>> {
        let now = self.db.now();
        let params: Params<'_> = &[&now, &reason];
        let failed = change_found(&self.db, &LATE, &LOST, before(now, limit), params).await?;
        failed.iter().map(job_key).collect()
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        let until = before(self.db.now(), age);
        Ok(change_found(&self.db, &ENDED, &DELETE_ENDED, until, &[]).await?.len())
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        fenced(&self.db, &RENEW, lease, &[&after(self.db.now(), lasting)]).await.map(drop)
    }

    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
        has_begun: bool,
    ) -> Result<()> {
        let params: Params<'_> = &[&provider_state, &waits_for, &has_begun, &self.db.now()];
        fenced(&self.db, &NOTE, lease, params).await.map(drop)
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        let now = self.db.now();
        let has_failed = matches!(outcome, Release::FailedAttempt);
        let keeps = has_failed || matches!(outcome, Release::Shutdown);
        let has_begun = matches!(outcome, Release::InProgress);
        let params: Params<'_> = &[&now, &after(now, pause), &keeps, &has_failed, &has_begun];
        fenced(&self.db, &RELEASE, lease, params).await?;
        let jobs_changed = self.jobs_changed.clone();
        tokio::spawn(sleep(pause).map(move |()| jobs_changed.notify_one()));
        Ok(())
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        request: &GenerationRequest,
        images: Vec<PromptImage>,
    ) -> Result<PromptId> {
        // The statement chooses the vault.
        let prompt = output_prompt(request, VaultId::new(0), images);
        let values = values_of_one(&prompt, self.db.now());
        let row = fenced(&self.db, &COMPLETE, lease, &refs(&values)).await?;
        self.deliveries_changed.notify_one();
        column::<Option<_>>(&row, "id")?.map(PromptId::new).ok_or(StoreError::UnknownVault)
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        fenced(&self.db, &FAIL, lease, &[&self.db.now(), &reason]).await?;
        self.deliveries_changed.notify_one();
        Ok(())
    }

    async fn job_due(&self, at_most: Duration, _: &[AccountId]) {
        // Not all servers at once.
        let poll = JOB_POLL.mul_f64(rand::random_range(0.75..0.9));
        let _ = timeout(at_most.min(poll), self.jobs_changed.notified()).await;
    }
}

/// Runs a statement that begins with account, name and fence. It returns a row if the lease holds.
async fn fenced(
    db: &Db,
    statement: &'static Statement,
    lease: &Lease,
    params: Params<'_>,
) -> Result<Row> {
    let fence = Uuid::from_u128(lease.fence);
    let params = [&[&fence as _], params].concat();
    let rows = rows_of_job(db, statement, &lease.job, &params).await?;
    rows.into_iter().next().ok_or(StoreError::LeaseLost)
}
