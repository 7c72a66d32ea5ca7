//! The worker: one [`Worker::step`] claims one due job, polls the provider once, and releases or
//! ends the job.
//!
//! The claim is a lease that expires when the worker dies; writes without a valid lease are
//! refused. The URLs of outputs are derived from their job, so a repeated step stores them once.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::SignedDuration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::submit::SUBMIT_UNKNOWN;
use super::{Output, OutputStore, PollError, Progress, Provider, bounded_reason};
use crate::clock::Clock;
use crate::domain::{Claim, JobState, Lease, PromptImage, ProviderTicket, Release};
use crate::error_chain::error_chain;
use crate::limits::{
    JOB_HEARTBEAT, JOB_LEASE, JOB_POLL_AGE_DIVISOR, JOB_POLL_INTERVAL_MAX, JOB_POLL_INTERVAL_MIN,
    JOB_POLL_TIMEOUT, JOB_RETRY_DELAY_MAX, JOB_RETRY_DELAY_MIN, JOB_RETRY_FOR, SUBMIT_LIMIT,
    WORKER_ERROR_PAUSE, WORKER_IDLE, WORKER_STOP_TIMEOUT,
};
use crate::store::{JobQueue, StoreError};

/// Processes jobs. Any number may run concurrently, on any number of servers.
#[derive(Clone)]
pub struct Worker {
    pub(crate) store: Arc<dyn JobQueue>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) outputs: OutputStore,
    /// Dates images and sets the poll interval.
    pub(crate) clock: Clock,
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No job was due.
    Idle,
    /// The provider is not done.
    Waiting,
    Completed,
    Failed,
    RetryLater,
    /// Another worker has taken the job over, or it has ended.
    LeaseLost,
    Stopped,
}

type StepResult = Result<Step, StoreError>;

impl Worker {
    /// [`Worker::step_until`] without a stop.
    #[cfg(test)]
    pub async fn step(&self) -> StepResult {
        self.step_until(std::future::pending()).await
    }

    /// Processes one job, if one is due. When `stop` is ready the job is released as it is. If the
    /// store fails, a claimed job is due again when its lease expires.
    pub async fn step_until(&self, stop: impl Future<Output = ()>) -> StepResult {
        let Some(claim) = self.store.claim_job(JOB_LEASE, SUBMIT_LIMIT).await? else {
            return Ok(Step::Idle);
        };
        let lease = &claim.lease;
        let step = tokio::select! {
            step = AssertUnwindSafe(self.process(&claim)).catch_unwind() => match step {
                Ok(step) => step,
                // No state is inconsistent, since every store method is atomic.
                Err(_) => self.retry_later(&claim, "processing it panicked", "see the panic").await,
            },
            error = self.heartbeat(lease) => Err(error),
            () = stop => {
                let released = self.store.release_job(lease, Duration::ZERO, Release::Shutdown);
                released.await.map(|()| Step::Stopped)
            }
        };
        let step = match step {
            Err(StoreError::LeaseLost) => Ok(Step::LeaseLost),
            step => step,
        };
        tracing::debug!(job = ?claim.job.key, ?step, "processed a job");
        step
    }

    /// Renews the lease until it is lost.
    async fn heartbeat(&self, lease: &Lease) -> StoreError {
        loop {
            sleep(JOB_HEARTBEAT).await;
            match self.store.renew_lease(lease, JOB_LEASE).await {
                Err(StoreError::LeaseLost) => return StoreError::LeaseLost,
                // The lease has not expired yet; the next renewal may succeed.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
                Ok(()) => {}
            }
        }
    }

    async fn process(&self, claim: &Claim) -> StepResult {
        let (JobState::Queued(ticket) | JobState::InProgress(ticket)) = &claim.job.state else {
            return self.fail(claim, SUBMIT_UNKNOWN).await;
        };
        let poll = self.provider.poll(ticket, &claim.job.request);
        let poll = timeout(JOB_POLL_TIMEOUT, poll).await;
        match poll.unwrap_or_else(|_| Err(PollError("timeout".to_owned()))) {
            Ok(Progress::Queued) => self.release(claim, Release::Waiting).await,
            Ok(Progress::InProgress) => self.release(claim, Release::InProgress).await,
            Ok(Progress::Completed(outputs)) if outputs.is_empty() => {
                self.fail(claim, "the provider completed it without output").await
            }
            Ok(Progress::Completed(outputs)) => self.save(claim, ticket, &outputs).await,
            Ok(Progress::Failed(reason)) => self.fail(claim, &bounded_reason(&reason)).await,
            Err(PollError(cause)) => {
                self.retry_later(claim, "the provider could not be polled", &cause).await
            }
        }
    }

