//! Generation jobs: submission and status. What workers do is in [`super::job_queue`].
//!
//! Each method is one statement and one transaction, and none is open while a provider works.
//! A job is due by the clock of the server that asks.

use async_trait::async_trait;
use const_format::formatcp;
use promptarium::VaultId;
use serde_json::value::{RawValue, to_raw_value};
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use super::PostgresStore;
use super::db::{By, Db, Params, Statement};
use super::job_rows::{IN_QUEUE, JOB_COLUMNS, LEAVE_QUEUE, job_or_none};
use super::listing::AHEAD;
use super::notify::CHANNEL;
use super::rows::{CALLER, all, column, int, later};
use crate::domain::{
    Caller, GenerationRequest, JobKey, JobRecord, NewJob, ProviderTicket, Reserved,
};
use crate::store::{JobStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&RESERVE, &NOTIFY, &SUBMITTED, &DISCARD, &LOST, &GET, &LIST, &GET_BY_KEY];

/// Of two concurrent inserts one violates the primary key, is retried, and finds the other's
/// row. A retried insert recognises its own row by the reservation.
static RESERVE: Statement = Statement::idempotent(
    "jobs.reserve",
    formatcp!(
        "{CALLER}, existing AS (
             SELECT j.* FROM caller JOIN job j ON j.account_id = $1 AND j.name_digest = $4),
         created AS (
             INSERT INTO job (account_id, name_digest, client_job_id, request_digest, request,
                 vault_id, reservation, state, reserved_at, created_at, updated_at)
             SELECT $1, $4, $5, $6, $7, v.id, $9, 'submitting', $3, $3, $3
             FROM caller JOIN vault v ON v.account_id = $1 AND v.id = coalesce($8::bigint,
                 (SELECT g.id FROM vault g WHERE g.account_id = $1 AND g.system))
             WHERE NOT EXISTS (SELECT FROM existing)
             RETURNING *),
         queued AS (SELECT name_digest, claimable_at, reserved_at FROM created), {IN_QUEUE}
         SELECT j.request_digest, j.reservation = $9 AND j.reserved_at IS NOT NULL AS fresh,
             {JOB_COLUMNS}
         FROM caller LEFT JOIN (TABLE existing UNION ALL TABLE created) AS j ON true"
    ),
);

/// Sent at the commit of its transaction.
static NOTIFY: Statement = Statement::idempotent("jobs.notify", "SELECT pg_notify($1, '')");

static SUBMITTED: Statement = Statement::non_idempotent(
    "jobs.submitted",
    formatcp!(
        "WITH queued AS (
             UPDATE job j SET state = 'queued', request_id = $4, provider_state = $5,
                 reason = NULL, fence = NULL, reserved_at = NULL, claimable_at = $3,
                 updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.request_id IS NULL
             RETURNING j.*
         ), {IN_QUEUE}
         SELECT {JOB_COLUMNS} FROM queued j",
        later = later!("$3", "j.updated_at")
    ),
);

static DISCARD: Statement = Statement::idempotent(
    "jobs.discard",
    formatcp!(
        "WITH ended AS (
             DELETE FROM job j
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting'
             RETURNING j.name_digest), {LEAVE_QUEUE}
         SELECT FROM ended"
    ),
);

static LOST: Statement = Statement::non_idempotent(
    "jobs.lost",
    formatcp!(
        "WITH ended AS (
             UPDATE job j SET state = 'failed', reason = $4, fence = NULL, reserved_at = NULL,
                 claimable_at = NULL, updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting'
             RETURNING j.*), {LEAVE_QUEUE}
         SELECT {JOB_COLUMNS} FROM ended j",
        later = later!("$3", "j.updated_at")
    ),
);

static GET: Statement = Statement::read_only(
    "jobs.get",
    formatcp!(
        "{CALLER} SELECT {JOB_COLUMNS} FROM caller LEFT JOIN job j
         ON j.account_id = $1 AND j.name_digest = $3 AND j.state <> 'submitting'"
    ),
);

