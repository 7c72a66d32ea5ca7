//! Submission: reserve the job's name, submit the request to the provider once, record the result.
//!
//! A submission may cost money, so no request is ever submitted twice: a repeated one finds the job
//! of the first one (S-36), and each submission is completed by its task, even without the client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use super::{Outcomes, Provider, SubmitError, bounded_reason, count};
use crate::blobs::urls::Assets;
use crate::domain::{Caller, JobKey, JobRecord, JobState, NewJob, ProviderTicket, Reserved};
use crate::error_chain::error_chain;
use crate::limits::{
    SUBMIT_FINISH_TIMEOUT, SUBMIT_RECORD_RETRY_FOR, SUBMIT_RETRY_DELAY_MAX, SUBMIT_RETRY_DELAY_MIN,
    SUBMIT_TIMEOUT, SUBMIT_UNRECORDED_RETRY_FOR, SUBMIT_WAIT,
};
use crate::store::{JobStore, StoreError};

/// The target of the lines about accepted generations, which must not be lost.
pub(crate) const LOG_TARGET: &str = module_path!();

/// The reason of a failed job that the provider may have accepted.
pub(super) const SUBMIT_UNKNOWN: &str = "it is not known whether the provider took the generation";

/// Submits jobs. Clones share their tasks.
#[derive(Clone)]
pub struct Submitter {
    store: Arc<dyn JobStore>,
    provider: Arc<dyn Provider>,
    assets: Assets,
    tasks: TaskTracker,
    /// Those of `tasks` that record an accepted job.
    unrecorded: TaskTracker,
    pub(crate) outcomes: Outcomes,
}

#[derive(Debug, thiserror::Error)]
pub enum SubmissionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Provider(#[from] SubmitError),
    /// An equal request is still being submitted after [`SUBMIT_WAIT`].
    #[error("an equal request with this clientJobId is still being handed to the provider")]
    InProgress,
}

type Submission = Result<(JobKey, ProviderTicket), SubmissionError>;

impl Submitter {
    pub fn new(store: Arc<dyn JobStore>, provider: Arc<dyn Provider>, assets: Assets) -> Self {
        let (tasks, unrecorded) = (TaskTracker::new(), TaskTracker::new());
        Self { store, provider, assets, tasks, unrecorded, outcomes: Outcomes::default() }
    }

    /// How many accepted jobs are not recorded yet: those that were open when the store failed.
    pub(crate) fn unrecorded(&self) -> usize {
        self.unrecorded.len()
    }

    /// Submits a job, or finds the one that already has its name and waits until it is submitted.
    /// `held` is kept until the submission has ended, with or without the caller.
    ///
    /// After [`SubmitError::Unknown`] the job exists and has failed; after other errors there is
    /// none.
    pub async fn submit(
        &self,
        caller: &Caller,
        new: NewJob,
        held: impl Send + 'static,
    ) -> Submission {
        let reserve = || self.store.reserve_job(caller, new.clone());
        // If the first submission is refused meanwhile, the name is free again.
        let is_submitting = |reserved: &Result<_, StoreError>| matches!(reserved, Ok(Reserved::Existing(job)) if job.state == JobState::Submitting);
        let job = match repeat_while(is_submitting, SUBMIT_WAIT, reserve).await? {
            Reserved::New(job) => job,
            Reserved::Existing(job) => return submission(job),
        };
        let this = self.clone();
        let task = self.tasks.spawn(async move {
            let _held = held;
            this.dispatch(&job).await
        });
        // It catches panics, so it ends early only with the runtime.
        task.await.unwrap_or(Err(SubmissionError::InProgress))
    }

    pub async fn finish(&self) {
        self.tasks.close();
        if timeout(SUBMIT_FINISH_TIMEOUT, self.tasks.wait()).await.is_err() {
            tracing::error!(count = self.tasks.len(), "submissions did not end in time");
        }
    }

