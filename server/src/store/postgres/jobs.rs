//! Generation jobs: submission and status. What workers do is in [`super::job_queue`].
//!
//! Each method is one statement and one transaction, and none is open while a provider works.
//! A job is due by the database's clock.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};
use serde_json::value::{RawValue, to_raw_value};
use tokio_postgres::Row;
use tokio_postgres::types::{Json, ToSql};
use uuid::Uuid;

use super::PostgresStore;
use super::db::{Db, Params, Statement};
use super::notify::CHANNEL;
use super::rows::{caller, column};
use crate::domain::{
    AccountId, Caller, GenerationRequest, JobKey, JobRecord, JobState, NewJob, ProviderTicket,
    Reserved,
};
use crate::store::{JobStore, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&RESERVE, &SUBMITTED, &DISCARD, &LOST, &GET, &LIST, &GET_BY_KEY];

/// The columns that [`job_or_none`] reads, of a table or subquery `j`.
macro_rules! job_columns {
    () => {
        "j.account_id, j.client_job_id, j.job_order, j.vault_id, j.state, j.request_id, j.memo, \
         j.prompt_id, j.reason, j.created_at, j.updated_at"
    };
}
pub(super) use job_columns;

/// The time of a change of `job j` at `clock.now`: always later than the change before it.
macro_rules! later {
    () => {
        "greatest(clock.now, j.updated_at + interval '1 microsecond')"
    };
}
pub(super) use later;

/// Of two concurrent inserts one violates the primary key, is retried, and finds the other's
/// row. A retried insert recognises its own row by the reservation.
static RESERVE: Statement = Statement::idempotent(
    "jobs.reserve",
    concat!(
        caller!("$2::timestamptz"),
        ", existing AS ( \
             SELECT j.* FROM caller JOIN job j ON j.account_id = caller.account_id \
             WHERE j.name_digest = $3), \
         created AS ( \
             INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order, \
                 vault_id, reservation, state, submitting_since, created_at, updated_at) \
             SELECT v.account_id, $3, $4, $5, $6, v.id, $8, 'submitting', now, now, now \
             FROM caller JOIN account ON account.id = caller.account_id \
             JOIN vault v ON v.account_id = account.id \
                 AND v.id = coalesce($7::bigint, account.general_vault_id) \
             WHERE NOT EXISTS (SELECT FROM existing) \
             RETURNING *) \
         SELECT j.request_digest, \
             j.reservation = $8 AND j.submitting_since IS NOT NULL AS fresh, ",
        job_columns!(),
        " FROM caller LEFT JOIN (TABLE existing UNION ALL TABLE created) AS j ON true"
    ),
);

static SUBMITTED: Statement = Statement::non_idempotent(
    "jobs.submitted",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'queued', request_id = $4, memo = $5, reason = NULL, \
             fence = NULL, submitting_since = NULL, due_at = clock.now, updated_at = ",
        later!(),
        " FROM clock \
         WHERE j.account_id = $1 AND j.name_digest = $2 AND j.request_id IS NULL \
         RETURNING pg_notify($6, ''), ",
        job_columns!(),
    ),
);

static DISCARD: Statement = Statement::idempotent(
    "jobs.discard",
    "DELETE FROM job WHERE account_id = $1 AND name_digest = $2 AND state = 'submitting'",
);

static LOST: Statement = Statement::non_idempotent(
    "jobs.lost",
    concat!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'failed', reason = $4, fence = NULL, submitting_since = NULL, \
             due_at = NULL, updated_at = ",
        later!(),
        " FROM clock \
         WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting' \
         RETURNING ",
        job_columns!(),
    ),
);

static GET: Statement = Statement::read_only(
    "jobs.get",
    concat!(
        caller!(),
        " SELECT ",
        job_columns!(),
        " FROM caller LEFT JOIN job j \
         ON j.account_id = caller.account_id AND j.name_digest = $2 AND j.state <> 'submitting'"
    ),
);

/// One row of NULLs if there is none. The page begins after the job `$2`. Its keys are a range of
/// one index, as in [`super::listing`].
static LIST: Statement = Statement::read_only(
    "jobs.list",
    concat!(
        caller!(),
        ", before AS (SELECT b.created_at, b.name_digest FROM caller JOIN job b \
             ON b.account_id = caller.account_id AND b.name_digest = $2 \
                 AND b.state <> 'submitting') \
         SELECT EXISTS (SELECT FROM before) AS begins, ",
        job_columns!(),
        " FROM caller \
         LEFT JOIN LATERAL ( \
             SELECT one.* FROM (SELECT name_digest FROM ( \
                     SELECT created_at, name_digest FROM job \
                     WHERE account_id = caller.account_id AND state <> 'submitting' \
                         AND (created_at, name_digest) < ( \
                             coalesce((SELECT created_at FROM before), 'infinity'), \
                             coalesce((SELECT name_digest FROM before), '')) \
                     ORDER BY created_at DESC, name_digest DESC LIMIT 101) ahead LIMIT $3 \
             ) page CROSS JOIN LATERAL (SELECT * FROM job \
                 WHERE account_id = caller.account_id AND name_digest = page.name_digest OFFSET 0 \
             ) one \
         ) j ON true \
         ORDER BY j.created_at DESC, j.name_digest DESC"
    ),
);

