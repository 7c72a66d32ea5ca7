//! The worker: one [`Worker::step`] polls the provider once for a claimed job, and releases or ends
//! the job. [`pool`] claims jobs and runs many steps at once.
//!
//! The claim is a lease, without which writes are refused. The URLs of outputs are derived from
//! their job, so a repeated step stores them once.

pub(crate) mod output;
pub(crate) mod pool;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures::FutureExt;
use prometheus_client::metrics::histogram::Histogram;
use tokio::time::{sleep, timeout};

use self::output::DOWNLOAD;
use super::submit::SUBMIT_UNKNOWN;
use super::{JobSettings, Outcomes, Output, PollError, Progress, Provider, bounded_reason, count};
use crate::blobs::Blobs;
use crate::blobs::urls::Assets;
use crate::clock::Clock;
use crate::domain::{Claim, Lease, Release, SigningKey};
use crate::limits::{
    JOB_DOUBT_LIMIT, JOB_LEASE, JOB_POLL_TIMEOUT, JOB_PROVIDER_LIMIT, JOB_RETRY_DELAY_MAX,
    JOB_RETRY_DELAY_MIN, PROVIDER_RETRY_AFTER_MAX,
};
use crate::quota::Quota;
use crate::store::{JobQueue, Result, StoreError};

/// Processes jobs. Any number may run concurrently, on any number of servers.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) store: Arc<dyn JobQueue>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) blobs: Blobs,
    pub(crate) assets: Assets,
    /// URLs of outputs cannot be guessed without it.
    pub(crate) key: SigningKey,
    /// Sets the poll interval, and dates images.
    pub(crate) clock: Clock,
    pub(crate) settings: JobSettings,
    pub(crate) large: Quota,
    pub(crate) activity: Arc<Activity>,
}

pub(crate) struct Activity {
    pub(crate) busy: AtomicUsize,
    /// For how long jobs were due before they were claimed.
    pub(crate) claim_delay: Histogram,
    pub(crate) outcomes: Outcomes,
}

impl Default for Activity {
    fn default() -> Self {
        let claim_delay = Histogram::new([0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0, 120.0, 600.0]);
        Self { busy: AtomicUsize::new(0), claim_delay, outcomes: Outcomes::default() }
    }
}

impl Worker {
    /// Processes a claimed job. When `stop` is ready the job is released as it is. If the store
    /// fails, the job is due again when its lease expires.
    pub(crate) async fn step(&self, claim: Claim, stop: impl Future<Output = ()>) -> Result<()> {
        let step = tokio::select! {
            step = AssertUnwindSafe(self.process(&claim)).catch_unwind() => match step {
                Ok(step) => step,
                // No state is inconsistent, since every store method is atomic.
                Err(_) => {
                    let error = PollError::transient("");
                    self.retry_later(&claim, "processing it panicked", error).await
                }
            },
            error = self.heartbeat(&claim.lease) => Err(error),
            () = stop => self.store.release_job(&claim.lease, Duration::ZERO, Release::Shutdown).await,
        };
        tracing::debug!(job = ?claim.job.key, ?step, "processed a job");
        step
    }

