//! The steps on generations.
//!
//! A job is kept in its account, so that its end and the prompt it makes are one
//! step. Which job is due is for [`super::schedule`] to know.

use std::sync::Arc;
use std::time::Duration;

use promptarium::{PromptId, VaultId};

use super::Shared as Commons;
use super::account::{Account, Vault, later};
use super::schedule::{Awaits, Turn};
use crate::domain::{
    Claim, JobKey, JobRecord, JobState, Lease, NewJob, PromptImage, ProviderTicket, Release,
    Reserved, output_prompt,
};
use crate::store::StoreError;

/// A job and what workers make of it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    digest: [u8; 32],
    /// When it can be claimed next; `None` when it has ended.
    pub(super) turn: Option<Turn>,
    /// Of the lease on it, which runs until its turn.
    pub(super) fence: Option<u128>,
    setbacks: u32,
}

impl Job {
    fn is_submitting(&self) -> bool {
        self.record.state == JobState::Submitting
    }

    /// What the provider gave, while it has the job.
    fn ticket(&self) -> Option<&ProviderTicket> {
        match &self.record.state {
            JobState::Queued(ticket) | JobState::InProgress(ticket) => Some(ticket),
            _ => None,
        }
    }

    fn enter(&mut self, state: JobState, commons: &Commons) {
        self.record.state = state;
        self.record.updated_at = later(commons.now(), self.record.updated_at);
    }

    /// Lets a worker have it after a pause.
    fn await_worker(&mut self, pause: Duration, commons: &Commons) {
        let job = self.record.key.clone();
        self.turn = Some(commons.schedule.put(job, Awaits::Worker, pause, self.turn));
    }

    /// Enters a state that it never leaves.
    fn end(&mut self, state: JobState, commons: &Commons) {
        self.enter(state, commons);
        commons.schedule.strike(self.turn.take());
        self.fence = None;
    }
}

impl Account {
    pub(super) fn reserve_job(
        &mut self,
        new: NewJob,
        commons: &Commons,
    ) -> Result<Reserved, StoreError> {
        if let Some(job) = self.jobs.get(&new.client_job_id) {
            let same = job.digest == new.digest;
            return same
                .then(|| Reserved::Existing(job.record.clone()))
                .ok_or(StoreError::JobConflict);
        }
        if let Some(vault) = new.vault {
            self.check_vault(vault)?;
        }
        let vault = new.vault.or(self.general()).ok_or(StoreError::UnknownVault)?;
        let key = JobKey { account: self.id, client_job_id: new.client_job_id };
        let now = commons.now();
        let record = JobRecord {
            key: key.clone(),
            order: new.order,
            vault,
            state: JobState::Submitting,
            created_at: now,
            updated_at: now,
        };
        let name = key.client_job_id.clone();
        let turn = commons.schedule.put(key, Awaits::Submission, Duration::ZERO, None);
        let (digest, turn) = (new.digest, Some(turn));
        let job = Job { record: record.clone(), digest, turn, fence: None, setbacks: 0 };
        self.jobs.insert(name, job);
        Ok(Reserved::New(record))
    }

    pub(super) fn job_submitted(
        &mut self,
        name: &str,
        ticket: ProviderTicket,
        commons: &Commons,
    ) -> Result<JobRecord, StoreError> {
        let job = self.submitting(name)?;
        // A worker that took it for lost has to keep its hands off it.
        job.fence = None;
        job.enter(JobState::Queued(ticket), commons);
        job.await_worker(Duration::ZERO, commons);
        Ok(job.record.clone())
    }

    pub(super) fn job_lost(
        &mut self,
        name: &str,
        reason: &str,
        commons: &Commons,
    ) -> Result<JobRecord, StoreError> {
        let job = self.submitting(name)?;
        job.end(JobState::Failed(None, reason.into()), commons);
        Ok(job.record.clone())
    }

    pub(super) fn discard_job(&mut self, name: &str, commons: &Commons) {
        if let Ok(job) = self.submitting(name) {
            commons.schedule.strike(job.turn);
            self.jobs.remove(name);
        }
    }

