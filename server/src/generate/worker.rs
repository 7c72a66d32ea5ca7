//! The worker: it looks after jobs that a provider has, until they have ended.
//!
//! One [`Worker::step`] claims one job that is due, asks the provider once, and
//! hands the job back or ends it. The claim is a lease that runs out when the
//! worker dies; what a worker without a lease still tries to write is refused.
//! Outputs have addresses that follow from their job, so that a step that is
//! taken twice leaves them once.

mod crew;
mod pace;
mod shelf;

use std::future::{Future, pending};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{sleep, timeout};

pub use self::crew::Crew;
pub use self::shelf::{AssetShelf, NotShelved, Shelf};
use super::intake::{SUBMIT_LIMIT, SUBMIT_UNKNOWN};
use super::{Output, Progress, Provider, reason};
use crate::clock::Clock;
use crate::domain::{Claim, JobState, Lease, PromptImage, ProviderTicket, Release};
use crate::store::{Store, StoreError};

/// How long a job stays with a worker that gives no sign of life.
pub const LEASE: Duration = Duration::from_secs(20);
/// How often a worker gives a sign of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// How long a provider may take to say how far a job is and to bring its outputs.
const POLL_TIMEOUT: Duration = Duration::from_secs(300);

/// A job that is set back this often in a row fails.
pub const SETBACKS_MAX: u32 = 20;

/// Looks after jobs. Several may work side by side, here and elsewhere.
#[derive(Clone)]
pub struct Worker {
    store: Arc<dyn Store>,
    provider: Arc<dyn Provider>,
    shelf: Arc<dyn Shelf>,
    clock: Clock,
}

/// What one step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No job was due.
    Idle,
    /// A job was handed back, since the provider is not done.
    Waiting,
    /// A job is completed.
    Done,
    /// A job has failed.
    Failed,
    /// A job did not get on, and was handed back for another try.
    Setback,
    /// The job went to somebody else in the meantime, or ended.
    LeaseLost,
    /// The worker was asked to stop, and handed its job back.
    Left,
}

impl Worker {
    /// A worker for the jobs of `store` that `provider` has. The time is for
    /// pictures and for how often a job is looked at.
    pub fn new(
        store: Arc<dyn Store>,
        provider: Arc<dyn Provider>,
        shelf: Arc<dyn Shelf>,
        clock: Clock,
    ) -> Self {
        Self { store, provider, shelf, clock }
    }

    /// Gets one job on, if one is due.
    ///
    /// # Errors
    /// If the store failed. The job, if there was one, is due again when its lease
    /// has run out.
    pub async fn step(&self) -> Result<Step, StoreError> {
        self.step_until(pending()).await
    }

    /// As [`Worker::step`]; once `stop` is done the job is handed back as it is.
    ///
    /// # Errors
    /// As there.
    pub async fn step_until(&self, stop: impl Future<Output = ()>) -> Result<Step, StoreError> {
        let Some(claim) = self.store.claim_job(LEASE, SUBMIT_LIMIT).await? else {
            return Ok(Step::Idle);
        };
        let step = tokio::select! {
            step = self.attend_unless_it_panics(&claim) => step,
            error = self.give_signs_of_life(&claim.lease) => Err(error),
            () = stop => {
                let released =
                    self.store.release_job(&claim.lease, Duration::ZERO, Release::Shutdown);
                released.await.map(|()| Step::Left)
            }
        };
        let step = match step {
            Err(StoreError::LeaseLost) => Ok(Step::LeaseLost),
            step => step,
        };
        tracing::debug!(job = ?claim.job.key, ?step, "attended to a job");
        step
    }

    /// Renews a lease until that does not go any more.
    async fn give_signs_of_life(&self, lease: &Lease) -> StoreError {
        loop {
            sleep(SIGN_OF_LIFE).await;
            match self.store.renew_lease(lease, LEASE).await {
                Err(StoreError::LeaseLost) => return StoreError::LeaseLost,
                // The lease has not run out yet, and the next try may do.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
                Ok(()) => {}
            }
        }
    }

