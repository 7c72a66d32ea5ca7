//! Generation jobs in the store.
//!
//! A job is created in two steps, as no transaction stays open while the provider is called:
//! [`JobStore::reserve_job`] takes its name, and [`JobStore::job_submitted`],
//! [`JobStore::discard_job`] or [`JobStore::job_lost`] records the result. From then on workers
//! claim it through [`JobQueue`].

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;

use super::Result;
#[cfg(doc)]
use super::StoreError;
use crate::domain::{
    AccountId, Caller, Claim, GenerationRequest, JobKey, JobRecord, Lease, NewJob, PromptImage,
    ProviderTicket, Release, Reserved, Turn,
};

#[async_trait]
pub trait JobStore: Send + Sync + 'static {
    /// Takes a name for a job. A repeated request of the same account, with the same name and
    /// digest, gets the existing job in whatever state; of two concurrent ones exactly one gets
    /// [`Reserved::New`]. Fails with [`StoreError::JobConflict`] if the name belongs to a job with
    /// another digest, and with [`StoreError::UnknownVault`].
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved>;

    /// The provider accepted the job: it is queued, even if it has failed meanwhile because this
    /// was not known. Fails with [`StoreError::NotFound`] if it has a ticket already.
    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord>;

    /// The provider certainly did not accept the job: it is deleted and its name is free. A job
    /// that is not being submitted stays as it is.
    async fn discard_job(&self, job: &JobKey) -> Result<()>;

    /// It is not known whether the provider accepted the job: it has failed for this reason and is
    /// never submitted again. Fails with [`StoreError::NotFound`] if it is not being submitted.
    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord>;

    /// One job of the caller. It does not exist yet while it is being submitted.
    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord>;

    /// The newest `limit` jobs of the caller, at most 100, newest first, but for those that are
    /// being submitted. With `before`, only those that follow the job of this name.
    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>>;

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord>;
}

/// Jobs as workers see them. A method that takes a [`Lease`] changes nothing and returns
/// [`StoreError::LeaseLost`] if the job was claimed again or has ended.
#[async_trait]
pub trait JobQueue: Send + Sync + 'static {
    /// Claims a job of the next account in `turn` that has one which is due and has no running
    /// lease; of its jobs the one that has been due longest. No two claims hold one job. Taking
    /// over an expired lease counts as a failed attempt. A job whose record cannot be read is
    /// failed, and the next one is claimed.
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>>;

    /// Fails, for this reason, jobs that have been submitting for longer than `limit`: nobody knows
    /// whether the provider accepted them. The longest first, at most a thousand.
    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>>;

    /// Deletes jobs that ended longer ago than `age`, not more than a thousand. Returns how many.
    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize>;

    /// Extends a lease to this long from now.
    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()>;

    /// Sets what a job waits for, a new `provider_state`, and the state if the provider
    /// `has_begun`.
    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
        has_begun: bool,
    ) -> Result<()>;

    /// Gives a job back, due again after `pause`. [`Release::FailedAttempt`] increments its failed
    /// attempts, [`Release::Shutdown`] keeps them, the others reset them, and with them what the
    /// job waits for; [`Release::InProgress`] also sets its state.
    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()>;

    /// Completes a job, in one step and exactly once: creates one prompt of the request's type with
    /// these images, in the job's vault or in General if that is gone. `request` is that of the
    /// job, which never changes.
    async fn complete_job(
        &self,
        lease: &Lease,
        request: &GenerationRequest,
        images: Vec<PromptImage>,
    ) -> Result<PromptId>;

    /// Fails a job, with the reason shown to the caller.
    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()>;

    /// Waits until a job of an account not in `except` may be due, `at_most` this long. A hint.
    async fn job_due(&self, at_most: Duration, except: &[AccountId]);
}
