//! Generation jobs in memory.
//!
//! The jobs of all accounts have one lock and one queue, so a claim is one step and scans nothing.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;
use tokio::time::sleep;

use super::account::later;
use super::{MemoryStore, Shared, read, write};
use crate::clock::Clock;
use crate::domain::{
    Caller, Claim, JobKey, JobRecord, JobState, Lease, NewJob, PromptImage, ProviderTicket,
    Release, Reserved, output_prompt,
};
use crate::store::{JobQueue, JobStore, Result, StoreError};

/// A job with what its workers need.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    digest: [u8; 32],
    /// Its place in the queue; `None` when it has ended.
    pub(super) due: Option<Due>,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    failed_attempts: u32,
}

/// What a job waits for, and the time since the start of the store at which it was reserved
/// or will be due. That time is monotonic, unless a test moves the clock.
pub(super) type Due = (Waiting, Duration);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waiting {
    ForSubmission,
    ForWorker,
}

#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) by_key: HashMap<JobKey, Job>,
    pub(super) queue: BTreeSet<(Due, JobKey)>,
}

impl Job {
    fn is_submitting(&self) -> bool {
        self.record.state == JobState::Submitting
    }

    fn enter(&mut self, state: JobState, shared: &Shared) {
        self.record.state = state;
        self.record.updated_at = later(shared.now(), self.record.updated_at);
    }

    /// Enters a final state.
    fn end(&mut self, state: JobState, shared: &Shared) {
        self.enter(state, shared);
        (self.due, self.fence) = (None, None);
    }
}

impl Jobs {
    /// Runs `step` on a job and then updates the queue; `None` if there is no such job.
    fn update<T>(&mut self, key: &JobKey, step: impl FnOnce(&mut Job) -> T) -> Option<T> {
        let job = self.by_key.get_mut(key)?;
        let before = job.due;
        let result = step(job);
        if let Some(before) = before {
            self.queue.remove(&(before, key.clone()));
        }
        self.queue.extend(job.due.map(|due| (due, key.clone())));
        Some(result)
    }

    /// The few jobs that are being submitted come first in the queue.
    fn first(&self, waiting: Waiting) -> Option<(Duration, &JobKey)> {
        let ((_, at), key) = self.queue.iter().find(|((of, _), _)| *of == waiting)?;
        Some((*at, key))
    }

    /// The job that has been due longest.
    fn due(&self, now: Duration, submit_limit: Duration) -> Option<JobKey> {
        let late = self.first(Waiting::ForSubmission).map(|(at, key)| (at + submit_limit, key));
        let both = self.first(Waiting::ForWorker).into_iter().chain(late);
        Some(both.filter(|(at, _)| *at <= now).min()?.1.clone())
    }
}

impl Shared {
    pub(super) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elapsed(&self) -> Duration {
        match &self.clock {
            Clock::System => self.start.0.elapsed(),
            Clock::Manual(_) => self.clock.now().duration_since(self.start.1).unsigned_abs(),
        }
    }

    /// Due for workers after a pause.
    fn due_in(&self, pause: Duration) -> Option<Due> {
        Some((Waiting::ForWorker, self.elapsed() + pause))
    }

    /// Runs `step` on a job if it is `valid`; fails with `error` otherwise.
    fn change_job<T>(
        &self,
        key: &JobKey,
        error: StoreError,
        valid: impl FnOnce(&Job) -> bool,
        step: impl FnOnce(&mut Job) -> T,
    ) -> Result<T> {
        let result = self.jobs().update(key, |job| valid(job).then(|| step(job)));
        self.jobs_changed.notify_one();
        result.flatten().ok_or(error)
    }

