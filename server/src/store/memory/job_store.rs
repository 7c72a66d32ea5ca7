//! The memory store as a [`JobStore`]: as with all its steps, only the locks.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;

use super::MemoryStore;
use crate::domain::{
    Caller, Claim, JobKey, JobRecord, Lease, NewJob, PromptImage, ProviderTicket, Release, Reserved,
};
use crate::store::{JobStore, StoreError};

#[async_trait]
impl JobStore for MemoryStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved, StoreError> {
        self.write(caller.account, |account, commons| account.reserve_job(new, commons))
    }

    async fn job_submitted(
        &self,
        job: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError> {
        let name = &job.client_job_id;
        self.write(job.account, |account, commons| account.job_submitted(name, ticket, commons))
    }

    async fn discard_job(&self, job: &JobKey) -> Result<(), StoreError> {
        self.write(job.account, |account, commons| {
            account.discard_job(&job.client_job_id, commons);
            Ok(())
        })
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
        let name = &job.client_job_id;
        self.write(job.account, |account, commons| account.job_lost(name, reason, commons))
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError> {
        self.read(caller.account, |account| account.job(client_job_id))
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord, StoreError> {
        self.read(job.account, |account| account.any_job(&job.client_job_id))
    }

    async fn claim_job(
        &self,
        lease: Duration,
        submit_limit: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        // No lock is held from finding a turn to using it; the job itself knows
        // whether the turn still holds.
        while let Some((turn, job)) = self.shared.schedule.take_due(submit_limit) {
            let claim = self.write(job.account, |account, commons| {
                Ok(account.claim_job(&job.client_job_id, turn, lease, commons))
            })?;
            if claim.is_some() {
                return Ok(claim);
            }
        }
        Ok(None)
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<(), StoreError> {
        self.write(lease.job.account, |account, commons| {
            account.renew_lease(lease, lasting, commons)
        })
    }

    async fn release_job(
        &self,
        lease: &Lease,
        pause: Duration,
        outcome: Release,
    ) -> Result<(), StoreError> {
        self.write(lease.job.account, |account, commons| {
            account.release_job(lease, pause, outcome, commons)
        })
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        images: Vec<PromptImage>,
    ) -> Result<PromptId, StoreError> {
        self.write(lease.job.account, |account, commons| {
            account.complete_job(lease, images, commons)
        })
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<(), StoreError> {
        self.write(lease.job.account, |account, commons| account.fail_job(lease, reason, commons))
    }

    async fn job_due(&self, at_most: Duration) {
        self.shared.schedule.due(at_most).await;
    }
}
