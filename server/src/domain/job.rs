//! Generation jobs as records, and the lease of a worker on one.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::{AccountId, GenerationRequest};

/// A job to be created.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Given by the caller or generated; unique in the account.
    pub client_job_id: Arc<str>,
    /// SHA-256 of the request. Tells a repeated request from another one with the same name.
    pub digest: [u8; 32],
    /// What to generate.
    pub request: Arc<GenerationRequest>,
    /// Where the output goes; General if `None`.
    pub vault: Option<VaultId>,
}

/// Identifies a job in the service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobKey {
    /// The owner.
    pub account: AccountId,
    /// Its name in that account.
    pub client_job_id: Arc<str>,
}

/// The provider's handle of a job that it accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTicket {
    /// Shown to the caller as `providerRequestId`.
    pub request_id: Box<str>,
    /// State of the provider's client, needed for polling. Never shown.
    pub provider_state: Box<str>,
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It is being sent to the provider; the caller has no response yet.
    Submitting,
    /// The provider has accepted it.
    Queued(ProviderTicket),
    /// The provider is working on it.
    InProgress(ProviderTicket),
    /// The output is saved as this prompt.
    Completed(ProviderTicket, PromptId),
    /// It has failed, for this reason. There is no ticket if it is not known whether the
    /// provider accepted it.
    Failed(Option<ProviderTicket>, Arc<str>),
}

impl JobState {
    /// The provider's handle, if the provider accepted the job.
    pub const fn ticket(&self) -> Option<&ProviderTicket> {
        match self {
            Self::Queued(ticket) | Self::InProgress(ticket) | Self::Completed(ticket, _) => {
                Some(ticket)
            }
            Self::Failed(ticket, _) => ticket.as_ref(),
            Self::Submitting => None,
        }
    }
}

/// A stored job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// Its key.
    pub key: JobKey,
    /// What to generate.
    pub request: Arc<GenerationRequest>,
    /// The requested vault, or General.
    pub vault: VaultId,
    /// Its state.
    pub state: JobState,
    /// When it was reserved.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
}

/// The outcome of reserving a job.
#[derive(Clone, Debug)]
pub enum Reserved {
    /// The name was free. The caller of this step must submit the job and record the result.
    New(JobRecord),
    /// The job of an equal earlier request. It may still be [`JobState::Submitting`].
    Existing(JobRecord),
}

/// The right to work on one job until it expires. The fencing token is new for each claim, so a
/// worker that was too slow cannot overwrite its successor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobKey,
    /// Random; known only to the holder and the store.
    pub fence: u128,
}

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The right to work on it.
    pub lease: Lease,
    /// The job. [`JobState::Submitting`] here means that the submitting server died and it is
    /// not known whether the provider accepted the job.
    pub job: JobRecord,
    /// Failed attempts since the last successful one.
    pub failed_attempts: u32,
}

/// Why a worker releases a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The provider has it in its queue.
    Waiting,
    /// The provider is working on it.
    InProgress,
    /// The attempt failed for a reason that may pass.
    FailedAttempt,
    /// The worker shuts down before the attempt ended.
    Shutdown,
}
