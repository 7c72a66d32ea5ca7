//! Generations in the naive store: a list of jobs, gone through for each answer.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::Naive;
use super::state::State;
use crate::domain::{
    AccountId, Caller, Claim, JobKey, JobRecord, JobState, Lease, NewJob, PromptImage,
    PromptRecord, ProviderTicket, Release, Reserved, output_prompt,
};
use crate::store::StoreError::{self, JobConflict, LeaseLost, NotFound, UnknownVault};
use crate::store::{JobQueue, JobStore};

pub(super) struct Job {
    record: JobRecord,
    digest: [u8; 32],
    /// No worker has it before.
    due: Timestamp,
    /// Whether a worker had it, or was to have it: a submission is due only when
    /// it has lasted too long.
    for_workers: bool,
    fence: Option<u128>,
    setbacks: u32,
}

impl Job {
    fn submitting(&self) -> bool {
        self.record.state == JobState::Submitting
    }

    fn ended(&self) -> bool {
        matches!(self.record.state, JobState::Completed(..) | JobState::Failed(..))
    }

    fn ticket(&self) -> Option<ProviderTicket> {
        match &self.record.state {
            JobState::Queued(ticket) | JobState::InProgress(ticket) => Some(ticket.clone()),
            _ => None,
        }
    }

    fn enter(&mut self, state: JobState, store: &Naive) {
        self.record.state = state;
        self.record.updated_at = store.after(self.record.updated_at);
        self.fence = None;
    }

    fn wait(&mut self, pause: Duration, store: &Naive) {
        self.due = store.clock.now() + pause;
        self.for_workers = true;
    }
}

impl State {
    fn job(&mut self, key: &JobKey) -> Result<&mut Job, StoreError> {
        self.jobs.iter_mut().find(|job| job.record.key == *key).ok_or(NotFound)
    }

    fn submitting(&mut self, key: &JobKey) -> Result<&mut Job, StoreError> {
        self.job(key).ok().filter(|job| job.submitting()).ok_or(NotFound)
    }

    fn held(&mut self, lease: &Lease) -> Result<&mut Job, StoreError> {
        let job = self.job(&lease.job).ok();
        job.filter(|job| job.fence == Some(lease.fence)).ok_or(LeaseLost)
    }

    fn owns(&self, account: AccountId, vault: VaultId) -> bool {
        self.vaults.iter().any(|(owner, own)| *owner == account && own.id == vault)
    }

    fn general(&self, account: AccountId) -> VaultId {
        let mut vaults = self.vaults.iter();
        let found = vaults.find(|(owner, vault)| *owner == account && vault.system);
        found.expect("every account has a General vault").1.id
    }
}

#[async_trait]
impl JobStore for Naive {
    async fn reserve_job(&self, by: &Caller, new: NewJob) -> Result<Reserved, StoreError> {
        let (mut state, now) = (self.state(), self.clock.now());
        let key = JobKey { account: by.account, client_job_id: new.client_job_id };
        if let Ok(job) = state.job(&key) {
            let same = job.digest == new.digest;
            return if same {
                Ok(Reserved::Existing(job.record.clone()))
            } else {
                Err(JobConflict)
            };
        }
        let vault = new.vault.unwrap_or(state.general(by.account));
        if !state.owns(by.account, vault) {
            return Err(UnknownVault);
        }
        let record = JobRecord {
            key,
            request: new.request,
            vault,
            state: JobState::Submitting,
            created_at: now,
            updated_at: now,
        };
        let (digest, job) = (new.digest, record.clone());
        let job =
            Job { record: job, digest, due: now, for_workers: false, fence: None, setbacks: 0 };
        state.jobs.push(job);
        Ok(Reserved::New(record))
    }

    async fn job_submitted(
        &self,
        key: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError> {
        let mut state = self.state();
        let job = state.submitting(key)?;
        job.enter(JobState::Queued(ticket), self);
        job.wait(Duration::ZERO, self);
        Ok(job.record.clone())
    }

    async fn discard_job(&self, key: &JobKey) -> Result<(), StoreError> {
        self.state().jobs.retain(|job| job.record.key != *key || !job.submitting());
        Ok(())
    }

    async fn job_lost(&self, key: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
        let mut state = self.state();
        let job = state.submitting(key)?;
        job.enter(JobState::Failed(None, reason.into()), self);
        Ok(job.record.clone())
    }

    async fn job(&self, by: &Caller, name: &str) -> Result<JobRecord, StoreError> {
        let key = JobKey { account: by.account, client_job_id: name.into() };
        let mut state = self.state();
        let job = state.job(&key)?;
        if job.submitting() { Err(NotFound) } else { Ok(job.record.clone()) }
    }

    async fn job_by_key(&self, key: &JobKey) -> Result<JobRecord, StoreError> {
        Ok(self.state().job(key)?.record.clone())
    }
}

#[async_trait]
impl JobQueue for Naive {
    async fn claim_job(
        &self,
        lease: Duration,
        submit_limit: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let (mut state, now) = (self.state(), self.clock.now());
        let due = |job: &Job| job.due + if job.for_workers { Duration::ZERO } else { submit_limit };
        let open = state.jobs.iter_mut().filter(|job| !job.ended() && due(job) <= now);
        let Some(job) = open.min_by_key(|job| due(job)) else {
            return Ok(None);
        };
        // The lease that ran out.
        job.setbacks += u32::from(job.fence.is_some());
        let fence = rand::random();
        job.fence = Some(fence);
        job.wait(lease, self);
        let lease = Lease { job: job.record.key.clone(), fence };
        Ok(Some(Claim { lease, job: job.record.clone(), failed_attempts: job.setbacks }))
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<(), StoreError> {
        self.state().held(lease)?.wait(lasting, self);
        Ok(())
    }

    async fn release_job(
        &self,
        lease: &Lease,
        pause: Duration,
        seen: Release,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        let job = state.held(lease)?;
        job.setbacks = match seen {
            Release::FailedAttempt => job.setbacks + 1,
            Release::Shutdown => job.setbacks,
            Release::Waiting | Release::InProgress => 0,
        };
        if let (JobState::Queued(ticket), Release::InProgress) = (job.record.state.clone(), seen) {
            job.enter(JobState::InProgress(ticket), self);
        }
        job.fence = None;
        job.wait(pause, self);
        Ok(())
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        images: Vec<PromptImage>,
    ) -> Result<PromptId, StoreError> {
        let (state, now) = (&mut *self.state(), self.clock.now());
        let job = state.held(lease)?;
        let ticket = job.ticket().ok_or(LeaseLost)?;
        let (order, asked, account) =
            (job.record.request.clone(), job.record.vault, lease.job.account);
        let there = state.owns(account, asked);
        let vault = if there { asked } else { state.general(account) };
        let new = output_prompt(&order, vault);
        let id = PromptId::new(state.count(0));
        let record = PromptRecord {
            id,
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
            inputs: new.inputs,
            images: images.into(),
            vault_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        state.prompts.push((account, record));
        state.add(vault, id);
        let job = state.held(lease)?;
        job.record.vault = vault;
        job.enter(JobState::Completed(ticket, id), self);
        Ok(id)
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<(), StoreError> {
        let mut state = self.state();
        let job = state.held(lease)?;
        let ticket = job.ticket();
        job.enter(JobState::Failed(ticket, reason.into()), self);
        Ok(())
    }

    async fn job_due(&self, at_most: Duration) {
        tokio::time::sleep(at_most).await;
    }
}
