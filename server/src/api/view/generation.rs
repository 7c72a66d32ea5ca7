//! Generations in responses.

use promptarium::{PromptId, VaultId};
use serde::Serialize;

use super::Time;
use crate::domain::{JobRecord, JobState};

/// The response to a queued generation (GE-02).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Queued<'a> {
    /// `true` (GE-03).
    pub success: bool,
    /// The caller's id, or a new one.
    pub client_job_id: &'a str,
    /// The provider's id.
    pub provider_request_id: &'a str,
    /// Where to poll (GE-05).
    pub status_url: &'a str,
}

/// The status of a generation (S-34).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView<'a> {
    client_job_id: &'a str,
    provider_request_id: Option<&'a str>,
    status: &'static str,
    generation_type: &'static str,
    vault_id: VaultId,
    prompt_id: Option<PromptId>,
    error: Option<&'a str>,
    created_at: Time,
    updated_at: Time,
}

impl<'a> From<&'a JobRecord> for JobView<'a> {
    fn from(job: &'a JobRecord) -> Self {
        let (status, prompt_id, error) = match &job.state {
            // The store does not return submitting jobs to callers.
            JobState::Submitting | JobState::Queued(_) => ("queued", None, None),
            JobState::InProgress(_) => ("in_progress", None, None),
            JobState::Completed(_, prompt) => ("completed", Some(*prompt), None),
            JobState::Failed(_, reason) => ("failed", None, Some(&**reason)),
        };
        Self {
            client_job_id: &job.key.client_job_id,
            provider_request_id: job.state.ticket().map(|ticket| &*ticket.request_id),
            status,
            generation_type: job.request.kind.as_str(),
            vault_id: job.vault,
            prompt_id,
            error,
            created_at: Time(job.created_at),
            updated_at: Time(job.updated_at),
        }
    }
}