/// One row of NULLs if there is none. The page begins after the job `$3`. Its keys are a range of
/// one index, as in [`super::listing`]. `OFFSET 0` keeps the state of that job out of the subquery:
/// with it, an index of all jobs of the account could be read instead of the one row.
static LIST: Statement = Statement::read_only(
    "jobs.list",
    formatcp!(
        "{CALLER}, before AS (SELECT b.created_at, b.name_digest FROM caller CROSS JOIN LATERAL (
                 SELECT created_at, name_digest, state FROM job
                 WHERE account_id = $1 AND name_digest = $3 OFFSET 0) b
             WHERE b.state <> 'submitting')
         SELECT EXISTS (SELECT FROM before) AS begins, {JOB_COLUMNS} FROM caller
         LEFT JOIN LATERAL (
             SELECT one.* FROM (SELECT name_digest FROM (
                     SELECT created_at, name_digest FROM job
                     WHERE account_id = $1 AND state <> 'submitting'
                         AND (created_at, name_digest) < (
                             coalesce((SELECT created_at FROM before), 'infinity'),
                             coalesce((SELECT name_digest FROM before), ''))
                     ORDER BY created_at DESC, name_digest DESC LIMIT {AHEAD}) ahead LIMIT $4
             ) page CROSS JOIN LATERAL (SELECT * FROM job
                 WHERE account_id = $1 AND name_digest = page.name_digest OFFSET 0
             ) one
         ) j ON true
         ORDER BY j.created_at DESC, j.name_digest DESC"
    ),
);

static GET_BY_KEY: Statement = Statement::read_only(
    "jobs.get_by_key",
    formatcp!("SELECT {JOB_COLUMNS} FROM job j WHERE j.account_id = $1 AND j.name_digest = $2"),
);

#[async_trait]
impl JobStore for PostgresStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        let NewJob { client_job_id, digest, request, vault } = new;
        let (name, reservation) = (JobKey::name_digest(&client_job_id), random_id());
        let (vault, request) = (vault.map(VaultId::get), encode(&request)?);
        let params: Params<'_> = &[
            &self.db.now(),
            &&name[..],
            &&*client_job_id,
            &&digest[..],
            &Json(&*request),
            &vault,
            &reservation,
        ];
        let row = self.db.row_of_caller(caller, &RESERVE, params).await?;
        let job = job_or_none(&row)?.ok_or(StoreError::UnknownVault)?;
        if column::<&[u8]>(&row, "request_digest")? != digest {
            return Err(StoreError::JobConflict);
        }
        Ok(if column(&row, "fresh")? { Reserved::New(job) } else { Reserved::Existing(job) })
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let (request_id, state) = (&*ticket.request_id, &*ticket.provider_state);
        let params: Params<'_> = &[&self.db.now(), &request_id, &state];
        first_job(&rows_of_job(&self.db, &SUBMITTED, job, true, params).await?)
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        rows_of_job(&self.db, &DISCARD, job, false, &[]).await.map(drop)
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        let params: Params<'_> = &[&self.db.now(), &reason];
        first_job(&rows_of_job(&self.db, &LOST, job, false, params).await?)
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        let name = JobKey::name_digest(client_job_id);
        let row = self.db.row_of_caller(caller, &GET, &[&&name[..]]).await?;
        job_or_none(&row)?.ok_or(StoreError::NotFound)
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        let name = before.map(JobKey::name_digest);
        let params: Params<'_> = &[&name.as_ref().map(|name| &name[..]), &int(limit)];
        let rows = self.db.rows(By::List(caller, limit), &LIST, params).await?;
        let begins = rows.first().map_or(Ok(false), |row| column(row, "begins"))?;
        if before.is_some() && !begins {
            return Err(StoreError::NotFound);
        }
        all(&rows, job_or_none)
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        first_job(&rows_of_job(&self.db, &GET_BY_KEY, job, false, &[]).await?)
    }
}

/// Runs a statement whose first parameters are the account and the name of a job. If the job is due
/// then, workers of all servers are notified.
pub(super) async fn rows_of_job(
    db: &Db,
    statement: &'static Statement,
    job: &JobKey,
    is_due: bool,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let name = &JobKey::name_digest(&job.client_job_id)[..];
    let params = [&[&job.account.0 as _, &name as _], params].concat();
    match is_due {
        true => db.transaction(&[(&NOTIFY, &[&CHANNEL]), (statement, &params)]).await,
        false => db.rows(By::Server, statement, &params).await,
    }
}

pub(super) fn random_id() -> Uuid {
    Uuid::from_u128(rand::random())
}

/// The request as JSON that is known to read back: a row that cannot be read could never end.
fn encode(request: &GenerationRequest) -> Result<Box<RawValue>> {
    let encoded = to_raw_value(request).map_err(|error| StoreError::Internal(error.into()))?;
    serde_json::from_str::<GenerationRequest>(encoded.get())
        .map_err(|error| StoreError::Internal(error.into()))?;
    Ok(encoded)
}

fn first_job(rows: &[Row]) -> Result<JobRecord> {
    all(rows, job_or_none)?.pop().ok_or(StoreError::NotFound)
}
