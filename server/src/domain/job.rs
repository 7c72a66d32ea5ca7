//! Generation jobs as records, and the lease a worker holds on one.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::{AccountId, GenerationRequest};

/// A generation to be taken on.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The caller's own name for it, or one that was made; unique in the account.
    pub client_job_id: Arc<str>,
    /// SHA-256 of the request's meaning: equal for equal requests. Tells a
    /// repeated request from another one under the same name.
    pub digest: [u8; 32],
    /// What is to be made.
    pub order: Arc<GenerationRequest>,
    /// Where the output goes; the General vault if it is `None`.
    pub vault: Option<VaultId>,
}

/// Names a job in the service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobKey {
    /// Whose it is.
    pub account: AccountId,
    /// Its name in that account.
    pub client_job_id: Arc<str>,
}

/// What the provider gave for a job it took: its name there, and whatever the
/// provider wants to find again when it is polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTicket {
    /// Shown to the caller as `providerRequestId`.
    pub request_id: Box<str>,
    /// Opaque to everything but the provider; never shown.
    pub memo: Box<str>,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It is being handed to the provider; the caller has no answer yet.
    Submitting,
    /// The provider has it.
    Queued(ProviderTicket),
    /// The provider works on it.
    InProgress(ProviderTicket),
    /// The output is saved as this prompt.
    Completed(ProviderTicket, PromptId),
    /// Nothing will come of it; with the reason, for a person. There is no
    /// ticket where it is not known whether the provider took it.
    Failed(Option<ProviderTicket>, Arc<str>),
}

/// A job that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// Its name.
    pub key: JobKey,
    /// What is to be made.
    pub order: Arc<GenerationRequest>,
    /// The vault that it was asked for, or General.
    pub vault: VaultId,
    /// Where it stands.
    pub state: JobState,
    /// When it was taken on.
    pub created_at: Timestamp,
    /// When it last changed its state.
    pub updated_at: Timestamp,
}

/// The outcome of taking on a job.
#[derive(Clone, Debug)]
pub enum Reserved {
    /// The name was free. The caller of this step must now hand the job to the
    /// provider and then say how that went.
    New(JobRecord),
    /// The same request was made before, and this is its job. It may be
    /// [`JobState::Submitting`] while the first request is still at it.
    Existing(JobRecord),
}

/// The right to work on one job until it runs out. The fence is new for each
/// claim, so that a worker that was too slow cannot write over its successor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobKey,
    /// Random; known to the holder and the store only.
    pub fence: u128,
}

/// A job that a worker may work on.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The right to do so.
    pub lease: Lease,
    /// The job as it stands. [`JobState::Submitting`] here means that whoever
    /// was handing it over is gone, and that nobody knows how far it came.
    pub job: JobRecord,
    /// How often it was handed back since it last got on.
    pub setbacks: u32,
}

/// What a worker learned before it released a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The provider has it in its queue.
    Waiting,
    /// The provider is working on it.
    InProgress,
    /// The attempt failed for a reason that may pass.
    FailedAttempt,
    /// Nothing: the worker shuts down before the attempt ended.
    Shutdown,
}
