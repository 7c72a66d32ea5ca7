//! The workers of one server: a task claims due jobs, and each is processed in a task of its own.
//!
//! An account may claim another job only while it has fewer in progress than there are workers
//! free. So one account holds at most half of the workers, two hold at most a third each, and jobs
//! that hang do not delay those of other accounts.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Worker;
use crate::domain::{AccountId, Claim, Turn};
use crate::error_chain::error_chain;
use crate::generate::submit::SUBMIT_UNKNOWN;
use crate::limits::{
    JOB_DELETE_INTERVAL, JOB_LEASE, JOBS_AT_ONCE, SUBMIT_CHECK_INTERVAL, SUBMIT_LATE_GRACE,
    SUBMIT_LIMIT, SUBMIT_UNRECORDED_RETRY_FOR, WORKER_ERROR_PAUSE, WORKER_IDLE,
    WORKER_STOP_TIMEOUT,
};
use crate::store::StoreError;

/// Worker tasks. If the pool is dropped they stop at once, and other servers take their jobs
/// over when the leases expire.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    stop: CancellationToken,
    /// Also cancelled with `stop`.
    drain: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl WorkerPool {
    /// Starts workers on the current Tokio runtime.
    pub(crate) fn start(worker: &Worker) -> Self {
        let stop = CancellationToken::new();
        let drain = stop.child_token();
        let (worker, stopping, draining) = (worker.clone(), stop.clone(), drain.clone());
        let task = tokio::spawn(async move {
            if worker.settings.workers > 0 {
                let clean_up = stopping.run_until_cancelled(clean_up(worker.clone()));
                tokio::join!(work(worker, draining, stopping.clone()), clean_up);
            }
        });
        Self { stop, drain, task: AbortOnDropHandle::new(task) }
    }

    /// When it is cancelled, workers claim no more jobs, and go on with those that they have.
    pub(crate) fn drain(&self) -> CancellationToken {
        self.drain.clone()
    }

    /// Stops the workers; they release their jobs.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        if timeout(WORKER_STOP_TIMEOUT, self.task).await.is_err() {
            tracing::warn!("some workers did not release their jobs in time");
        }
    }
}

/// Jobs in progress, of which each returns its account.
#[derive(Default)]
struct JobsInProgress {
    tasks: JoinSet<AccountId>,
    /// One entry for each task.
    accounts: Vec<AccountId>,
}

impl JobsInProgress {
    /// The accounts that may not claim another job, some more than once.
    fn accounts_with_enough(&self, free: usize) -> Vec<AccountId> {
        let jobs_of = |account| self.accounts.iter().filter(|of| *of == account).count();
        let with_enough = self.accounts.iter().filter(|account| jobs_of(*account) >= free);
        with_enough.copied().collect()
    }

    /// Waits until a job is done, for ever if there is none, and returns its account.
    async fn one_is_done(&mut self) -> AccountId {
        // A task catches panics, so there is no other end of it.
        let Some(Ok(account)) = self.tasks.join_next().await else {
            return std::future::pending().await;
        };
        if let Some(at) = self.accounts.iter().position(|of| *of == account) {
            self.accounts.swap_remove(at);
        }
        account
    }
}

async fn process(worker: Worker, claim: Claim, stop: CancellationToken) -> AccountId {
    let account = claim.job.key.account;
    match guarded(worker.step(claim, stop.cancelled())).await {
        Ok(()) | Err(StoreError::LeaseLost) => {}
        Err(error) => tracing::error!(error = error_chain(&error), "the store failed a worker"),
    }
    account
}

/// Claims jobs until `drain`, then waits for those in progress, which end or are stopped.
async fn work(worker: Worker, drain: CancellationToken, stop: CancellationToken) {
    let (mut in_progress, mut turn) = (JobsInProgress::default(), Turn::default());
    while !drain.is_cancelled() {
        while in_progress.one_is_done().now_or_never().is_some() {}
        let busy = in_progress.accounts.len();
        worker.activity.busy.store(busy, Relaxed);
        if busy == worker.settings.workers {
            in_progress.one_is_done().await;
            continue;
        }
        turn.except = in_progress.accounts_with_enough(worker.settings.workers - busy);
        match guarded(worker.store.claim_job(JOB_LEASE, &turn)).await {
            Ok(Some(claim)) => {
                turn.after = claim.job.key.account;
                worker.activity.claim_delay.observe(claim.overdue.as_secs_f64());
                in_progress.accounts.push(turn.after);
                in_progress.tasks.spawn(process(worker.clone(), claim, stop.clone()));
            }
            Ok(None) => {
                let mut due = pin!(worker.store.job_due(WORKER_IDLE, &turn.except));
                loop {
                    tokio::select! {
                        () = &mut due => break,
                        () = drain.cancelled() => break,
                        account = in_progress.one_is_done() => if turn.except.contains(&account) { break },
                    }
                }
            }
            Err(error) => {
                tracing::error!(error = error_chain(&error), "the store failed the workers");
                drain.run_until_cancelled(sleep(WORKER_ERROR_PAUSE)).await;
            }
        }
    }
    while !in_progress.accounts.is_empty() {
        in_progress.one_is_done().await;
    }
}

/// A panic is an error, so that the task goes on.
pub(super) async fn guarded<T>(
    step: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let step = AssertUnwindSafe(step).catch_unwind().await;
    step.unwrap_or_else(|_| Err(StoreError::Internal("it panicked".into())))
}

/// Fails jobs whose submission was lost, and deletes those that ended long ago.
async fn clean_up(worker: Worker) {
    let keep = Duration::from_secs(24 * 3600 * worker.settings.keep_days as u64);
    let mut next_deletion = Instant::now();
    // A server that starts may be the first to see the store after an outage.
    let mut grace_end = Instant::now() + SUBMIT_LATE_GRACE;
    let warn = |error: StoreError| {
        tracing::warn!(error = error_chain(&error), "jobs could not be cleaned up");
    };
    loop {
        let in_grace = Instant::now() < grace_end;
        let limit = if in_grace { SUBMIT_UNRECORDED_RETRY_FOR } else { SUBMIT_LIMIT };
        match guarded(worker.store.fail_late_submissions(limit, SUBMIT_UNKNOWN)).await {
            Ok(failed) => failed.iter().for_each(|job| {
                tracing::error!(?job, reason = SUBMIT_UNKNOWN, "a job has failed");
            }),
            Err(error) => {
                warn(error);
                grace_end = Instant::now() + SUBMIT_LATE_GRACE;
            }
        }
        while next_deletion <= Instant::now() {
            let deleted = guarded(worker.store.delete_ended_jobs(keep)).await;
            if !matches!(deleted, Ok(JOBS_AT_ONCE)) {
                next_deletion = Instant::now() + JOB_DELETE_INTERVAL;
            }
            deleted.map_or_else(warn, |_| ());
        }
        sleep(SUBMIT_CHECK_INTERVAL).await;
    }
}
