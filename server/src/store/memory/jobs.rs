//! Generation jobs in memory. A claim looks at the jobs of one account after the other.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use promptarium::PromptId;
use tokio::time::sleep;

use super::account::Job;
use super::{Data, MemoryStore};
use crate::domain::{
    AccountId, Caller, Claim, GenerationRequest, JobKey, JobRecord, JobState, Lease, NewJob,
    PromptImage, ProviderTicket, Release, Reserved, Turn, output_prompt,
};
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobQueue, JobStore, Result, StoreError};

impl Data {
    fn job(&mut self, key: &JobKey) -> Option<&mut Job> {
        self.accounts.get_mut(&key.account)?.jobs.get_mut(&key.client_job_id)
    }
}

impl MemoryStore {
    /// Runs `step` on a job if it is `valid`; fails with `error` otherwise.
    fn change_job<T>(
        &self,
        key: &JobKey,
        error: StoreError,
        valid: impl FnOnce(&Job) -> bool,
        step: impl FnOnce(&mut Job, Timestamp) -> T,
    ) -> Result<T> {
        let mut data = self.data.write();
        let job = data.job(key).filter(|job| valid(job)).ok_or(error)?;
        let result = step(job, self.clock.now());
        self.jobs_changed.notify_one();
        Ok(result)
    }

