//! What the service remembers of generations, as one trait.
//!
//! A job is taken on in two steps, because the provider stands in between and
//! no transaction may wait for it: [`JobStore::reserve_job`] takes the name,
//! then the provider is asked, then [`JobStore::job_submitted`] or
//! [`JobStore::discard_job`] says how it went. From there on workers have it:
//! they claim it under a lease, look at the provider, and hand it back or end
//! it. Every step here is atomic, as those of [`Store`](super::Store) are.

#[cfg(test)]
pub(crate) mod facts;

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;

use super::StoreError;
use crate::domain::{
    Caller, Claim, JobKey, JobRecord, Lease, NewJob, PromptImage, ProviderTicket, Release, Reserved,
};

/// The memory of generations. See the [module](self).
#[async_trait]
pub trait JobStore: Send + Sync + 'static {
    /// Takes a name for a job. A second request of the same account under that
    /// name with the same digest gets the job that is there, whatever its
    /// state; of two at once exactly one gets [`Reserved::New`].
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`]; [`StoreError::JobConflict`] if the name
    /// belongs to a job with another digest. Nothing is taken then.
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved, StoreError>;

    /// The provider took the job: it is queued.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if it is not being submitted (any more).
    async fn job_submitted(
        &self,
        job: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError>;

    /// The provider certainly did not take the job: it never was, and its name
    /// is free again. A job that is not being submitted stays as it is.
    async fn discard_job(&self, job: &JobKey) -> Result<(), StoreError>;

    /// Nobody knows whether the provider took the job: it has failed, for this
    /// reason, and must never be handed over again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if it is not being submitted (any more).
    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord, StoreError>;

    /// One job of the caller.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; a job that is being submitted is not there yet.
    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError>;

    /// One job by its key, in whatever state.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord, StoreError>;

    /// Gives the right to work on one job that is due: queued or in progress,
    /// not handed back until later, and under no lease that still runs; or one
    /// that has been submitting for longer than `submit_limit`. The one that
    /// has been due longest comes first. No two claims hold one job at once. A
    /// lease that ran out, because its holder died, counts as a setback.
    async fn claim_job(
        &self,
        lease: Duration,
        submit_limit: Duration,
    ) -> Result<Option<Claim>, StoreError>;

    /// Lets a lease run for this long from now.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if it has run out and somebody else has claimed
    /// the job, or the job has ended. So for every method with a [`Lease`]; the
    /// call changes nothing then.
    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<(), StoreError>;

    /// Hands a job back, to be due again after `pause`. [`Release::InProgress`]
    /// sets its state to in progress. [`Release::FailedAttempt`] adds one to its
    /// setbacks, [`Release::Shutdown`] leaves them, and the others set them to none.
    async fn release_job(
        &self,
        lease: &Lease,
        pause: Duration,
        outcome: Release,
    ) -> Result<(), StoreError>;

    /// Ends a job well: one prompt of the order's type with these pictures in
    /// the job's vault (General if that is gone), and the state completed, all
    /// in one step and exactly once.
    async fn complete_job(
        &self,
        lease: &Lease,
        images: Vec<PromptImage>,
    ) -> Result<PromptId, StoreError>;

    /// Ends a job badly, with the reason for a person.
    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<(), StoreError>;

    /// Done when a job may have become due, and after `at_most` in any case. A
    /// hint that may come late, early or not at all: claiming is the truth.
    async fn job_due(&self, at_most: Duration);
}