    /// Stores the outputs, then completes the job with all of them at once.
    async fn save(&self, claim: &Claim, ticket: &ProviderTicket, outputs: &[Output]) -> StepResult {
        let mut images = Vec::with_capacity(outputs.len());
        for (index, output) in outputs.iter().enumerate() {
            let url = match self.outputs.put(&claim.job, ticket, index, output).await {
                Ok(url) => url,
                Err(error) => {
                    let cause = error.to_string();
                    return self.retry_later(claim, "its output could not be stored", &cause).await;
                }
            };
            let (width, height) = (output.width, output.height);
            images.push(PromptImage { url, width, height, created_at: self.clock.now() });
        }
        let prompt = self.store.complete_job(&claim.lease, images).await?;
        tracing::info!(job = ?claim.job.key, %prompt, "a job is completed");
        Ok(Step::Completed)
    }

    async fn release(&self, claim: &Claim, outcome: Release) -> StepResult {
        let age = self.clock.now().duration_since(claim.job.created_at);
        self.store.release_job(&claim.lease, poll_interval(age), outcome).await?;
        Ok(Step::Waiting)
    }

    /// Releases the job for another attempt, or fails it for `reason` if there were enough.
    /// `cause` is for the log.
    async fn retry_later(&self, claim: &Claim, reason: &str, cause: &str) -> StepResult {
        let failed_attempts = claim.failed_attempts;
        tracing::warn!(job = ?claim.job.key, failed_attempts, cause, "{reason}");
        let retried_for: Duration = (0..failed_attempts).map(retry_delay).sum();
        if retried_for >= JOB_RETRY_FOR {
            let hours = JOB_RETRY_FOR.as_secs() / 3600;
            return self.fail(claim, &format!("{reason} for {hours} hours")).await;
        }
        let delay = retry_delay(failed_attempts);
        self.store.release_job(&claim.lease, delay, Release::FailedAttempt).await?;
        Ok(Step::RetryLater)
    }

    async fn fail(&self, claim: &Claim, reason: &str) -> StepResult {
        self.store.fail_job(&claim.lease, reason).await?;
        tracing::info!(job = ?claim.job.key, reason, "a job has failed");
        Ok(Step::Failed)
    }
}

/// The older a job is, the less often it is polled.
fn poll_interval(age: SignedDuration) -> Duration {
    let age = Duration::try_from(age).unwrap_or_default();
    (age / JOB_POLL_AGE_DIVISOR).clamp(JOB_POLL_INTERVAL_MIN, JOB_POLL_INTERVAL_MAX)
}

/// The delay doubles with each failed attempt in a row.
fn retry_delay(failed_attempts_before: u32) -> Duration {
    let factor = 2_u32.checked_pow(failed_attempts_before).unwrap_or(u32::MAX);
    JOB_RETRY_DELAY_MIN.saturating_mul(factor).min(JOB_RETRY_DELAY_MAX)
}

/// Worker tasks. If the pool is dropped they stop at once, and other servers take their jobs
/// over when the leases expire.
#[derive(Debug)]
pub struct WorkerPool {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl WorkerPool {
    /// Starts this many workers on the current Tokio runtime; 0 is allowed.
    pub fn start(worker: &Worker, size: usize) -> Self {
        let stop = CancellationToken::new();
        let tasks = (0..size).map(|_| run(worker.clone(), stop.clone())).collect();
        Self { stop, tasks }
    }

    /// Stops the workers; they release their jobs.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(WORKER_STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some workers did not release their jobs in time");
        }
    }
}

async fn run(worker: Worker, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let step = worker.step_until(stop.cancelled());
        let pause = match AssertUnwindSafe(step).catch_unwind().await {
            Ok(Ok(Step::Idle)) => worker.store.job_due(WORKER_IDLE),
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => {
                tracing::error!(error = error_chain(&error), "the store failed a worker");
                sleep(WORKER_ERROR_PAUSE).boxed()
            }
            Err(_) => {
                tracing::error!("a worker panicked and continues");
                sleep(WORKER_ERROR_PAUSE).boxed()
            }
        };
        stop.run_until_cancelled(pause).await;
    }
}

#[cfg(test)]
mod tests;
