//! Jobs in rows of statements.

use std::sync::Arc;

use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;
use tokio_postgres::types::Json;

use super::rows::{all, column};
use crate::domain::{AccountId, GenerationRequest, JobKey, JobRecord, JobState, ProviderTicket};
use crate::store::{Result, StoreError};

/// The columns that [`job_or_none`] reads, of a table or subquery `j`.
pub(super) const JOB_COLUMNS: &str =
    "j.account_id, j.client_job_id, j.request, j.vault_id, j.state, j.request_id,
    j.provider_state, j.prompt_id, j.reason, j.waits_for, j.created_at, j.updated_at";

pub(super) fn first_job(rows: &[Row]) -> Result<JobRecord> {
    all(rows, job_or_none)?.pop().ok_or(StoreError::NotFound)
}

/// The key of the job in a row of [`JOB_COLUMNS`].
pub(super) fn job_key(row: &Row) -> Result<JobKey> {
    let client_job_id = column::<&str>(row, "client_job_id")?.into();
    Ok(JobKey { account: AccountId(column(row, "account_id")?), client_job_id })
}

/// The job in a row of [`JOB_COLUMNS`]; `None` where an outer join found none.
pub(super) fn job_or_none(row: &Row) -> Result<Option<JobRecord>> {
    if column::<Option<i64>>(row, "account_id")?.is_none() {
        return Ok(None);
    }
    let state = job_state(row)?;
    let ended = matches!(state, JobState::Completed(..) | JobState::Failed(..));
    let request = match column::<Json<GenerationRequest>>(row, "request") {
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
        waits_for: column::<Option<&str>>(row, "waits_for")?.map(Into::into),
        created_at: column(row, "created_at")?,
        updated_at: column(row, "updated_at")?,
    }))
}

fn job_state(row: &Row) -> Result<JobState> {
    let request_id: Option<&str> = column(row, "request_id")?;
    let provider_state: Option<&str> = column(row, "provider_state")?;
    let ticket = request_id.zip(provider_state).map(|(request_id, state)| ProviderTicket {
        request_id: request_id.into(),
        provider_state: state.into(),
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
