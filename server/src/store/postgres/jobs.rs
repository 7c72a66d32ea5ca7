//! Generations in the database.
//!
//! Each step is one statement and no transaction outlives it, so none is open
//! while a provider works. A job is due by the database's clock. A notification is
//! a hint; the claim is the truth.

mod intake;
mod lease;
mod outcome;
mod rows;

use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;

use super::PostgresStore;
#[cfg(test)]
use super::db::Statement;
use crate::domain::{
    Caller, Claim, JobKey, JobRecord, Lease, NewJob, PromptImage, ProviderTicket, Release, Reserved,
};
use crate::store::{JobStore, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[
    &intake::RESERVE,
    &intake::SUBMITTED,
    &intake::DISCARD,
    &intake::LOST,
    &intake::GET,
    &intake::GET_BY_KEY,
    &lease::CLAIM,
    &lease::RENEW,
    &lease::RELEASE,
    &outcome::ORDER,
    &outcome::COMPLETE,
    &outcome::FAIL,
];

#[async_trait]
impl JobStore for PostgresStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved, StoreError> {
        intake::reserve(&self.db, caller, &new).await
    }

    async fn job_submitted(
        &self,
        job: &JobKey,
        ticket: ProviderTicket,
    ) -> Result<JobRecord, StoreError> {
        intake::submitted(&self.db, job, &ticket).await
    }

    async fn discard_job(&self, job: &JobKey) -> Result<(), StoreError> {
        intake::discard(&self.db, job).await
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
        intake::lost(&self.db, job, reason).await
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError> {
        intake::get(&self.db, caller, client_job_id).await
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord, StoreError> {
        intake::get_by_key(&self.db, job).await
    }

    async fn claim_job(
        &self,
        lease: Duration,
        submit_limit: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        lease::claim(&self.db, lease, submit_limit).await
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<(), StoreError> {
        lease::renew(&self.db, lease, lasting).await
    }

    async fn release_job(
        &self,
        lease: &Lease,
        pause: Duration,
        outcome: Release,
    ) -> Result<(), StoreError> {
        lease::release(&self.db, lease, pause, outcome).await?;
        self.notifier.wake_after(pause);
        Ok(())
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        images: Vec<PromptImage>,
    ) -> Result<PromptId, StoreError> {
        outcome::complete(&self.db, lease, &images).await
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<(), StoreError> {
        outcome::fail(&self.db, lease, reason).await
    }

    async fn job_due(&self, at_most: Duration) {
        self.notifier.due(at_most).await;
    }
}