    /// Renews the lease until it is lost.
    async fn heartbeat(&self, lease: &Lease) -> StoreError {
        loop {
            sleep(Duration::from_secs(5)).await;
            match self.store.renew_lease(lease, JOB_LEASE).await {
                Ok(()) => {}
                Err(error @ StoreError::LeaseLost) => return error,
                // The lease has not expired yet; the next renewal may succeed.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// Records what a job waits for, and what the provider says. Only a lost lease is an error.
    async fn note(
        &self,
        claim: &Claim,
        state: Option<&str>,
        waits_for: &str,
        has_begun: bool,
    ) -> Result<()> {
        match self.store.note_job(&claim.lease, state, waits_for, has_begun).await {
            outcome @ (Ok(()) | Err(StoreError::LeaseLost)) => return outcome,
            Err(error) => tracing::warn!(%error, "it could not be recorded what a job waits for"),
        }
        Ok(())
    }

    async fn process(&self, claim: &Claim) -> Result<()> {
        let Some(ticket) = claim.job.state.ticket() else {
            return self.fail(claim, SUBMIT_UNKNOWN).await;
        };
        let request = self.assets.addressed(&claim.job.request);
        let poll = timeout(JOB_POLL_TIMEOUT, self.provider.poll(ticket, &request)).await;
        match poll.unwrap_or_else(|_| Err(PollError::transient("timeout"))) {
            Ok(Progress::Queued) => self.wait(claim, Release::Waiting).await,
            Ok(Progress::InProgress) => self.wait(claim, Release::InProgress).await,
            Ok(Progress::Completed { outputs, provider_state }) => {
                if provider_state.is_some() || claim.job.waits_for.is_some() {
                    self.note(claim, provider_state.as_deref(), DOWNLOAD, true).await?;
                }
                self.save(claim, outputs).await
            }
            Err(error) => {
                let what = match error {
                    PollError::NotAuthorized(_) => "the provider refuses this service",
                    _ => "the provider could not be polled",
                };
                if !matches!(error, PollError::Permanent(_)) {
                    count(&self.activity.outcomes, "poll_failed");
                }
                self.retry_later(claim, what, error).await
            }
        }
    }

    /// Stores the outputs, then completes the job with all that can be kept: they are paid for.
    async fn save(&self, claim: &Claim, outputs: Vec<Output>) -> Result<()> {
        let (job, of) = (&claim.job, outputs.len());
        let mut images = Vec::new();
        let mut failure = PollError::permanent("the provider completed it without output");
        for (index, output) in outputs.into_iter().enumerate() {
            match self.put(claim, index, output).await {
                Ok(image) => images.push(image),
                Err(error) => {
                    if !self.may_retry(claim, SAVE, &error) {
                        tracing::warn!(job = ?job.key, index, %error, "an output cannot be used");
                    }
                    // What may pass counts, and longest what is not in doubt.
                    let may_pass = self.may_retry(claim, SAVE, &failure);
                    if !may_pass || matches!(error, PollError::Transient { .. }) {
                        failure = error;
                    }
                }
            }
        }
        if images.is_empty() || (images.len() < of && self.may_retry(claim, SAVE, &failure)) {
            return self.retry_later(claim, SAVE, failure).await;
        }
        let kept = images.len();
        let prompt = self.store.complete_job(&claim.lease, &job.request, images).await?;
        tracing::info!(job = ?job.key, %prompt, kept, count = of, "a job is completed");
        count(&self.activity.outcomes, "completed");
        Ok(())
    }

    /// Releases a job that the provider still has until its next poll.
    async fn wait(&self, claim: &Claim, outcome: Release) -> Result<()> {
        let age = self.clock.now().duration_since(claim.job.created_at);
        let age = Duration::try_from(age).unwrap_or_default();
        if age > JOB_PROVIDER_LIMIT {
            let days = JOB_PROVIDER_LIMIT.as_secs() / (24 * 3600);
            let reason = format!("the provider did not complete it within {days} days");
            return self.give_up(claim, &reason).await;
        }
        self.store.release_job(&claim.lease, poll_interval(age), outcome).await
    }

    /// Releases the job for another attempt after this error, or fails it if there were enough.
    async fn retry_later(&self, claim: &Claim, what: &str, error: PollError) -> Result<()> {
        let (job, failed_attempts) = (&claim.job.key, claim.failed_attempts);
        match &error {
            PollError::Permanent(_) => {}
            PollError::NotAuthorized(reason) => tracing::error!(?job, reason, "{what}"),
            cause => tracing::warn!(?job, failed_attempts, %cause, "{what}"),
        }
        if !self.may_retry(claim, what, &error) {
            if let PollError::Permanent(reason) | PollError::Doubtful(reason) = &error {
                return self.fail(claim, reason).await;
            }
            let hours = self.settings.retry_hours;
            let unit = if hours == 1 { "hour" } else { "hours" };
            return self.give_up(claim, &format!("{what} for {hours} {unit}")).await;
        }
        self.note(claim, None, &next_attempt(what, &error), what == SAVE).await?;
        let asked = match error {
            PollError::Transient { retry_after: Some(asked), .. } => asked,
            _ => Duration::ZERO,
        };
        let delay = retry_delay(failed_attempts).max(asked.min(PROVIDER_RETRY_AFTER_MAX));
        self.store.release_job(&claim.lease, delay, Release::FailedAttempt).await?;
        count(&self.activity.outcomes, "retried");
        Ok(())
    }

    fn may_retry(&self, claim: &Claim, what: &str, error: &PollError) -> bool {
        let hours = Duration::from_secs(3600 * self.settings.retry_hours as u64);
        match error {
            PollError::Permanent(_) => false,
            PollError::Transient { .. } | PollError::NotAuthorized(_) => claim.failing_for < hours,
            // Attempts that failed otherwise do not count.
            PollError::Doubtful(_) => {
                claim.failing_for < JOB_DOUBT_LIMIT.min(hours)
                    || claim.job.waits_for.as_deref() != Some(&*next_attempt(what, error))
            }
        }
    }

    /// Fails a job that the provider may still work on, and cancels it there.
    async fn give_up(&self, claim: &Claim, reason: &str) -> Result<()> {
        self.fail(claim, reason).await?;
        let (provider, job) = (self.provider.clone(), claim.job.key.clone());
        let Some(ticket) = claim.job.state.ticket().cloned() else { return Ok(()) };
        // In a task of its own, since the step ends with the lease.
        tokio::spawn(async move {
            if let Err(error) = provider.cancel(&ticket).await {
                tracing::warn!(?job, %error, "a failed job could not be cancelled at the provider");
            }
        });
        Ok(())
    }

    async fn fail(&self, claim: &Claim, reason: &str) -> Result<()> {
        let reason = bounded_reason(reason);
        self.store.fail_job(&claim.lease, &reason).await?;
        tracing::info!(job = ?claim.job.key, reason, "a job has failed");
        count(&self.activity.outcomes, "failed");
        Ok(())
    }
}

/// What has failed if an output was not stored.
const SAVE: &str = "its output could not be saved";

fn next_attempt(what: &str, error: &PollError) -> String {
    let doubt = if matches!(error, PollError::Doubtful(_)) { ", perhaps for good" } else { "" };
    format!("another attempt, because {what}{doubt}")
}

/// The older a job is, the less often it is polled: between these bounds, after each fifth of its age.
fn poll_interval(age: Duration) -> Duration {
    (age / 5).clamp(Duration::from_millis(100), Duration::from_secs(2))
}

/// The delay doubles with each failed attempt in a row.
fn retry_delay(failed_attempts_before: u32) -> Duration {
    let factor = 2_u32.checked_pow(failed_attempts_before).unwrap_or(u32::MAX);
    JOB_RETRY_DELAY_MIN.saturating_mul(factor).min(JOB_RETRY_DELAY_MAX)
}

#[cfg(test)]
mod tests;