    fn change_leased<T>(&self, lease: &Lease, step: impl FnOnce(&mut Job) -> T) -> Result<T> {
        let valid = |job: &Job| job.fence == Some(lease.fence);
        self.change_job(&lease.job, StoreError::LeaseLost, valid, step)
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        self.read(caller, |account| {
            let shared = &self.shared;
            let key = JobKey { account: account.id, client_job_id: new.client_job_id };
            let mut jobs = shared.jobs();
            if let Some(job) = jobs.by_key.get(&key) {
                let same = job.digest == new.digest;
                let existing = same.then(|| Reserved::Existing(job.record.clone()));
                return existing.ok_or(StoreError::JobConflict);
            }
            account.check_vault(new.vault)?;
            let vault = new.vault.map_or_else(|| account.general(), Ok)?;
            let now = shared.now();
            let record = JobRecord {
                key: key.clone(),
                request: new.request,
                vault,
                state: JobState::Submitting,
                created_at: now,
                updated_at: now,
            };
            let due = (Waiting::ForSubmission, shared.elapsed());
            let job = Job {
                record: record.clone(),
                digest: new.digest,
                due: Some(due),
                fence: None,
                failed_attempts: 0,
            };
            jobs.by_key.insert(key.clone(), job);
            jobs.queue.insert((due, key));
            Ok(Reserved::New(record))
        })
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let shared = &self.shared;
        shared.change_job(job, StoreError::NotFound, Job::is_submitting, |job| {
            // A worker that took the submission for lost loses its lease.
            job.fence = None;
            job.enter(JobState::Queued(ticket), shared);
            job.due = shared.due_in(Duration::ZERO);
            job.record.clone()
        })
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        let mut jobs = self.shared.jobs();
        let discarded = jobs.update(job, |job| job.is_submitting() && job.due.take().is_some());
        if discarded == Some(true) {
            jobs.by_key.remove(job);
        }
        Ok(())
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        let shared = &self.shared;
        shared.change_job(job, StoreError::NotFound, Job::is_submitting, |job| {
            job.end(JobState::Failed(None, reason.into()), shared);
            job.record.clone()
        })
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        read(&self.keys).check(caller)?;
        let key = JobKey { account: caller.account, client_job_id: client_job_id.into() };
        let job = self.job_by_key(&key).await?;
        if job.state == JobState::Submitting { Err(StoreError::NotFound) } else { Ok(job) }
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        read(&self.keys).check(caller)?;
        let jobs = self.shared.jobs();
        let own = jobs.by_key.values().filter(|job| job.record.key.account == caller.account);
        let mut own: Vec<_> =
            own.filter(|job| !job.is_submitting()).map(|job| &job.record).collect();
        own.sort_by_cached_key(|job| {
            Reverse((job.created_at, JobKey::name_digest(&job.key.client_job_id)))
        });
        let at = |name: &str| own.iter().position(|job| *job.key.client_job_id == *name);
        let start =
            before.map_or(Ok(0), |name| at(name).map(|at| at + 1).ok_or(StoreError::NotFound))?;
        Ok(own.into_iter().skip(start).take(limit).cloned().collect())
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        let jobs = self.shared.jobs();
        jobs.by_key.get(job).map(|job| job.record.clone()).ok_or(StoreError::NotFound)
    }
}

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim_job(&self, lease: Duration, submit_limit: Duration) -> Result<Option<Claim>> {
        let mut jobs = self.shared.jobs();
        let Some(key) = jobs.due(self.shared.elapsed(), submit_limit) else { return Ok(None) };
        Ok(jobs.update(&key, |job| {
            job.failed_attempts += u32::from(job.fence.is_some());
            let fence = rand::random();
            job.fence = Some(fence);
            job.due = self.shared.due_in(lease);
            let lease = Lease { job: key.clone(), fence };
            Claim { lease, job: job.record.clone(), failed_attempts: job.failed_attempts }
        }))
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        self.shared.change_leased(lease, |job| job.due = self.shared.due_in(lasting))
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        self.shared.change_leased(lease, |job| {
            match outcome {
                Release::FailedAttempt => job.failed_attempts += 1,
                Release::Shutdown => {}
                Release::Waiting | Release::InProgress => job.failed_attempts = 0,
            }
            if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
                let ticket = ticket.clone();
                job.enter(JobState::InProgress(ticket), &self.shared);
            }
            job.fence = None;
            job.due = self.shared.due_in(pause);
        })
    }

    async fn complete_job(&self, lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId> {
        let (account, shared) = (self.account(lease.job.account)?, &self.shared);
        let mut account = write(&account);
        shared.change_leased(lease, |job| {
            // A job that the provider never accepted has no output.
            let ticket = job.record.state.ticket().cloned().ok_or(StoreError::LeaseLost)?;
            if account.check_vault(Some(job.record.vault)).is_err() {
                job.record.vault = account.general()?;
            }
            let new = output_prompt(&job.record.request, job.record.vault);
            let prompt = account.create_prompt(new, images.into(), shared.now(), shared)?.id;
            job.end(JobState::Completed(ticket, prompt), shared);
            Ok(prompt)
        })?
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        self.shared.change_leased(lease, |job| {
            let ticket = job.record.state.ticket().cloned();
            job.end(JobState::Failed(ticket, reason.into()), &self.shared);
        })
    }

    async fn job_due(&self, at_most: Duration) {
        let shared = &self.shared;
        let first = shared.jobs().first(Waiting::ForWorker).map(|(at, _)| at);
        let wait = first.map_or(at_most, |at| at.saturating_sub(shared.elapsed()));
        if !wait.is_zero() {
            tokio::select! {
                () = shared.jobs_changed.notified() => {}
                () = sleep(wait.min(at_most)) => {}
            }
        }
    }
}
