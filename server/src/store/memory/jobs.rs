//! Generation jobs in memory: the orders in which they are found, their submission and status.

use std::cmp::Reverse;
use std::iter;
use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use super::MemoryStore;
use super::account::AccountView;
use super::data::{Data, Job, Phase, QueueKey};
use crate::domain::{
    AccountId, Caller, JobKey, JobRecord, JobState, NewJob, ProviderTicket, Reserved,
};
use crate::store::{JobStore, Result, StoreError};

impl Data {
    pub(super) fn job(&self, key: &JobKey) -> Option<&Job> {
        self.jobs.get(&(key.account, key.client_job_id.clone()))
    }

    pub(super) fn put_job(&mut self, job: Job) {
        let name = job.record.key.client_job_id.clone();
        match self.job(&job.record.key).map(Job::queue_key) {
            Some(before) => {
                self.job_queue.remove(&before);
                let has_ended = before.phase != Phase::Ended && job.phase() == Phase::Ended;
                if let Some(extension) = self.extension.as_mut().filter(|_| has_ended) {
                    let prompt = match job.record.state {
                        JobState::Completed(_, id) => self.prompts.get(&(before.account, id)),
                        _ => None,
                    };
                    let images = prompt.map(|prompt| prompt.shown.images.clone());
                    extension.job_ended(&job.record, images.unwrap_or_default());
                }
            }
            None => self.job_list.insert(job.list_key(), name.clone()),
        }
        self.job_queue.insert(job.queue_key(), ());
        self.jobs.insert((job.record.key.account, name), job);
    }

    pub(super) fn remove_job(&mut self, job: &(AccountId, Arc<str>)) {
        if let Some(removed) = self.jobs.remove(job) {
            self.job_queue.remove(&removed.queue_key());
            self.job_list.remove(&removed.list_key());
        }
    }

    /// The first key of each account that has jobs in this phase.
    pub(super) fn first_keys(&self, phase: Phase) -> impl Iterator<Item = &QueueKey> {
        let mut from =
            QueueKey { phase, account: AccountId(i64::MIN), at: Timestamp::MIN, name: "".into() };
        iter::from_fn(move || {
            let (first, ()) = self.job_queue.range(from.clone()..).next()?;
            from.account = AccountId(first.account.0 + 1);
            Some(first).filter(|first| first.phase == phase)
        })
    }

    /// The keys in this phase up to this time, of one account after the other.
    pub(super) fn keys_until(
        &self,
        phase: Phase,
        until: Timestamp,
    ) -> impl Iterator<Item = &QueueKey> {
        self.first_keys(phase).flat_map(move |first| {
            let keys = self.job_queue.range(first.clone()..).map(|(key, ())| key);
            keys.take_while(move |key| {
                (key.phase, key.account) == (phase, first.account) && key.at <= until
            })
        })
    }
}

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
