//! Operations on jobs. Client job ids are the same on every store; leases are numbered in
//! the order in which they were claimed.

use std::sync::Arc;
use std::time::Duration;

use super::ops::{Action, Values};
use super::runner::{Runner, show};
use crate::domain::{JobKey, Lease, NewJob, Release, Reserved, Turn};
use crate::store::{Result, StoreError};

/// What the test knows of a store's jobs.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// All that were reserved, in that order.
    known: Vec<JobKey>,
    submitting: Vec<JobKey>,
    leases: Vec<Lease>,
    /// Those that may still be valid.
    held: Vec<Lease>,
}

impl Runner<'_> {
    pub(super) async fn on_jobs(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let store = self.store;
        let job = match action {
            Action::ReserveJob => return self.reserve(values).await,
            Action::JobSubmitted => {
                let key = self.pick_job(values);
                let job = store.job_submitted(&key, values.ticket()).await?;
                self.jobs.submitting.retain(|job| *job != key);
                self.jobs.held.retain(|lease| lease.job != key);
                job
            }
            Action::JobLost => {
                let key = self.pick_job(values);
                let job = store.job_lost(&key, &values.text()).await?;
                self.jobs.submitting.retain(|job| *job != key);
                job
            }
            Action::DiscardJob => {
                let key = self.pick_job(values);
                self.jobs.submitting.retain(|job| *job != key);
                return store.discard_job(&key).await.map(show);
            }
            Action::Job => {
                let key = self.pick_job(values);
                store.job(&self.callers[values.account], &key.client_job_id).await?
            }
            Action::Jobs => return self.list(values).await,
            Action::JobByKey => store.job_by_key(&self.pick_job(values)).await?,
            _ => return self.work(action, values).await,
        };
        Ok(show(job))
    }

    /// A page of jobs, from the newest or from any job on.
    async fn list(&mut self, values: &mut Values) -> Result<String> {
        let before = values.maybe(|values| values.choose(&self.jobs.known)).flatten();
        let name = before.as_ref().map(|key| &*key.client_job_id);
        let jobs =
            self.store.jobs(&self.callers[values.account], name, 1 + values.below(4)).await?;
        Ok(show(("listed", before.is_some(), jobs)))
    }

    async fn reserve(&mut self, values: &mut Values) -> Result<String> {
        let number = self.jobs.known.len();
        let used = values.chance(25).then(|| values.choose(&self.jobs.known)).flatten();
        let client_job_id: Arc<str> = match used {
            Some(key) => key.client_job_id,
            None if number % 7 == 3 => format!("{}'{number}", "jøb \\".repeat(900)).into(),
            None => format!("job {number}").into(),
        };
        let new = NewJob {
            client_job_id: client_job_id.clone(),
            digest: [u8::from(values.chance(20)); 32],
            request: values.request().into(),
            vault: values.chance(60).then(|| self.ids.pick("Vault", values)),
        };
        let (new, job) = match self.store.reserve_job(&self.callers[values.account], new).await? {
            Reserved::New(job) => (true, job),
            Reserved::Existing(job) => (false, job),
        };
        if new {
            self.jobs.known.push(job.key.clone());
            self.jobs.submitting.push(job.key.clone());
        }
        Ok(show(("reserved", new, job)))
    }

    /// What a worker does.
    async fn work(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let store = self.store;
        let seconds = |values: &mut Values, limit| Duration::from_secs(values.below(limit) as u64);
        let second = Duration::from_secs(1);
        if action == Action::FailLate {
            let limit = seconds(values, 5) + 2 * second;
            let mut failed = store.fail_late_submissions(limit, &values.text()).await?;
            failed.sort();
            self.jobs.submitting.retain(|job| !failed.contains(job));
            return Ok(show(("failed late", failed)));
        }
        if action == Action::DeleteEnded {
            let deleted = store.delete_ended_jobs(5 * second + seconds(values, 20)).await?;
            return Ok(show(("deleted", deleted > 0, deleted)));
        }
        if action == Action::ClaimJob {
            let mut account = || self.callers[values.below(self.callers.len())].account;
            let (after, other) = (account(), account());
            let except = values.maybe(|_| other).into_iter().collect();
            let lease = seconds(values, 7) + second;
            let claim = store.claim_job(lease, &Turn { after, except }).await?;
            let Some(claim) = claim else { return Ok(show("no job is due")) };
            assert!(!self.jobs.leases.contains(&claim.lease), "a fencing token was used before");
            self.jobs.held.retain(|lease| lease.job != claim.lease.job);
            self.jobs.held.push(claim.lease.clone());
            self.jobs.leases.push(claim.lease);
            let (failed, late) = (claim.failed_attempts, (claim.failing_for, claim.overdue));
            return Ok(show(("claimed", failed, late, claim.job)));
        }
        let lease = self.pick_lease(values);
        match action {
            Action::RenewLease => {
                let lasting = Duration::from_secs(1) + seconds(values, 7);
                return store.renew_lease(&lease, lasting).await.map(show);
            }
            Action::NoteJob => {
                let state = values.maybe(Values::text);
                let (waits_for, begun) = (values.text(), values.chance(30));
                let noted = store.note_job(&lease, state.as_deref(), &waits_for, begun).await;
                return noted.map(show);
            }
            Action::ReleaseJob => {
                use Release::{FailedAttempt, InProgress, Shutdown, Waiting};
                let outcome = [Waiting, InProgress, InProgress, FailedAttempt, Shutdown];
                let (pause, outcome) = (seconds(values, 3), outcome[values.below(5)]);
                store.release_job(&lease, pause, outcome).await?;
            }
            Action::FailJob => store.fail_job(&lease, &values.text()).await?,
            _ => {
                let request = store.job_by_key(&lease.job).await?.request;
                let prompt = store.complete_job(&lease, &request, values.images()).await?;
                self.jobs.held.retain(|held| held.job != lease.job);
                return Ok(show(("completed", prompt)));
            }
        }
        self.jobs.held.retain(|held| held.job != lease.job);
        Ok(show(()))
    }

    /// The jobs reserved last, at most this many.
    pub(super) async fn jobs_snapshot(&mut self, most: usize) -> Result<String> {
        let mut text = String::new();
        let last: Vec<_> = self.jobs.known.iter().rev().take(most).cloned().collect();
        for key in last {
            match self.store.job_by_key(&key).await {
                Ok(job) => text += &show(job),
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(text)
    }

    fn pick_job(&self, values: &mut Values) -> JobKey {
        let from = match values.below(17) {
            0 => &[][..],
            1..5 => &self.jobs.known,
            _ => &self.jobs.submitting,
        };
        let unknown =
            || JobKey { account: self.callers[0].account, client_job_id: "unknown".into() };
        values.choose(from).unwrap_or_else(unknown)
    }

    /// Usually a lease that is held, sometimes an old one or a forged one.
    fn pick_lease(&self, values: &mut Values) -> Lease {
        let from = match values.below(16) {
            0 => &[][..],
            1..4 => &self.jobs.leases,
            _ => &self.jobs.held,
        };
        let chosen = values.choose(from);
        chosen.unwrap_or_else(|| Lease { job: self.pick_job(values), fence: 7 })
    }
}
