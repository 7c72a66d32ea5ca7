//! Generation jobs in memory.
//!
//! A job is stored in its account, so completing it and creating its prompt are one step.
//! [`super::schedule`] knows which job is due.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::account::{Account, Job, later};
use super::schedule::{DueEntry, Waiting};
use super::{MemoryStore, Shared};
use crate::domain::{
    Caller, Claim, JobKey, JobRecord, JobState, Lease, NewJob, PromptImage, ProviderTicket,
    Release, Reserved, output_prompt,
};
use crate::store::{JobQueue, JobStore, Result, StoreError};

impl Job {
    fn enter(&mut self, state: JobState, shared: &Shared) {
        self.record.state = state;
        self.record.updated_at = later(shared.now(), self.record.updated_at);
    }

    /// Makes it due for workers after a pause.
    fn schedule(&mut self, pause: Duration, shared: &Shared) {
        let job = self.record.key.clone();
        self.entry = Some(shared.schedule.put(job, Waiting::ForWorker, pause, self.entry));
    }

    /// Enters a final state.
    fn end(&mut self, state: JobState, shared: &Shared) {
        self.enter(state, shared);
        shared.schedule.remove(self.entry.take());
        self.fence = None;
    }
}

impl Account {
    fn reserve_job(&mut self, new: NewJob, shared: &Shared) -> Result<Reserved> {
        if let Some(job) = self.jobs.get(&new.client_job_id) {
            let same = job.digest == new.digest;
            let existing = same.then(|| Reserved::Existing(job.record.clone()));
            return existing.ok_or(StoreError::JobConflict);
        }
        if let Some(vault) = new.vault {
            self.check_vault(vault)?;
        }
        let vault = new.vault.or(self.general()).ok_or(StoreError::UnknownVault)?;
        let name = new.client_job_id;
        let key = JobKey { account: self.id, client_job_id: name.clone() };
        let now = shared.now();
        let record = JobRecord {
            key: key.clone(),
            request: new.request,
            vault,
            state: JobState::Submitting,
            created_at: now,
            updated_at: now,
        };
        let entry = shared.schedule.put(key, Waiting::ForSubmission, Duration::ZERO, None);
        let job = Job {
            record: record.clone(),
            digest: new.digest,
            entry: Some(entry),
            fence: None,
            failed_attempts: 0,
        };
        self.jobs.insert(name, job);
        Ok(Reserved::New(record))
    }

    /// `None` if the entry is out of date.
    fn claim_job(
        &mut self,
        name: &str,
        entry: DueEntry,
        lease: Duration,
        shared: &Shared,
    ) -> Option<Claim> {
        let job = self.jobs.get_mut(name).filter(|job| job.entry == Some(entry))?;
        job.failed_attempts += u32::from(job.fence.is_some());
        let fence = rand::random();
        job.fence = Some(fence);
        job.schedule(lease, shared);
        let lease = Lease { job: job.record.key.clone(), fence };
        Some(Claim { lease, job: job.record.clone(), failed_attempts: job.failed_attempts })
    }

    fn complete_job(
        &mut self,
        lease: &Lease,
        images: Vec<PromptImage>,
        shared: &Shared,
    ) -> Result<PromptId> {
        let record = &self.leased_job(lease)?.record;
        // A job that the provider never accepted has no output.
        let ticket = record.state.ticket().cloned().ok_or(StoreError::LeaseLost)?;
        let (request, requested) = (record.request.clone(), record.vault);
        let exists = self.vaults.contains_key(&requested);
        let vault = Some(requested).filter(|_| exists).or(self.general());
        let vault = vault.ok_or(StoreError::UnknownVault)?;
        let prompt = self.create_prompt(output_prompt(&request, vault), shared)?.id;
        if let Some(prompt) = self.prompts.get_mut(&prompt) {
            Arc::make_mut(prompt).images = images.into();
        }
        let job = self.leased_job(lease)?;
        job.record.vault = vault;
        job.end(JobState::Completed(ticket, prompt), shared);
        Ok(prompt)
    }

    fn submitting_job(&mut self, name: &str) -> Result<&mut Job> {
        let job = self.jobs.get_mut(name);
        job.filter(|job| job.record.state == JobState::Submitting).ok_or(StoreError::NotFound)
    }

    fn leased_job(&mut self, lease: &Lease) -> Result<&mut Job> {
        let job = self.jobs.get_mut(&lease.job.client_job_id);
        job.filter(|job| job.fence == Some(lease.fence)).ok_or(StoreError::LeaseLost)
    }

    fn general(&self) -> Option<VaultId> {
        self.vaults.values().find(|vault| vault.record.system).map(|vault| vault.record.id)
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        self.write(caller.account, |account, shared| account.reserve_job(new, shared))
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        self.write(job.account, |account, shared| {
            let job = account.submitting_job(&job.client_job_id)?;
            // A worker that took the submission for lost loses its lease.
            job.fence = None;
            job.enter(JobState::Queued(ticket), shared);
            job.schedule(Duration::ZERO, shared);
            Ok(job.record.clone())
        })
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        self.write(job.account, |account, shared| {
            if let Ok(found) = account.submitting_job(&job.client_job_id) {
                shared.schedule.remove(found.entry);
                account.jobs.remove(&job.client_job_id);
            }
            Ok(())
        })
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        self.write(job.account, |account, shared| {
            let job = account.submitting_job(&job.client_job_id)?;
            job.end(JobState::Failed(None, reason.into()), shared);
            Ok(job.record.clone())
        })
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        let key = JobKey { account: caller.account, client_job_id: client_job_id.into() };
        let job = self.job_by_key(&key).await?;
        if job.state == JobState::Submitting { Err(StoreError::NotFound) } else { Ok(job) }
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        self.read(job.account, |account| {
            let job = account.jobs.get(&job.client_job_id);
            job.map(|job| job.record.clone()).ok_or(StoreError::NotFound)
        })
    }
}

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim_job(&self, lease: Duration, submit_limit: Duration) -> Result<Option<Claim>> {
        // The account is not locked between taking an entry and using it, so the entry may be
        // out of date by then.
        while let Some((entry, job)) = self.shared.schedule.take_due(submit_limit) {
            let claim = self.write(job.account, |account, shared| {
                Ok(account.claim_job(&job.client_job_id, entry, lease, shared))
            })?;
            if claim.is_some() {
                return Ok(claim);
            }
        }
        Ok(None)
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        self.write(lease.job.account, |account, shared| {
            account.leased_job(lease)?.schedule(lasting, shared);
            Ok(())
        })
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        self.write(lease.job.account, |account, shared| {
            let job = account.leased_job(lease)?;
            match outcome {
                Release::FailedAttempt => job.failed_attempts += 1,
                Release::Shutdown => {}
                Release::Waiting | Release::InProgress => job.failed_attempts = 0,
            }
            if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
                let ticket = ticket.clone();
                job.enter(JobState::InProgress(ticket), shared);
            }
            job.fence = None;
            job.schedule(pause, shared);
            Ok(())
        })
    }

    async fn complete_job(&self, lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId> {
        self.write(lease.job.account, |account, shared| account.complete_job(lease, images, shared))
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        self.write(lease.job.account, |account, shared| {
            let job = account.leased_job(lease)?;
            let ticket = job.record.state.ticket().cloned();
            job.end(JobState::Failed(ticket, reason.into()), shared);
            Ok(())
        })
    }

    async fn job_due(&self, at_most: Duration) {
        self.shared.schedule.due(at_most).await;
    }
}