    fn change_leased(&self, lease: &Lease, step: impl FnOnce(&mut Job, Timestamp)) -> Result<()> {
        let valid = |job: &Job| job.fence == Some(lease.fence);
        self.change_job(&lease.job, StoreError::LeaseLost, valid, step)
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        self.write(caller, |account| {
            let name = new.client_job_id;
            if let Some(job) = account.jobs.get(&name) {
                let same = job.digest == new.digest;
                let existing = same.then(|| Reserved::Existing(job.record.clone()));
                return existing.ok_or(StoreError::JobConflict);
            }
            account.check_vault(new.vault)?;
            let now = account.now();
            let record = JobRecord {
                key: JobKey { account: account.id, client_job_id: name.clone() },
                request: new.request,
                vault: new.vault.map_or_else(|| account.general(), Ok)?,
                state: JobState::Submitting,
                waits_for: None,
                created_at: now,
                updated_at: now,
            };
            let job = Job {
                record: record.clone(),
                digest: new.digest,
                due_at: self.elapsed(),
                fence: None,
                failed_attempts: 0,
                failing_since: None,
            };
            account.jobs.insert(name, job);
            Ok(Reserved::New(record))
        })
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let has_none = |job: &Job| job.record.state.ticket().is_none();
        self.change_job(job, StoreError::NotFound, has_none, |job, now| {
            job.enter(JobState::Queued(ticket), now);
            job.due_at = self.elapsed();
            job.record.clone()
        })
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        if let Some(account) = self.data.write().accounts.get_mut(&job.account) {
            account.jobs.retain(|name, other| *name != job.client_job_id || !other.is_submitting());
        }
        Ok(())
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        self.change_job(job, StoreError::NotFound, Job::is_submitting, |job, now| {
            job.end(JobState::Failed(None, reason.into()), now);
            job.record.clone()
        })
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        self.read(caller, |account| {
            let job = account.jobs.get(client_job_id).filter(|job| !job.is_submitting());
            job.map(|job| job.record.clone()).ok_or(StoreError::NotFound)
        })
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        self.read(caller, |account| {
            let shown = account.jobs.values().filter(|job| !job.is_submitting());
            let mut jobs: Vec<_> = shown.map(|job| &job.record).collect();
            jobs.sort_by_cached_key(|job| {
                Reverse((job.created_at, JobKey::name_digest(&job.key.client_job_id)))
            });
            let at = |name: &str| jobs.iter().position(|job| *job.key.client_job_id == *name);
            let start = before.map_or(Some(0), |name| at(name).map(|at| at + 1));
            let start = start.ok_or(StoreError::NotFound)?;
            Ok(jobs.into_iter().skip(start).take(limit).cloned().collect())
        })
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        let mut data = self.data.write();
        data.job(job).map(|job| job.record.clone()).ok_or(StoreError::NotFound)
    }
}

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        let (mut data, elapsed) = (self.data.write(), self.elapsed());
        let is_due = |job: &&mut Job| job.is_queued() && job.due_at <= elapsed;
        let mut accounts: Vec<_> = data.accounts.values_mut().collect();
        accounts.retain(|account| !turn.except.contains(&account.id));
        accounts.sort_by_key(|account| account.id <= turn.after);
        let first = accounts.into_iter().find_map(|account| {
            account.jobs.values_mut().filter(is_due).min_by_key(|job| job.due_at)
        });
        let Some(job) = first else { return Ok(None) };
        let overdue = elapsed - job.due_at;
        if job.fence.is_some() {
            job.fail_attempt(elapsed);
        }
        let fence = rand::random();
        (job.fence, job.due_at) = (Some(fence), elapsed + lease);
        let failing_for = job.failing_since.map_or(Duration::ZERO, |since| elapsed - since);
        let (failed_attempts, job) = (job.failed_attempts, job.record.clone());
        let lease = Lease { job: job.key.clone(), fence };
        Ok(Some(Claim { lease, job, failed_attempts, failing_for, overdue }))
    }

    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>> {
        let (mut data, elapsed) = (self.data.write(), self.elapsed());
        let is_late = |job: &&mut Job| job.is_submitting() && elapsed - job.due_at >= limit;
        let jobs = data.accounts.values_mut().flat_map(|account| account.jobs.values_mut());
        let mut late: Vec<_> = jobs.filter(is_late).collect();
        late.sort_by_key(|job| job.due_at);
        let failed = late.into_iter().take(JOBS_AT_ONCE).map(|job| {
            job.end(JobState::Failed(None, reason.into()), self.clock.now());
            job.record.key.clone()
        });
        Ok(failed.collect())
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        let (mut data, now) = (self.data.write(), self.clock.now());
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let is_old = |_: &Arc<str>, job: &mut Job| {
            job.has_ended() && now.duration_since(job.record.updated_at) >= age
        };
        let accounts = data.accounts.values_mut();
        let old = accounts.flat_map(|account| account.jobs.extract_if(is_old));
        Ok(old.take(JOBS_AT_ONCE).count())
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        self.change_leased(lease, |job, _| job.due_at = self.elapsed() + lasting)
    }

    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
        has_begun: bool,
    ) -> Result<()> {
        self.change_leased(lease, |job, now| {
            if let (true, JobState::Queued(ticket)) = (has_begun, &job.record.state) {
                job.enter(JobState::InProgress(ticket.clone()), now);
            }
            use JobState::{InProgress, Queued};
            if let (Queued(ticket) | InProgress(ticket), Some(state)) =
                (&mut job.record.state, provider_state)
            {
                ticket.provider_state = state.into();
            }
            job.record.waits_for = Some(waits_for.into());
        })
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        self.change_leased(lease, |job, now| {
            match outcome {
                Release::FailedAttempt => job.fail_attempt(self.elapsed()),
                Release::Shutdown => {}
                Release::Waiting | Release::InProgress => {
                    (job.failed_attempts, job.failing_since) = (0, None);
                    job.record.waits_for = None;
                }
            }
            if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
                job.enter(JobState::InProgress(ticket.clone()), now);
            }
            (job.fence, job.due_at) = (None, self.elapsed() + pause);
        })
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        request: &GenerationRequest,
        images: Vec<PromptImage>,
    ) -> Result<PromptId> {
        let mut data = self.data.write();
        let job = data.job(&lease.job).filter(|job| job.fence == Some(lease.fence));
        let JobRecord { vault, state, .. } = job.ok_or(StoreError::LeaseLost)?.record.clone();
        let ticket = state.ticket().cloned().ok_or(StoreError::LeaseLost)?;
        let account = data.account_mut(lease.job.account)?;
        let exists = account.vaults.contains_key(&vault);
        let vault = if exists { vault } else { account.general()? };
        let prompt = account.create_prompt(output_prompt(request, vault, images))?;
        let now = account.now();
        let job = data.job(&lease.job).ok_or(StoreError::LeaseLost)?;
        job.record.vault = vault;
        job.end(JobState::Completed(ticket, prompt), now);
        Ok(prompt)
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        self.change_leased(lease, |job, now| {
            let ticket = job.record.state.ticket().cloned();
            job.end(JobState::Failed(ticket, reason.into()), now);
        })
    }

    async fn job_due(&self, at_most: Duration, except: &[AccountId]) {
        let first = {
            let data = self.data.read();
            let accounts = data.accounts.values().filter(|account| !except.contains(&account.id));
            let jobs = accounts.flat_map(|account| account.jobs.values());
            jobs.filter(|job| job.is_queued()).map(|job| job.due_at).min()
        };
        let wait = first.map_or(at_most, |at| at.saturating_sub(self.elapsed()));
        if !wait.is_zero() {
            tokio::select! {
                () = self.jobs_changed.notified() => {}
                () = sleep(wait.min(at_most)) => {}
            }
        }
    }
}