    pub(super) fn any_job(&self, name: &str) -> Result<JobRecord, StoreError> {
        self.jobs.get(name).map(|job| job.record.clone()).ok_or(StoreError::NotFound)
    }

    pub(super) fn job(&self, name: &str) -> Result<JobRecord, StoreError> {
        let shown = self.jobs.get(name).filter(|job| !job.is_submitting());
        shown.map(|job| job.record.clone()).ok_or(StoreError::NotFound)
    }

    /// `None` if the turn is not the job's own any more.
    pub(super) fn claim_job(
        &mut self,
        name: &str,
        turn: Turn,
        lease: Duration,
        commons: &Commons,
    ) -> Option<Claim> {
        let job = self.jobs.get_mut(name).filter(|job| job.turn == Some(turn))?;
        if job.fence.is_some() {
            job.setbacks += 1;
        }
        let fence = rand::random();
        job.fence = Some(fence);
        job.await_worker(lease, commons);
        let lease = Lease { job: job.record.key.clone(), fence };
        Some(Claim { lease, job: job.record.clone(), setbacks: job.setbacks })
    }

    pub(super) fn renew_lease(
        &mut self,
        lease: &Lease,
        lasting: Duration,
        commons: &Commons,
    ) -> Result<(), StoreError> {
        self.held(lease)?.await_worker(lasting, commons);
        Ok(())
    }

    pub(super) fn release_job(
        &mut self,
        lease: &Lease,
        pause: Duration,
        outcome: Release,
        commons: &Commons,
    ) -> Result<(), StoreError> {
        let job = self.held(lease)?;
        match outcome {
            Release::FailedAttempt => job.setbacks += 1,
            Release::Shutdown => {}
            Release::Waiting | Release::InProgress => job.setbacks = 0,
        }
        if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
            let ticket = ticket.clone();
            job.enter(JobState::InProgress(ticket), commons);
        }
        job.fence = None;
        job.await_worker(pause, commons);
        Ok(())
    }

    pub(super) fn complete_job(
        &mut self,
        lease: &Lease,
        images: Vec<PromptImage>,
        commons: &Commons,
    ) -> Result<PromptId, StoreError> {
        let job = self.held(lease)?;
        // What the provider never took has no output.
        let ticket = job.ticket().cloned().ok_or(StoreError::LeaseLost)?;
        let (order, wanted) = (job.record.order.clone(), job.record.vault);
        let there = self.vaults.contains_key(&wanted);
        let vault = Some(wanted).filter(|_| there).or(self.general());
        let vault = vault.ok_or(StoreError::UnknownVault)?;
        let prompt = self.create_prompt(output_prompt(&order, vault), commons)?.id;
        if let Some(prompt) = self.prompts.get_mut(&prompt) {
            Arc::make_mut(prompt).images = images.into();
        }
        let job = self.held(lease)?;
        job.record.vault = vault;
        job.end(JobState::Completed(ticket, prompt), commons);
        Ok(prompt)
    }

    pub(super) fn fail_job(
        &mut self,
        lease: &Lease,
        reason: &str,
        commons: &Commons,
    ) -> Result<(), StoreError> {
        let job = self.held(lease)?;
        let ticket = job.ticket().cloned();
        job.end(JobState::Failed(ticket, reason.into()), commons);
        Ok(())
    }

    fn submitting(&mut self, name: &str) -> Result<&mut Job, StoreError> {
        let job = self.jobs.get_mut(name).filter(|job| job.is_submitting());
        job.ok_or(StoreError::NotFound)
    }

    /// The job under this lease.
    fn held(&mut self, lease: &Lease) -> Result<&mut Job, StoreError> {
        let job = self.jobs.get_mut(&lease.job.client_job_id);
        job.filter(|job| job.fence == Some(lease.fence)).ok_or(StoreError::LeaseLost)
    }

    /// The vault that is made with the account, and so is the first.
    fn general(&self) -> Option<VaultId> {
        self.vaults.values().find(|vault| vault.record.system).map(Vault::id)
    }
}
