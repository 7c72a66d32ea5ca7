//! The JSON form of generations.

use promptarium::{PromptId, VaultId};
use serde::Serialize;

use super::Time;
use crate::domain::{JobRecord, JobState, ProviderTicket};

/// The response to creating a generation (GE-02).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued<'a> {
    /// `true` (GE-03).
    pub success: bool,
    /// The caller's own id, or a generated one.
    pub client_job_id: &'a str,
    /// The provider's id.
    pub provider_request_id: &'a str,
    /// The URL to poll (GE-05).
    pub status_url: &'a str,
}

/// The state of a generation (S-34).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobView<'a> {
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

impl<'a> JobView<'a> {
    /// The view of a job.
    pub fn new(job: &'a JobRecord) -> Self {
        let state = StateView::new(&job.state);
        Self {
            client_job_id: &job.key.client_job_id,
            provider_request_id: state.ticket.map(|ticket| &*ticket.request_id),
            status: state.name,
            generation_type: job.order.kind.as_str(),
            vault_id: job.vault,
            prompt_id: state.prompt,
            error: state.error,
            created_at: Time(job.created_at),
            updated_at: Time(job.updated_at),
        }
    }
}

/// The fields that depend on the state (S-33).
struct StateView<'a> {
    name: &'static str,
    ticket: Option<&'a ProviderTicket>,
    prompt: Option<PromptId>,
    error: Option<&'a str>,
}

impl<'a> StateView<'a> {
    fn new(state: &'a JobState) -> Self {
        let (name, ticket, prompt, error) = match state {
            // The store does not return such a job. A client would see it as queued.
            JobState::Submitting => ("queued", None, None, None),
            JobState::Queued(ticket) => ("queued", Some(ticket), None, None),
            JobState::InProgress(ticket) => ("in_progress", Some(ticket), None, None),
            JobState::Completed(ticket, prompt) => ("completed", Some(ticket), Some(*prompt), None),
            JobState::Failed(ticket, reason) => ("failed", ticket.as_ref(), None, Some(&**reason)),
        };
        Self { name, ticket, prompt, error }
    }
}
