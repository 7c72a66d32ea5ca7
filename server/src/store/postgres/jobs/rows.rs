//! Jobs as rows: how they are named, read, and how lengths of time are sent.

use std::sync::Arc;
use std::time::Duration;

use promptarium::{PromptId, VaultId};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::domain::{AccountId, GenerationRequest, JobKey, JobRecord, JobState, ProviderTicket};
use crate::store::StoreError;
use crate::store::postgres::db::column;

/// The columns that [`job`] reads, of a table or subquery called `j`.
macro_rules! job_columns {
    () => {
        "j.account_id, j.client_job_id, j.job_order, j.vault_id, j.state, j.request_id, j.memo, \
         j.prompt_id, j.reason, j.created_at, j.updated_at"
    };
}
pub(super) use job_columns;

/// The time of a change, of `job j` at `moment.now`: always later than the change
/// before it.
macro_rules! later {
    () => {
        "greatest(moment.now, j.updated_at + interval '1 microsecond')"
    };
}
pub(super) use later;

/// The name under which the database knows a job: names are as long as their
/// makers like, and an index is not.
pub(super) fn digest_of(client_job_id: &str) -> [u8; 32] {
    Sha256::digest(client_job_id).into()
}

/// A number that nobody else has.
pub(super) fn random_id() -> Uuid {
    Uuid::from_u128(rand::random())
}

/// In microseconds; at most a century, which the database can add to any time.
pub(super) fn micros(duration: Duration) -> i64 {
    const MOST: i64 = 100 * 366 * 24 * 3_600_000_000;
    i64::try_from(duration.as_micros()).map_or(MOST, |micros| micros.min(MOST))
}

/// A job from the columns of [`job_columns`]; `None` where an outer join found none.
///
/// # Errors
/// [`StoreError::Broken`] if the row is no job.
pub(super) fn job_if_any(row: &Row) -> Result<Option<JobRecord>, StoreError> {
    if column::<Option<i64>>(row, "account_id")?.is_none() {
        return Ok(None);
    }
    let state = state(row)?;
    let ended = matches!(state, JobState::Completed(..) | JobState::Failed(..));
    let order = match column::<Json<GenerationRequest>>(row, "job_order") {
        Ok(Json(order)) => order,
        // Nothing is made from the request of an ended job, and its status must be shown.
        Err(_) if ended => GenerationRequest::default(),
        Err(error) => return Err(error),
    };
    Ok(Some(JobRecord {
        key: key(row)?,
        order: Arc::new(order),
        vault: VaultId::new(column(row, "vault_id")?),
        state,
        created_at: column(row, "created_at")?,
        updated_at: column(row, "updated_at")?,
    }))
}

/// The key of the job in a row of [`job_columns`].
///
/// # Errors
/// [`StoreError::Broken`] if the row is no job.
pub(super) fn key(row: &Row) -> Result<JobKey, StoreError> {
    let client_job_id = column::<&str>(row, "client_job_id")?.into();
    Ok(JobKey { account: AccountId(column(row, "account_id")?), client_job_id })
}

/// As [`job_if_any`], where there is one for certain if there is a row.
///
/// # Errors
/// [`StoreError::NotFound`] without one.
pub(super) fn job(rows: &[Row]) -> Result<JobRecord, StoreError> {
    rows.first().map(job_if_any).transpose()?.flatten().ok_or(StoreError::NotFound)
}

fn state(row: &Row) -> Result<JobState, StoreError> {
    let prompt: Option<i64> = column(row, "prompt_id")?;
    let reason: Option<&str> = column(row, "reason")?;
    let name: &str = column(row, "state")?;
    let state = match (name, ticket(row)?, prompt, reason) {
        ("submitting", None, None, None) => JobState::Submitting,
        ("queued", Some(ticket), None, None) => JobState::Queued(ticket),
        ("in_progress", Some(ticket), None, None) => JobState::InProgress(ticket),
        ("completed", Some(ticket), Some(prompt), None) => {
            JobState::Completed(ticket, PromptId::new(prompt))
        }
        ("failed", ticket, None, Some(reason)) => JobState::Failed(ticket, reason.into()),
        _ => {
            let what = format!("the database holds what it cannot: a job that is {name:?}");
            return Err(StoreError::Broken(what.into()));
        }
    };
    Ok(state)
}

fn ticket(row: &Row) -> Result<Option<ProviderTicket>, StoreError> {
    let request_id: Option<&str> = column(row, "request_id")?;
    let memo: Option<&str> = column(row, "memo")?;
    let both = request_id.zip(memo);
    Ok(both.map(|(request_id, memo)| ProviderTicket {
        request_id: request_id.into(),
        memo: memo.into(),
    }))
}
