//! Submission and status of generation jobs in memory.

use std::cmp::Reverse;
use std::ops::Bound;

use async_trait::async_trait;
use jiff::Timestamp;

use super::MemoryStore;
use super::account::AccountView;
use super::rows::{Job, Phase};
use crate::domain::{Caller, JobKey, JobRecord, JobState, NewJob, ProviderTicket, Reserved};
use crate::store::{JobStore, Result, StoreError};

impl MemoryStore {
    /// Runs `step` on a job if it is `valid`; fails with `error` otherwise.
    pub(super) async fn change_job<T: Send>(
        &self,
        key: &JobKey,
        error: StoreError,
        valid: impl FnOnce(&Job) -> bool + Send,
        step: impl FnOnce(&mut Job, Timestamp) -> T + Send,
    ) -> Result<T> {
        let result = self.step(|data| {
            let mut job = data.job(key).filter(|job| valid(job)).ok_or(error)?.clone();
            let result = step(&mut job, data.now());
            data.put_job(job);
            Ok(result)
        });
        let result = result.await?;
        self.jobs_changed.notify_one();
        Ok(result)
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        self.write(caller, |own| {
            let key = JobKey { account: own.id, client_job_id: new.client_job_id };
            if let Some(job) = own.data.job(&key) {
                let same = job.digest == new.digest;
                let existing = same.then(|| Reserved::Existing(job.record.clone()));
                return existing.ok_or(StoreError::JobConflict);
            }
            own.check_vault(new.vault)?;
            let now = own.data.now();
            let record = JobRecord {
                key,
                request: new.request,
                vault: new.vault.map_or_else(|| own.general(), Ok)?,
                state: JobState::Submitting,
                waits_for: None,
                created_at: now,
                updated_at: now,
            };
            own.data.put_job(Job {
                record: record.clone(),
                digest: new.digest,
                due_at: now,
                fence: None,
                failed_attempts: 0,
                failing_since: None,
            });
            Ok(Reserved::New(record))
        })
        .await
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let has_none = |job: &Job| job.record.state.ticket().is_none();
        self.change_job(job, StoreError::NotFound, has_none, |job, now| {
            job.enter(JobState::Queued(ticket), now);
            job.due_at = now;
            job.record.clone()
        })
        .await
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        self.step(|data| {
            if data.job(job).is_some_and(Job::is_submitting) {
                data.remove_job(&(job.account, job.client_job_id.clone()));
            }
            Ok(())
        })
        .await
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        self.change_job(job, StoreError::NotFound, Job::is_submitting, |job, now| {
            job.end(JobState::Failed(None, reason.into()), now);
            job.record.clone()
        })
        .await
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        self.read(caller, |own| {
            let job = own.data.jobs.get(&(own.id, client_job_id.into()));
            let job = job.filter(|job| job.phase() != Phase::Submitting);
            job.map(|job| job.record.clone()).ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        self.read(caller, |AccountView { data, id }| {
            let own = *id;
            let shown = |name: &str| {
                let job = data.jobs.get(&(own, name.into()));
                job.filter(|job| !job.is_submitting())
            };
            let start = match before {
                None => Bound::Included((own, Reverse((Timestamp::MAX, [u8::MAX; 32])))),
                Some(name) => Bound::Excluded(shown(name).ok_or(StoreError::NotFound)?.list_key()),
            };
            let names = data.job_list.range((start, Bound::Unbounded));
            let names = names.take_while(|((account, _), _)| *account == own);
            let jobs = names.filter_map(|(_, name)| shown(name)).take(limit);
            Ok(jobs.map(|job| job.record.clone()).collect())
        })
        .await
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        self.look(|data| Ok(data.job(job).ok_or(StoreError::NotFound)?.record.clone())).await
    }
}
