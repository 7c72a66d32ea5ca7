//! The naive store has no generations: no random step orders one.

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;

use super::Naive;
use crate::store::StoreError::{self, LeaseLost, NotFound};
use crate::store::job::{Claim, JobKey, JobRecord, Lease, NewJob, Reserved, Ticket};
use crate::store::{Caller, JobStore, PromptImage, Release};

#[async_trait]
impl JobStore for Naive {
    async fn reserve_job(&self, _: &Caller, _: NewJob) -> Result<Reserved, StoreError> {
        Err(NotFound)
    }

    async fn job_submitted(&self, _: &JobKey, _: Ticket) -> Result<JobRecord, StoreError> {
        Err(NotFound)
    }

    async fn discard_job(&self, _: &JobKey) -> Result<(), StoreError> {
        Ok(())
    }

    async fn job_lost(&self, _: &JobKey, _: &str) -> Result<JobRecord, StoreError> {
        Err(NotFound)
    }

    async fn job(&self, _: &Caller, _: &str) -> Result<JobRecord, StoreError> {
        Err(NotFound)
    }

    async fn job_by_key(&self, _: &JobKey) -> Result<JobRecord, StoreError> {
        Err(NotFound)
    }

    async fn claim_job(&self, _: Duration, _: Duration) -> Result<Option<Claim>, StoreError> {
        Ok(None)
    }

    async fn renew_lease(&self, _: &Lease, _: Duration) -> Result<(), StoreError> {
        Err(LeaseLost)
    }

    async fn release_job(&self, _: &Lease, _: Duration, _: Release) -> Result<(), StoreError> {
        Err(LeaseLost)
    }

    async fn complete_job(&self, _: &Lease, _: Vec<PromptImage>) -> Result<PromptId, StoreError> {
        Err(LeaseLost)
    }

    async fn fail_job(&self, _: &Lease, _: &str) -> Result<(), StoreError> {
        Err(LeaseLost)
    }

    async fn job_due(&self, at_most: Duration) {
        tokio::time::sleep(at_most).await;
    }
}
