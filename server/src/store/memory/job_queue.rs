//! Generation jobs in memory as workers see them.

use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use promptarium::PromptId;
use tokio::time::sleep;

use super::jobs::Job;
use super::{MemoryStore, write};
use crate::domain::{
    AccountId, Claim, JobKey, JobState, Lease, PromptImage, Release, Turn, output_prompt,
};
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobQueue, Result, StoreError};

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        let mut jobs = self.shared.jobs();
        let Some(key) = jobs.next(self.shared.elapsed(), turn) else { return Ok(None) };
        Ok(jobs.update(&key, |job| {
            let overdue = self.shared.elapsed().saturating_sub(job.due_at);
            if job.fence.is_some() {
                job.fail_attempt(&self.shared);
            }
            let fence = rand::random();
            job.fence = Some(fence);
            job.due_in(lease, &self.shared);
            let lease = Lease { job: key.clone(), fence };
            let failed_attempts = job.failed_attempts;
            let failing =
                job.failing_since.map(|since| self.shared.elapsed().saturating_sub(since));
            let failing_for = failing.unwrap_or_default();
            Claim { lease, job: job.record.clone(), failed_attempts, failing_for, overdue }
        }))
    }

    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>> {
        let mut jobs = self.shared.jobs();
        let since = self.shared.elapsed().checked_sub(limit);
        let late = since.map_or_else(Vec::new, |since| jobs.late(since));
        for key in &late {
            jobs.update(key, |job| {
                job.end(JobState::Failed(None, reason.into()), &self.shared);
            });
        }
        Ok(late)
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        let mut jobs = self.shared.jobs();
        let (now, age) =
            (self.shared.now(), SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX));
        let is_old = |job: &Job| now.duration_since(job.record.updated_at) >= age;
        let old = jobs.by_key.extract_if(|_, job| job.place().is_none() && is_old(job));
        Ok(old.take(JOBS_AT_ONCE).count())
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        self.shared.change_leased(lease, |job| job.due_in(lasting, &self.shared))
    }

    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
    ) -> Result<()> {
        self.shared.change_leased(lease, |job| {
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
        self.shared.change_leased(lease, |job| {
            match outcome {
                Release::FailedAttempt => job.fail_attempt(&self.shared),
                Release::Shutdown => {}
                Release::Waiting | Release::InProgress => {
                    (job.failed_attempts, job.failing_since) = (0, None);
                    job.record.waits_for = None;
                }
            }
            if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
                let ticket = ticket.clone();
                job.enter(JobState::InProgress(ticket), &self.shared);
            }
            job.fence = None;
            job.due_in(pause, &self.shared);
        })
    }

    async fn complete_job(&self, lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId> {
        let (account, shared) = (self.account(lease.job.account)?, &self.shared);
        let mut account = write(&account);
        shared.change_leased(lease, |job| {
            // A job that the provider never accepted has no output.
            let ticket = job.record.state.ticket().cloned().ok_or(StoreError::LeaseLost)?;
            if account.check_vault(Some(job.record.vault)).is_err() {
                job.record.vault = account.general()?;
            }
            let new = output_prompt(&job.record.request, job.record.vault);
            let prompt = account.create_prompt(new, images.into(), shared.now(), shared)?.id;
            job.end(JobState::Completed(ticket, prompt), shared);
            Ok(prompt)
        })?
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        self.shared.change_leased(lease, |job| {
            let ticket = job.record.state.ticket().cloned();
            job.end(JobState::Failed(ticket, reason.into()), &self.shared);
        })
    }

    async fn job_due(&self, at_most: Duration, except: &[AccountId]) {
        let shared = &self.shared;
        let first = {
            let jobs = shared.jobs();
            let all = jobs.first_of_accounts(AccountId::default());
            all.filter(|(_, key)| !except.contains(&key.account)).map(|(at, _)| at).min()
        };
        let wait = first.map_or(at_most, |at| at.saturating_sub(shared.elapsed()));
        if !wait.is_zero() {
            tokio::select! {
                () = shared.jobs_changed.notified() => {}
                () = sleep(wait.min(at_most)) => {}
            }
        }
    }
}
