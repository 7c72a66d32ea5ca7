//! The workers of one server: a task claims due jobs, and each is processed in a task of its own.
//!
//! An account may claim another job only while it has fewer in progress than there are workers
//! free: one holds at most half of the workers, and jobs that hang do not delay others.

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
    SUBMIT_LIMIT, SUBMIT_UNRECORDED_RETRY_FOR,
};
use crate::store::StoreError;

pub(crate) trait Work: Clone + Send + Sync + 'static {
    type Claim: Send + 'static;

    fn at_once(&self) -> usize;

    /// Takes note of how many are being processed.
    fn busy(&self, _: usize) {}

    fn claim(&self, turn: &Turn) -> impl Future<Output = Claimed<Self::Claim>> + Send;

    /// Waits until there may be work to claim, at most this long.
    fn due(&self, at_most: Duration, except: &[AccountId]) -> impl Future<Output = ()> + Send;

    fn process(
        self,
        claim: Self::Claim,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    fn clean_up(self) -> impl Future<Output = ()> + Send;
}

pub(crate) type Claimed<T> = Result<Option<(AccountId, T)>, StoreError>;

impl Work for Worker {
    type Claim = Claim;

    fn at_once(&self) -> usize {
        self.settings.workers
    }

    fn busy(&self, busy: usize) {
        self.activity.busy.store(busy, Relaxed);
    }

    async fn claim(&self, turn: &Turn) -> Claimed<Claim> {
        let claim = self.store.claim_job(JOB_LEASE, turn).await?;
        if let Some(claim) = &claim {
            self.activity.claim_delay.observe(claim.overdue.as_secs_f64());
        }
        Ok(claim.map(|claim| (claim.lease.job.account, claim)))
    }

    async fn due(&self, at_most: Duration, except: &[AccountId]) {
        self.store.job_due(at_most, except).await;
    }

    async fn process(self, claim: Claim, stop: CancellationToken) -> Result<(), StoreError> {
        self.step(claim, stop.cancelled()).await
    }

    /// Fails jobs whose submission was lost, and deletes those that ended long ago.
    async fn clean_up(self) {
        let keep = Duration::from_secs(24 * 3600 * self.settings.keep_days as u64);
        let mut next_deletion = Instant::now();
        // A server that starts may be the first to see the store after an outage.
        let mut grace_end = Instant::now() + SUBMIT_LATE_GRACE;
        let warn = |error: StoreError| {
            tracing::warn!(error = error_chain(&error), "jobs could not be cleaned up");
        };
        loop {
            let in_grace = Instant::now() < grace_end;
            let limit = if in_grace { SUBMIT_UNRECORDED_RETRY_FOR } else { SUBMIT_LIMIT };
            match guarded(self.store.fail_late_submissions(limit, SUBMIT_UNKNOWN)).await {
                Ok(failed) => failed.iter().for_each(|job| {
                    tracing::error!(?job, reason = SUBMIT_UNKNOWN, "a job has failed");
                }),
                Err(error) => {
                    warn(error);
                    grace_end = Instant::now() + SUBMIT_LATE_GRACE;
                }
            }
            while next_deletion <= Instant::now() {
                let deleted = guarded(self.store.delete_ended_jobs(keep)).await;
                if !matches!(deleted, Ok(JOBS_AT_ONCE)) {
                    next_deletion = Instant::now() + JOB_DELETE_INTERVAL;
                }
                deleted.map_or_else(warn, |_| ());
            }
            sleep(SUBMIT_CHECK_INTERVAL).await;
        }
    }
}

/// Worker tasks. If the pool is dropped they stop, and other servers take over.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    stop: CancellationToken,
    drain: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl WorkerPool {
    /// Starts workers. When `drain` is cancelled they claim no more jobs, and finish theirs.
    pub(crate) fn start(worker: &impl Work, drain: &CancellationToken) -> Self {
        let (stop, drain) = (CancellationToken::new(), drain.clone());
        let (worker, stopping, draining) = (worker.clone(), stop.clone(), drain.clone());
        let task = tokio::spawn(async move {
            if worker.at_once() > 0 {
                let clean_up = stopping.run_until_cancelled(worker.clone().clean_up());
                tokio::join!(work(worker, draining, stopping.clone()), clean_up);
            }
        });
        Self { stop, drain, task: AbortOnDropHandle::new(task) }
    }

    /// Stops the workers; they release their jobs.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.drain.cancel();
        if timeout(Duration::from_secs(5), self.task).await.is_err() {
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

/// Claims jobs until `drain`, then waits for those in progress, which end or are stopped.
async fn work(worker: impl Work, drain: CancellationToken, stop: CancellationToken) {
    let (mut in_progress, mut turn) = (JobsInProgress::default(), Turn::default());
    while !drain.is_cancelled() {
        while in_progress.one_is_done().now_or_never().is_some() {}
        let busy = in_progress.accounts.len();
        worker.busy(busy);
        if busy == worker.at_once() {
            in_progress.one_is_done().await;
            continue;
        }
        turn.except = in_progress.accounts_with_enough(worker.at_once() - busy);
        match guarded(worker.claim(&turn)).await {
            Ok(Some((account, claim))) => {
                turn.after = account;
                in_progress.accounts.push(account);
                let step = worker.clone().process(claim, stop.clone());
                in_progress.tasks.spawn(async move {
                    match guarded(step).await {
                        Ok(()) | Err(StoreError::LeaseLost) => {}
                        Err(error) => {
                            tracing::error!(
                                error = error_chain(&error),
                                "the store failed a worker"
                            );
                        }
                    }
                    account
                });
            }
            Ok(None) => {
                let mut due = pin!(worker.due(Duration::from_secs(2), &turn.except));
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
                drain.run_until_cancelled(sleep(Duration::from_secs(1))).await;
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