    /// A panic is a setback for the job, not for the worker. It leaves nothing half
    /// done: state is behind the store, whose steps are atomic.
    async fn attend_unless_it_panics(&self, claim: &Claim) -> Result<Step, StoreError> {
        let attend = Box::pin(self.attend(claim));
        match AssertUnwindSafe(attend).catch_unwind().await {
            Ok(step) => step,
            Err(_) => self.set_back(claim, "attending to it ended in a panic").await,
        }
    }

    async fn attend(&self, claim: &Claim) -> Result<Step, StoreError> {
        let (JobState::Queued(ticket) | JobState::InProgress(ticket)) = &claim.job.state else {
            return self.fail(claim, SUBMIT_UNKNOWN).await;
        };
        let asked = timeout(POLL_TIMEOUT, self.provider.poll(ticket, &claim.job.order)).await;
        match asked {
            Ok(Ok(Progress::Queued)) => self.hand_back(claim, Release::Waiting).await,
            Ok(Ok(Progress::AtWork)) => self.hand_back(claim, Release::InProgress).await,
            Ok(Ok(Progress::Completed(outputs))) if outputs.is_empty() => {
                self.fail(claim, "the provider was done and sent nothing").await
            }
            Ok(Ok(Progress::Completed(outputs))) => self.save(claim, ticket, &outputs).await,
            Ok(Ok(Progress::Failed(why))) => self.fail(claim, &reason::shown(&why)).await,
            Ok(Err(error)) => {
                tracing::warn!(job = ?claim.job.key, %error, "a job did not get on");
                self.set_back(claim, "the provider could not be asked for it").await
            }
            Err(_) => self.set_back(claim, "the provider took too long to answer").await,
        }
    }

    /// Stores the outputs, and ends the job with all of them at once.
    async fn save(
        &self,
        claim: &Claim,
        ticket: &ProviderTicket,
        outputs: &[Output],
    ) -> Result<Step, StoreError> {
        let mut images = Vec::with_capacity(outputs.len());
        for (at, output) in outputs.iter().enumerate() {
            let url = match self.shelf.put(&claim.job, ticket, at, output).await {
                Ok(url) => url,
                Err(error) => {
                    tracing::warn!(job = ?claim.job.key, %error, "an output was not stored");
                    return self.set_back(claim, "its output could not be stored").await;
                }
            };
            let (width, height) = (output.width, output.height);
            images.push(PromptImage { url, width, height, created_at: self.clock.now() });
        }
        let prompt = self.store.complete_job(&claim.lease, images).await?;
        tracing::info!(job = ?claim.job.key, %prompt, "a job is completed");
        Ok(Step::Done)
    }

    async fn hand_back(&self, claim: &Claim, outcome: Release) -> Result<Step, StoreError> {
        let age = self.clock.now().duration_since(claim.job.created_at);
        self.store.release_job(&claim.lease, pace::between_polls(age), outcome).await?;
        Ok(Step::Waiting)
    }

    async fn set_back(&self, claim: &Claim, why: &str) -> Result<Step, StoreError> {
        if claim.setbacks + 1 >= SETBACKS_MAX {
            return self.fail(claim, &format!("{why}, {SETBACKS_MAX} times in a row")).await;
        }
        let pause = pace::after_setback(claim.setbacks);
        self.store.release_job(&claim.lease, pause, Release::FailedAttempt).await?;
        Ok(Step::Setback)
    }

    async fn fail(&self, claim: &Claim, why: &str) -> Result<Step, StoreError> {
        self.store.fail_job(&claim.lease, why).await?;
        tracing::info!(job = ?claim.job.key, why, "a job has failed");
        Ok(Step::Failed)
    }
}

#[cfg(test)]
mod tests;
