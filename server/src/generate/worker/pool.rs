//! The workers of one server: a task claims due jobs, and each is processed in a task of its own.
//!
//! An account may claim another job only while it has fewer in progress than there are workers
//! free. So one account holds at most half of the workers, two hold at most a third each, and jobs
//! that hang do not delay those of other accounts.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Activity, Worker};
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
pub struct WorkerPool {
    stop: CancellationToken,
    /// Also cancelled with `stop`.
    drain: CancellationToken,
    tasks: JoinSet<()>,
}

impl WorkerPool {
    /// Starts workers on the current Tokio runtime.
    pub(crate) fn start(worker: &Worker) -> Self {
        let stop = CancellationToken::new();
        let drain = stop.child_token();
        let mut tasks = JoinSet::new();
        if worker.settings.workers > 0 {
            tasks.spawn(work(worker.clone(), drain.clone(), stop.clone()));
            let (worker, until) = (worker.clone(), stop.clone());
            tasks.spawn(async move {
                until.run_until_cancelled(clean_up(worker)).await;
            });
        }
        Self { stop, drain, tasks }
    }

    /// When it is cancelled, workers claim no more jobs, and go on with those that they have.
    pub(crate) fn drain(&self) -> CancellationToken {
        self.drain.clone()
    }

    /// Stops the workers; they release their jobs.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(WORKER_STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some workers did not release their jobs in time");
        }
    }
}

struct JobsInProgress {
    workers: usize,
    activity: Arc<Activity>,
    /// Each returns its account.
    jobs: JoinSet<AccountId>,
    by_account: HashMap<AccountId, usize>,
}

impl JobsInProgress {
    fn free(&self) -> usize {
        self.workers - self.jobs.len()
    }

    /// The accounts that may not claim another job.
    fn accounts_with_enough(&self) -> Vec<AccountId> {
        let free = self.free();
        let with_enough = self.by_account.iter().filter(|(_, jobs)| **jobs >= free);
        with_enough.map(|(account, _)| *account).collect()
    }

    fn start(&mut self, worker: Worker, claim: Claim, stop: CancellationToken) {
        let account = claim.job.key.account;
        *self.by_account.entry(account).or_default() += 1;
        self.activity.busy.fetch_add(1, Relaxed);
        self.jobs.spawn(async move {
            let step = AssertUnwindSafe(worker.step(claim, stop.cancelled()));
            match step.catch_unwind().await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    tracing::error!(error = error_chain(&error), "the store failed a worker");
                }
                Err(_) => tracing::error!("a worker panicked"),
            }
            account
        });
    }

    /// Waits until a job is done, for ever if there is none, and returns its account.
    async fn one_is_done(&mut self) -> AccountId {
        let account = loop {
            match self.jobs.join_next().await {
                Some(Ok(account)) => break account,
                // It catches panics, so there is no such end.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        };
        self.activity.busy.fetch_sub(1, Relaxed);
        let jobs = self.by_account.entry(account).or_default();
        *jobs = jobs.saturating_sub(1);
        if *jobs == 0 {
            self.by_account.remove(&account);
        }
        account
    }
}

/// Claims jobs until `drain`, then waits for those in progress, which end or are stopped.
async fn work(worker: Worker, drain: CancellationToken, stop: CancellationToken) {
    let workers = worker.settings.workers;
    let activity = worker.activity.clone();
    let (jobs, by_account) = Default::default();
    let mut in_progress = JobsInProgress { workers, activity, jobs, by_account };
    let mut turn = Turn::default();
    while !drain.is_cancelled() {
        while in_progress.one_is_done().now_or_never().is_some() {}
        if in_progress.free() == 0 {
            in_progress.one_is_done().await;
            continue;
        }
        turn.except = in_progress.accounts_with_enough();
        match guarded(worker.store.claim_job(JOB_LEASE, &turn)).await {
            Ok(Some(claim)) => {
                turn.after = claim.job.key.account;
                worker.activity.claim_delay.observe(claim.overdue.as_secs_f64());
                in_progress.start(worker.clone(), claim, stop.clone());
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
    while !in_progress.jobs.is_empty() {
        in_progress.one_is_done().await;
    }
}

/// A panic is an error, so that the task goes on.
async fn guarded<T>(step: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let step = AssertUnwindSafe(step).catch_unwind().await;
    step.unwrap_or_else(|_| Err(StoreError::Internal("a step of the store panicked".into())))
}

/// Fails jobs whose submission was lost, and deletes those that ended long ago.
async fn clean_up(worker: Worker) {
    let keep = Duration::from_secs(24 * 3600 * worker.settings.keep_days as u64);
    let mut next_deletion = Instant::now();
    // A server that starts may be the first to see the store after an outage.
    let mut grace_end = Instant::now() + SUBMIT_LATE_GRACE;
    loop {
        let in_grace = Instant::now() < grace_end;
        let limit = if in_grace { SUBMIT_UNRECORDED_RETRY_FOR } else { SUBMIT_LIMIT };
        match guarded(worker.store.fail_late_submissions(limit, SUBMIT_UNKNOWN)).await {
            Ok(failed) => failed.iter().for_each(|job| {
                tracing::error!(?job, reason = SUBMIT_UNKNOWN, "a job has failed");
            }),
            Err(error) => {
                warn(&error);
                grace_end = Instant::now() + SUBMIT_LATE_GRACE;
            }
        }
        while next_deletion <= Instant::now() {
            match guarded(worker.store.delete_ended_jobs(keep)).await {
                Ok(JOBS_AT_ONCE) => continue,
                Ok(_) => {}
                Err(error) => warn(&error),
            }
            next_deletion = Instant::now() + JOB_DELETE_INTERVAL;
        }
        sleep(SUBMIT_CHECK_INTERVAL).await;
    }
}

fn warn(error: &StoreError) {
    tracing::warn!(error = error_chain(error), "jobs could not be cleaned up");
}
