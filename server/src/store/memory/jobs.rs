//! Generation jobs in memory: submission and status. What workers do is in [`super::job_queue`].
//!
//! The jobs of all accounts have one lock and one queue. A claim looks at one job of an account.

use std::collections::{BTreeSet, HashMap};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::account::later;
use super::{MemoryStore, Shared, read};
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, JobKey, JobRecord, JobState, Lease, NewJob, ProviderTicket, Reserved, Turn,
};
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobStore, Result, StoreError};

/// A job with what its workers need.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    digest: [u8; 32],
    /// When it was reserved, and later, when it is due for workers: in the time since the start of
    /// the store, which is monotonic unless a test moves the clock.
    pub(super) due_at: Duration,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
    /// When the first of them was.
    pub(super) failing_since: Option<Duration>,
}

/// A place in the queue: of jobs that are being submitted, before those of accounts.
type Place = (Option<AccountId>, Duration, JobKey);

#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) by_key: HashMap<JobKey, Job>,
    pub(super) queue: BTreeSet<Place>,
}

impl Job {
    fn is_submitting(&self) -> bool {
        self.record.state == JobState::Submitting
    }

    pub(super) fn enter(&mut self, state: JobState, shared: &Shared) {
        self.record.state = state;
        self.record.updated_at = later(shared.now(), self.record.updated_at);
    }

    /// Enters a final state.
    pub(super) fn end(&mut self, state: JobState, shared: &Shared) {
        self.enter(state, shared);
        self.fence = None;
    }

    /// An attempt has failed.
    pub(super) fn fail_attempt(&mut self, shared: &Shared) {
        self.failed_attempts += 1;
        self.failing_since.get_or_insert_with(|| shared.elapsed());
    }

    /// Due for workers after a pause.
    pub(super) fn due_in(&mut self, pause: Duration, shared: &Shared) {
        self.due_at = shared.elapsed() + pause;
    }

    /// `None` if it has ended.
    pub(super) fn place(&self) -> Option<Place> {
        let key = self.record.key.clone();
        let of = match self.record.state {
            JobState::Submitting => None,
            JobState::Queued(_) | JobState::InProgress(_) => Some(key.account),
            JobState::Completed(..) | JobState::Failed(..) => return None,
        };
        Some((of, self.due_at, key))
    }
}

impl Jobs {
    /// Runs `step` on a job and then updates the queue; `None` if there is no such job.
    pub(super) fn update<T>(
        &mut self,
        key: &JobKey,
        step: impl FnOnce(&mut Job) -> T,
    ) -> Option<T> {
        let job = self.by_key.get_mut(key)?;
        let before = job.place();
        let result = step(job);
        if let Some(before) = before {
            self.queue.remove(&before);
        }
        self.queue.extend(job.place());
        Some(result)
    }

    /// Of each account after this one, the job that is due first; in the order of accounts.
    pub(super) fn first_of_accounts(
        &self,
        after: AccountId,
    ) -> impl Iterator<Item = (Duration, &JobKey)> {
        let mut after = after;
        std::iter::from_fn(move || {
            let no_key = JobKey { account: AccountId(i64::MIN), client_job_id: "".into() };
            let start = (Some(AccountId(after.0 + 1)), Duration::ZERO, no_key);
            let (_, at, key) = self.queue.range(start..).next()?;
            after = key.account;
            Some((*at, key))
        })
    }

    /// The job whose turn it is.
    pub(super) fn next(&self, now: Duration, turn: &Turn) -> Option<JobKey> {
        let rest = self.first_of_accounts(turn.after);
        let start = self.first_of_accounts(AccountId::default());
        let mut all = rest.chain(start.take_while(|(_, key)| key.account <= turn.after));
        let next = all.find(|(at, key)| *at <= now && !turn.except.contains(&key.account));
        next.map(|(_, key)| key.clone())
    }

    /// The jobs that have been submitting for longest.
    pub(super) fn late(&self, since: Duration) -> Vec<JobKey> {
        let late = self.queue.iter().take_while(|(of, at, _)| of.is_none() && *at <= since);
        late.map(|(_, _, key)| key.clone()).take(JOBS_AT_ONCE).collect()
    }
}

impl Shared {
    pub(super) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn elapsed(&self) -> Duration {
        match &self.clock {
            Clock::System => self.start.0.elapsed(),
            Clock::Manual(_) => self.clock.now().duration_since(self.start.1).unsigned_abs(),
        }
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

    pub(super) fn change_leased<T>(
        &self,
        lease: &Lease,
        step: impl FnOnce(&mut Job) -> T,
    ) -> Result<T> {
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
                waits_for: None,
                created_at: now,
                updated_at: now,
            };
            let job = Job {
                record: record.clone(),
                digest: new.digest,
                due_at: shared.elapsed(),
                fence: None,
                failed_attempts: 0,
                failing_since: None,
            };
            jobs.queue.extend(job.place());
            jobs.by_key.insert(key, job);
            Ok(Reserved::New(record))
        })
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let shared = &self.shared;
        let has_none = |job: &Job| job.record.state.ticket().is_none();
        shared.change_job(job, StoreError::NotFound, has_none, |job| {
            job.fence = None;
            job.enter(JobState::Queued(ticket), shared);
            job.due_in(Duration::ZERO, shared);
            job.record.clone()
        })
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        let mut jobs = self.shared.jobs();
        let place = jobs.by_key.get(job).filter(|job| job.is_submitting()).and_then(Job::place);
        if let Some(place) = place {
            jobs.by_key.remove(job);
            jobs.queue.remove(&place);
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
        // The digest only decides between equal times.
        let digest = |job: &JobRecord| JobKey::name_digest(&job.key.client_job_id);
        own.sort_unstable_by(|a, b| {
            b.created_at.cmp(&a.created_at).then_with(|| digest(b).cmp(&digest(a)))
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
