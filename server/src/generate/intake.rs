//! Taking a generation on: reserve its name, hand it to the provider once, and
//! remember what the provider said.
//!
//! What is handed over may cost money, so nothing is ever handed over twice. A
//! repeated request finds the job of the first one (S-36); and once a handing
//! over has begun it is seen through, even if the caller hangs up.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};

use super::{Provider, SubmitError, reason};
use crate::domain::{Caller, JobKey, JobRecord, JobState, NewJob, ProviderTicket, Reserved};
use crate::store::{Store, StoreError};

/// How long a provider may take to take an order.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(60);

/// After this long nobody is handing the job over any more.
pub const SUBMIT_LIMIT: Duration = Duration::from_secs(120);

/// How long a store that is away is told again and again how a handing over went.
const INSISTENCE: Duration = Duration::from_secs(10);

/// How long a repeated request waits for the first one.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Takes generations on. Copies share everything.
#[derive(Clone)]
pub struct Intake {
    store: Arc<dyn Store>,
    provider: Arc<dyn Provider>,
}

/// Why a generation was not taken on.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The provider did not take it.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// An equal request is being handed over, and that takes long.
    #[error("an equal request with this clientJobId is still being handed to the provider")]
    Busy,
}

impl Intake {
    /// Takes on generations that `provider` makes.
    pub fn new(store: Arc<dyn Store>, provider: Arc<dyn Provider>) -> Self {
        Self { store, provider }
    }

    /// Takes a job on, or finds the one that is there under its name.
    ///
    /// # Errors
    /// [`StoreError::UnknownVault`], [`StoreError::JobConflict`], and what kept
    /// the provider from taking it. After [`SubmitError::Unknown`] the job is
    /// there, and has failed; after any other error there is no new job.
    pub async fn take_on(
        &self,
        caller: &Caller,
        new: NewJob,
    ) -> Result<(JobKey, ProviderTicket), IntakeError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let existing = match self.store.reserve_job(caller, new.clone()).await? {
                Reserved::New(job) => return self.hand_over(job).await,
                Reserved::Existing(job) => job,
            };
            // A job that is gone was not taken, and its name is free again.
            if let Some(job) = self.settled(existing, deadline).await? {
                return taken(job);
            }
        }
    }

    /// Sees it through in a task of its own, whatever becomes of this one.
    async fn hand_over(&self, job: JobRecord) -> Result<(JobKey, ProviderTicket), IntakeError> {
        let this = self.clone();
        let task = tokio::spawn(async move { this.submit(&job).await });
        // The task catches panics itself; it ends early only with its runtime.
        task.await.unwrap_or(Err(IntakeError::Busy))
    }

    async fn submit(&self, job: &JobRecord) -> Result<(JobKey, ProviderTicket), IntakeError> {
        let submit = AssertUnwindSafe(self.provider.submit(&job.order)).catch_unwind();
        let unknown = |why: &str| Err(SubmitError::Unknown(why.to_owned()));
        let outcome = match timeout(SUBMIT_TIMEOUT, submit).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => unknown("a panic"),
            Err(_) => unknown("it took too long"),
        };
        match outcome {
            Ok(ticket) => {
                let step = || self.store.job_submitted(&job.key, ticket.clone());
                taken(self.remembered(&job.key, step).await?)
            }
            Err(SubmitError::Unknown(why)) => {
                tracing::error!(job = ?job.key, why, "it is not known whether a provider took a job");
                let step = || self.store.job_lost(&job.key, SUBMIT_UNKNOWN);
                taken(self.remembered(&job.key, step).await?)
            }
            Err(SubmitError::Unavailable(why)) => {
                tracing::warn!(why, "the provider could not be reached");
                insist(|| self.store.discard_job(&job.key)).await?;
                Err(SubmitError::Unavailable(why).into())
            }
            Err(SubmitError::Refused(why)) => {
                insist(|| self.store.discard_job(&job.key)).await?;
                Err(SubmitError::Refused(reason::shown(&why)).into())
            }
        }
    }

    /// The job after the step that says how its handing over went.
    async fn remembered<'a>(
        &'a self,
        job: &'a JobKey,
        step: impl Fn() -> BoxFuture<'a, Result<JobRecord, StoreError>>,
    ) -> Result<JobRecord, StoreError> {
        match insist(step).await {
            // A try whose end nobody saw may have done it, or a worker has given
            // the job up. It tells its own story.
            Err(StoreError::NotFound) => self.store.job_by_key(job).await,
            outcome => outcome,
        }
    }

    /// The job once the request that made it has its answer; `None` if it is gone
    /// by then.
    async fn settled(
        &self,
        mut job: JobRecord,
        deadline: Instant,
    ) -> Result<Option<JobRecord>, IntakeError> {
        let mut pause = PAUSE_MIN;
        while job.state == JobState::Submitting {
            if Instant::now() + pause > deadline {
                return Err(IntakeError::Busy);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
            job = match self.store.job_by_key(&job.key).await {
                Err(StoreError::NotFound) => return Ok(None),
                job => job?,
            };
        }
        Ok(Some(job))
    }
}

/// Takes a step again while the store is away: what a provider has taken is paid
/// for, and nobody else knows of it.
async fn insist<'a, T>(
    step: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let deadline = Instant::now() + INSISTENCE;
    let mut pause = PAUSE_MIN;
    loop {
        match step().await {
            Err(StoreError::Unavailable(_)) if Instant::now() + pause <= deadline => {}
            outcome => return outcome,
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Why a job has failed of which nobody knows whether the provider has it.
pub(super) const SUBMIT_UNKNOWN: &str = "it is not known whether the provider took the generation";

/// What the caller is told of a job, whichever request made it.
fn taken(job: JobRecord) -> Result<(JobKey, ProviderTicket), IntakeError> {
    match job.state {
        JobState::Queued(ticket)
        | JobState::InProgress(ticket)
        | JobState::Completed(ticket, _)
        | JobState::Failed(Some(ticket), _) => Ok((job.key, ticket)),
        JobState::Failed(None, reason) => Err(SubmitError::Unknown(reason.to_string()).into()),
        JobState::Submitting => Err(IntakeError::Busy),
    }
}

#[cfg(test)]
mod tests;
