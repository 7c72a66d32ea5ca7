//! Generations of the failing store: as in memory.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;
use promptarium_server::provider::ProviderTicket;
use promptarium_server::store::{
    Caller, Claim, JobKey, JobRecord, Lease, NewJob, PromptImage, Release, Reserved,
};
use promptarium_server::store::{JobQueue, JobStore, StoreError};

use super::FailingStore;

#[async_trait]
impl JobStore for FailingStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved, StoreError> {
        self.inner.reserve_job(caller, new).await
    }

    async fn job_submitted(
        &self,
        job: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError> {
        self.inner.job_submitted(job, ticket).await
    }

    async fn discard_job(&self, job: &JobKey) -> Result<(), StoreError> {
        self.inner.discard_job(job).await
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
        self.inner.job_lost(job, reason).await
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError> {
        self.inner.job(caller, client_job_id).await
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord, StoreError> {
        self.inner.job_by_key(job).await
    }
}

#[async_trait]
impl JobQueue for FailingStore {
    async fn claim_job(
        &self,
        lease: Duration,
        submit_limit: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        self.inner.claim_job(lease, submit_limit).await
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<(), StoreError> {
        self.inner.renew_lease(lease, lasting).await
    }

    async fn release_job(
        &self,
        lease: &Lease,
        pause: Duration,
        outcome: Release,
    ) -> Result<(), StoreError> {
        self.inner.release_job(lease, pause, outcome).await
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        images: Vec<PromptImage>,
    ) -> Result<PromptId, StoreError> {
        self.inner.complete_job(lease, images).await
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<(), StoreError> {
        self.inner.fail_job(lease, reason).await
    }

    async fn job_due(&self, at_most: Duration) {
        self.inner.job_due(at_most).await;
    }
}