    async fn dispatch(&self, job: &JobRecord) -> Submission {
        let key = &job.key;
        let request = self.assets.addressed(&job.request);
        let call = AssertUnwindSafe(self.provider.submit(&request)).catch_unwind();
        let error = match timeout(SUBMIT_TIMEOUT, call).await {
            Ok(Ok(Ok(ticket))) => return self.record_accepted(key, ticket).await,
            Ok(Ok(Err(SubmitError::Refused(why)))) => SubmitError::Refused(bounded_reason(&why)),
            Ok(Ok(Err(error))) => error,
            Ok(Err(_)) => SubmitError::Unknown("the provider's client panicked".to_owned()),
            Err(_) => SubmitError::Unknown("it took too long".to_owned()),
        };
        let outcome = match &error {
            SubmitError::Refused(_) => "refused",
            SubmitError::Unknown(cause) => {
                tracing::error!(job = ?key, cause, "a provider may have accepted a generation");
                "unknown"
            }
            SubmitError::NotAuthorized(reason) => {
                tracing::error!(job = ?key, reason, "the provider refuses this service");
                "unavailable"
            }
            SubmitError::Unavailable(_) | SubmitError::Busy(..) => {
                tracing::warn!(job = ?key, cause = ?error, "the provider is unavailable");
                "unavailable"
            }
        };
        count(&self.outcomes, outcome);
        if let SubmitError::Unknown(_) = error {
            let lost = || self.store.job_lost(key, SUBMIT_UNKNOWN);
            return submission(self.record(key, SUBMIT_RECORD_RETRY_FOR, lost).await?);
        }
        until_available(SUBMIT_RECORD_RETRY_FOR, || self.store.discard_job(key)).await?;
        Err(error.into())
    }

    /// Records that the provider accepted a job, in the background if a client would wait too long.
    async fn record_accepted(&self, key: &JobKey, ticket: ProviderTicket) -> Submission {
        // The output is paid for; if the server dies now, this line is the only trace of it.
        count(&self.outcomes, "accepted");
        let request_id = ticket.request_id.clone();
        tracing::info!(job = ?key, request_id = &*request_id, "the provider accepted a generation");
        let (this, job) = (self.clone(), key.clone());
        let recording = self.tasks.spawn(self.unrecorded.track_future(async move {
            let step = || this.store.job_submitted(&job, ticket.clone());
            let recorded = this.record(&job, SUBMIT_UNRECORDED_RETRY_FOR, step).await;
            let cause = match &recorded {
                Ok(job) if job.state.ticket() == Some(&ticket) => return recorded,
                Ok(_) => "the job has another ticket".to_owned(),
                Err(error) => error_chain(error),
            };
            tracing::error!(?job, request_id = &*ticket.request_id, cause, "{UNRECORDED}");
            recorded
        }));
        if let Ok(Ok(recorded)) = timeout(SUBMIT_RECORD_RETRY_FOR, recording).await {
            return submission(recorded?);
        }
        let late = "an accepted generation is not recorded yet";
        tracing::warn!(job = ?key, request_id = &*request_id, "{late}");
        Err(StoreError::OutcomeUnknown(late.into()).into())
    }

    /// Records the result of a submission and returns the job as it is then.
    async fn record<'a>(
        &'a self,
        key: &'a JobKey,
        limit: Duration,
        step: impl Fn() -> BoxFuture<'a, Result<JobRecord, StoreError>>,
    ) -> Result<JobRecord, StoreError> {
        match until_available(limit, step).await {
            // An earlier try without response succeeded, or a worker has failed the job.
            Err(StoreError::NotFound) => {
                until_available(limit, || self.store.job_by_key(key)).await
            }
            result => result,
        }
    }
}

/// What the log says of an output that is paid for and never fetched.
const UNRECORDED: &str = "a generation was accepted by the provider but could not be recorded";

/// Repeats a step while the store is unavailable.
async fn until_available<'a, T>(
    limit: Duration,
    step: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
) -> Result<T, StoreError> {
    use StoreError::{NotDurable, OutcomeUnknown, Unavailable};
    let is_unavailable = |result: &Result<T, _>| {
        matches!(result, Err(Unavailable(_) | OutcomeUnknown(_) | NotDurable { .. }))
    };
    match repeat_while(is_unavailable, limit, step).await {
        // The provider was called, whatever the store has.
        Err(Unavailable(cause) | NotDurable { cause, .. }) => Err(OutcomeUnknown(cause)),
        result => result,
    }
}

/// Repeats a step with a doubling delay while its result is `transient`.
async fn repeat_while<'a, T>(
    transient: impl Fn(&T) -> bool,
    limit: Duration,
    step: impl Fn() -> BoxFuture<'a, T>,
) -> T {
    let deadline = Instant::now() + limit;
    let mut delay = SUBMIT_RETRY_DELAY_MIN;
    loop {
        let result = step().await;
        if !transient(&result) || Instant::now() + delay > deadline {
            return result;
        }
        sleep(delay).await;
        delay = (delay * 2).min(SUBMIT_RETRY_DELAY_MAX);
    }
}

/// The result for the caller, whichever request created the job.
fn submission(job: JobRecord) -> Submission {
    match (job.state.ticket(), &job.state) {
        (Some(ticket), _) => Ok((job.key, ticket.clone())),
        (None, JobState::Failed(_, reason)) => Err(SubmitError::Unknown(reason.to_string()).into()),
        (None, _) => Err(SubmissionError::InProgress),
    }
}

#[cfg(test)]
mod tests;
