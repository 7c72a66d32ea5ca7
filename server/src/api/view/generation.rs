//! How generations look on the wire.

use promptarium::{PromptId, VaultId};
use serde::Serialize;

use super::Time;
use crate::domain::{JobRecord, JobState, ProviderTicket};

/// What queueing a generation says (GE-02).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued<'a> {
    /// `true` (GE-03).
    pub success: bool,
    /// The caller's own name for it, or a new one.
    pub client_job_id: &'a str,
    /// The provider's name for it.
    pub provider_request_id: &'a str,
    /// Where it can be polled (GE-05).
    pub status_url: &'a str,
}

/// How far a generation is (S-34).
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
    /// A job as it stands.
    pub fn of(job: &'a JobRecord) -> Self {
        let state = StateView::of(&job.state);
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

/// A state with its name (S-33).
struct StateView<'a> {
    name: &'static str,
    ticket: Option<&'a ProviderTicket>,
    prompt: Option<PromptId>,
    error: Option<&'a str>,
}

impl<'a> StateView<'a> {
    fn of(state: &'a JobState) -> Self {
        let (name, ticket, prompt, error) = match state {
            // The store does not show such a job; to a client it would be queued.
            JobState::Submitting => ("queued", None, None, None),
            JobState::Queued(ticket) => ("queued", Some(ticket), None, None),
            JobState::InProgress(ticket) => ("in_progress", Some(ticket), None, None),
            JobState::Completed(ticket, prompt) => ("completed", Some(ticket), Some(*prompt), None),
            JobState::Failed(ticket, reason) => ("failed", ticket.as_ref(), None, Some(&**reason)),
        };
        Self { name, ticket, prompt, error }
    }
}