static GET_BY_KEY: Statement = Statement::read_only(
    "jobs.get_by_key",
    concat!(
        "SELECT ",
        job_columns!(),
        " FROM job j WHERE j.account_id = $1 AND j.name_digest = $2"
    ),
);

#[async_trait]
impl JobStore for PostgresStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        let NewJob { client_job_id, digest, request, vault } = new;
        let (name, reservation) = (JobKey::name_digest(&client_job_id), random_id());
        let (vault, request) = (vault.map(VaultId::get), encode(&request)?);
        let params: Params<'_> = &[
            &caller.key.0,
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
        let (request_id, memo) = (&*ticket.request_id, &*ticket.provider_state);
        let params: Params<'_> = &[&self.db.now(), &request_id, &memo, &CHANNEL];
        first_job(&rows_of_job(&self.db, &SUBMITTED, job, params).await?)
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        rows_of_job(&self.db, &DISCARD, job, &[]).await.map(drop)
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        let params: Params<'_> = &[&self.db.now(), &reason];
        first_job(&rows_of_job(&self.db, &LOST, job, params).await?)
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        let name = JobKey::name_digest(client_job_id);
        let row = self.db.row_of_caller(caller, &GET, &[&caller.key.0, &&name[..]]).await?;
        job_or_none(&row)?.ok_or(StoreError::NotFound)
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        let name = before.map(JobKey::name_digest);
        let rows_max = i64::try_from(limit).unwrap_or(i64::MAX);
        let params: Params<'_> = &[&caller.key.0, &name.as_ref().map(|name| &name[..]), &rows_max];
        let rows = self.db.list_of_caller(caller, &LIST, params, limit).await?;
        let begins = rows.first().map_or(Ok(false), |row| column(row, "begins"))?;
        if before.is_some() && !begins {
            return Err(StoreError::NotFound);
        }
        rows.iter().filter_map(|row| job_or_none(row).transpose()).collect()
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        first_job(&rows_of_job(&self.db, &GET_BY_KEY, job, &[]).await?)
    }
}

/// Runs a statement whose first parameters are the account and the name of a job.
pub(super) async fn rows_of_job(
    db: &Db,
    statement: &Statement,
    job: &JobKey,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let name = JobKey::name_digest(&job.client_job_id);
    let name = &name[..];
    let mut all: Vec<&(dyn ToSql + Sync)> = vec![&job.account.0, &name];
    all.extend_from_slice(params);
    db.rows(statement, &all).await
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
    rows.first().map(job_or_none).transpose()?.flatten().ok_or(StoreError::NotFound)
}

/// The key of the job in a row of [`job_columns`].
pub(super) fn job_key(row: &Row) -> Result<JobKey> {
    let client_job_id = column::<&str>(row, "client_job_id")?.into();
    Ok(JobKey { account: AccountId(column(row, "account_id")?), client_job_id })
}

/// The job in a row of [`job_columns`]; `None` where an outer join found none.
pub(super) fn job_or_none(row: &Row) -> Result<Option<JobRecord>> {
    if column::<Option<i64>>(row, "account_id")?.is_none() {
        return Ok(None);
    }
    let state = job_state(row)?;
    let ended = matches!(state, JobState::Completed(..) | JobState::Failed(..));
    let request = match column::<Json<GenerationRequest>>(row, "job_order") {
        Ok(Json(request)) => request,
        // Nothing is created from the request of an ended job, and its status must be shown.
        Err(_) if ended => GenerationRequest::default(),
        Err(error) => return Err(error),
    };
    Ok(Some(JobRecord {
        key: job_key(row)?,
        request: Arc::new(request),
        vault: VaultId::new(column(row, "vault_id")?),
        state,
        created_at: column(row, "created_at")?,
        updated_at: column(row, "updated_at")?,
    }))
}

fn job_state(row: &Row) -> Result<JobState> {
    let request_id: Option<&str> = column(row, "request_id")?;
    let memo: Option<&str> = column(row, "memo")?;
    let ticket = request_id.zip(memo).map(|(request_id, memo)| ProviderTicket {
        request_id: request_id.into(),
        provider_state: memo.into(),
    });
    let prompt: Option<i64> = column(row, "prompt_id")?;
    let reason: Option<&str> = column(row, "reason")?;
    Ok(match (column(row, "state")?, ticket, prompt, reason) {
        ("submitting", None, None, None) => JobState::Submitting,
        ("queued", Some(ticket), None, None) => JobState::Queued(ticket),
        ("in_progress", Some(ticket), None, None) => JobState::InProgress(ticket),
        ("completed", Some(ticket), Some(prompt), None) => {
            JobState::Completed(ticket, PromptId::new(prompt))
        }
        ("failed", ticket, None, Some(reason)) => JobState::Failed(ticket, reason.into()),
        (state, ..) => {
            let error = format!("a job in state {state:?} has columns of another state");
            return Err(StoreError::Internal(error.into()));
        }
    })
}
