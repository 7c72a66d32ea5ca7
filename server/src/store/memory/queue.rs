//! Generation jobs in memory as workers see them.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::PromptId;
use tokio::time::sleep;

use super::MemoryStore;
use super::data::{Job, Phase, QueueKey};
use crate::clock::{after, before};
use crate::domain::{
    AccountId, Claim, GenerationRequest, JobKey, JobState, Lease, PromptImage, Release, Turn,
    output_prompt,
};
use crate::limits::JOBS_AT_ONCE;
use crate::store::{JobQueue, Result, StoreError};

impl MemoryStore {
    /// Ends the leases of a server that has ended: nobody else has this store.
    #[cfg(feature = "folder")]
    pub(crate) async fn end_leases(&self) -> Result<()> {
        self.step(|data| {
            let jobs = data.jobs.values().filter(|job| job.fence.is_some());
            for job in jobs.cloned().collect::<Vec<_>>() {
                data.put_job(Job { fence: None, due_at: data.now(), ..job });
            }
            Ok(())
        })
        .await
    }

    async fn change_leased(
        &self,
        lease: &Lease,
        step: impl FnOnce(&mut Job, Timestamp) + Send,
    ) -> Result<()> {
        let valid = |job: &Job| job.fence == Some(lease.fence);
        self.change_job(&lease.job, StoreError::LeaseLost, valid, step).await
    }
}

/// The time from one to another, zero if the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    to.duration_since(from).try_into().unwrap_or_default()
}

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim_job(&self, lease: Duration, turn: &Turn) -> Result<Option<Claim>> {
        self.step(|data| {
            let now = data.now();
            let due = data.first_keys(Phase::Queued).filter(|key| key.at <= now);
            let due = due.filter(|key| !turn.except.contains(&key.account));
            let next = due.min_by_key(|key| (key.account <= turn.after, key.account));
            let job = next.and_then(|key| data.jobs.get(&key.job()));
            let Some(mut job) = job.cloned() else { return Ok(None) };
            let overdue = between(job.due_at, now);
            if job.fence.is_some() {
                job.fail_attempt(now);
            }
            let fence = rand::random();
            (job.fence, job.due_at) = (Some(fence), after(now, lease));
            let failing_for = job.failing_since.map_or(Duration::ZERO, |at| between(at, now));
            let (failed_attempts, record) = (job.failed_attempts, job.record.clone());
            data.put_job(job);
            let lease = Lease { job: record.key.clone(), fence };
            Ok(Some(Claim { lease, job: record, failed_attempts, failing_for, overdue }))
        })
        .await
    }

    async fn fail_late_submissions(&self, limit: Duration, reason: &str) -> Result<Vec<JobKey>> {
        self.step(|data| {
            let now = data.now();
            let mut late: Vec<_> = data.keys_until(Phase::Submitting, before(now, limit)).collect();
            late.sort_by_key(|key| key.at);
            let late = late.into_iter().take(JOBS_AT_ONCE).map(QueueKey::job).collect::<Vec<_>>();
            let failed = late.iter().filter_map(|job| {
                let mut job = data.jobs.get(job)?.clone();
                let key = job.record.key.clone();
                job.end(JobState::Failed(None, reason.into()), now);
                data.put_job(job);
                Some(key)
            });
            Ok(failed.collect())
        })
        .await
    }

    async fn delete_ended_jobs(&self, age: Duration) -> Result<usize> {
        self.step(|data| {
            let old = data.keys_until(Phase::Ended, before(data.now(), age));
            let old: Vec<_> = old.take(JOBS_AT_ONCE).map(QueueKey::job).collect();
            old.iter().for_each(|job| data.remove_job(job));
            Ok(old.len())
        })
        .await
    }

    async fn renew_lease(&self, lease: &Lease, lasting: Duration) -> Result<()> {
        self.change_leased(lease, |job, now| job.due_at = after(now, lasting)).await
    }

    async fn note_job(
        &self,
        lease: &Lease,
        provider_state: Option<&str>,
        waits_for: &str,
        has_begun: bool,
    ) -> Result<()> {
        self.change_leased(lease, |job, now| {
            if let (true, JobState::Queued(ticket)) = (has_begun, &job.record.state) {
                job.enter(JobState::InProgress(ticket.clone()), now);
            }
            use JobState::{InProgress, Queued};
            if let (Queued(ticket) | InProgress(ticket), Some(state)) =
                (&mut job.record.state, provider_state)
            {
                ticket.provider_state = state.into();
            }
            job.record.waits_for = Some(waits_for.into());
        })
        .await
    }

    async fn release_job(&self, lease: &Lease, pause: Duration, outcome: Release) -> Result<()> {
        self.change_leased(lease, |job, now| {
            match outcome {
                Release::FailedAttempt => job.fail_attempt(now),
                Release::Shutdown => {}
                Release::Waiting | Release::InProgress => {
                    (job.failed_attempts, job.failing_since) = (0, None);
                    job.record.waits_for = None;
                }
            }
            if let (Release::InProgress, JobState::Queued(ticket)) = (outcome, &job.record.state) {
                job.enter(JobState::InProgress(ticket.clone()), now);
            }
            (job.fence, job.due_at) = (None, after(now, pause));
        })
        .await
    }

    async fn complete_job(
        &self,
        lease: &Lease,
        request: &GenerationRequest,
        images: Vec<PromptImage>,
    ) -> Result<PromptId> {
        self.step(|data| {
            let job = data.job(&lease.job).filter(|job| job.fence == Some(lease.fence));
            let mut job = job.ok_or(StoreError::LeaseLost)?.clone();
            let ticket = job.record.state.ticket().cloned().ok_or(StoreError::LeaseLost)?;
            let mut own = data.of_mut(lease.job.account);
            if own.vault(job.record.vault).is_err() {
                job.record.vault = own.general()?;
            }
            let prompt = own.create_prompt(output_prompt(request, job.record.vault, images))?;
            job.end(JobState::Completed(ticket, prompt), data.now());
            data.put_job(job);
            Ok(prompt)
        })
        .await
    }

    async fn fail_job(&self, lease: &Lease, reason: &str) -> Result<()> {
        self.change_leased(lease, |job, now| {
            let ticket = job.record.state.ticket().cloned();
            job.end(JobState::Failed(ticket, reason.into()), now);
        })
        .await
    }

    async fn job_due(&self, at_most: Duration, except: &[AccountId]) {
        let wait = {
            let data = self.data.read();
            let queued = data.first_keys(Phase::Queued);
            let queued = queued.filter(|key| !except.contains(&key.account));
            let first = queued.map(|key| key.at).min();
            first.map_or(at_most, |at| between(data.now(), at))
        };
        if !wait.is_zero() {
            tokio::select! {
                () = self.jobs_changed.notified() => {}
                () = sleep(wait.min(at_most)) => {}
            }
        }
    }
}
