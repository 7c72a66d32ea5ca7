//! Steps on generations, their answers put into names.
//!
//! Jobs have names of their own, which are the same on every store. Leases are
//! named by the order in which they were given.

use std::sync::Arc;

use super::picks::{order, picture, ticket, words};
use super::{Outcome, World};
use crate::domain::{JobKey, JobRecord, JobState, Lease, NewJob, Reserved};
use crate::store::StoreError;
use crate::store::differential::op::jobs::{JobOp, JobPick, LeasePick, NamePick};
use crate::store::differential::op::{Pick, Who};

/// A job, by whose it is and its name there.
type Known = (Who, Arc<str>);

/// What is known of a store's jobs.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Whatever was taken on, in that order.
    known: Vec<Known>,
    submitting: Vec<Known>,
    leases: Vec<Lease>,
    /// Places of leases that may still be good.
    held: Vec<usize>,
}

/// A claim in comparable form.
#[derive(Debug, PartialEq)]
pub(crate) struct Claimed {
    lease: usize,
    pub(crate) job: JobRecord,
    pub(crate) setbacks: u32,
}

impl World<'_> {
    pub(super) async fn job_step(&mut self, op: &JobOp) -> Result<Outcome, StoreError> {
        let store = self.store;
        let job = match op {
            JobOp::Reserve { by, name, digest, order, vault } => {
                return self.reserve(*by, *name, (*digest, *order), *vault).await;
            }
            JobOp::Submitted(pick, given) => {
                let job = self.jobs.pick(*pick);
                let key = self.key(&job);
                let record = store.job_submitted(&key, ticket(*given)).await?;
                self.jobs.submitted(&job);
                // Whoever took it for lost has no say in it any more.
                self.jobs.forget_leases(&key);
                record
            }
            JobOp::Lost(pick, why) => {
                let job = self.jobs.pick(*pick);
                let record = store.job_lost(&self.key(&job), &words(*why)).await?;
                self.jobs.submitted(&job);
                record
            }
            JobOp::Discard(pick) => {
                let job = self.jobs.pick(*pick);
                store.discard_job(&self.key(&job)).await?;
                self.jobs.submitted(&job);
                return Ok(Outcome::Done);
            }
            JobOp::Job(by, pick) => {
                let (_, name) = self.jobs.pick(*pick);
                store.job(self.caller(*by), &name).await?
            }
            JobOp::JobByKey(pick) => store.job_by_key(&self.key(&self.jobs.pick(*pick))).await?,
            _ => return self.work_step(op).await,
        };
        Ok(Outcome::Job(self.job_named(job)))
    }

    async fn reserve(
        &mut self,
        by: Who,
        name: NamePick,
        (digest, given): (u8, u8),
        vault: Option<Pick>,
    ) -> Result<Outcome, StoreError> {
        let name = self.jobs.name(name);
        let new = NewJob {
            client_job_id: name.clone(),
            digest: [digest; 32],
            request: order(given).into(),
            vault: vault.map(|vault| self.vault(by, vault)),
        };
        let (new, job) = match self.store.reserve_job(self.caller(by), new).await? {
            Reserved::New(job) => (true, job),
            Reserved::Existing(job) => (false, job),
        };
        if new {
            self.jobs.known.push((by, name.clone()));
            self.jobs.submitting.push((by, name));
        }
        Ok(Outcome::Reserved { new, job: self.job_named(job) })
    }

    async fn work_step(&mut self, op: &JobOp) -> Result<Outcome, StoreError> {
        let store = self.store;
        match op {
            JobOp::Claim { lease, submit_limit } => {
                let Some(claim) = store.claim_job(*lease, *submit_limit).await? else {
                    return Ok(Outcome::Claim(None));
                };
                let lease = self.jobs.claimed(claim.lease);
                let (job, setbacks) = (self.job_named(claim.job), claim.failed_attempts);
                return Ok(Outcome::Claim(Some(Claimed { lease, job, setbacks })));
            }
            JobOp::Renew(pick, lasting) => {
                store.renew_lease(&self.lease(*pick), *lasting).await?;
            }
            JobOp::Release(pick, pause, seen) => {
                let lease = self.lease(*pick);
                store.release_job(&lease, *pause, *seen).await?;
                self.jobs.forget_leases(&lease.job);
            }
            JobOp::Fail(pick, why) => {
                let lease = self.lease(*pick);
                store.fail_job(&lease, &words(*why)).await?;
                self.jobs.forget_leases(&lease.job);
            }
            JobOp::Complete(pick, images) => {
                let lease = self.lease(*pick);
                let images = (0..*images).map(picture).collect();
                let prompt = store.complete_job(&lease, images).await?;
                self.jobs.forget_leases(&lease.job);
                let account = lease.job.account;
                let owner = self.callers.iter().position(|caller| caller.account == account);
                self.prompts.note_own(owner.expect("a job has an owner"), prompt);
                return Ok(Outcome::Completed(self.prompts.name(prompt)));
            }
            _ => unreachable!("no work on a job: {op:?}"),
        }
        Ok(Outcome::Done)
    }

    /// The jobs taken on last, at most so many.
    pub(super) async fn look_at_jobs(&mut self, most: usize) -> Result<Vec<JobRecord>, StoreError> {
        let mut found = Vec::new();
        let last: Vec<_> = self.jobs.known.iter().rev().take(most).cloned().collect();
        for job in last {
            match self.store.job_by_key(&self.key(&job)).await {
                Ok(record) => found.push(self.job_named(record)),
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn key(&self, (who, name): &Known) -> JobKey {
        JobKey { account: self.caller(*who).account, client_job_id: name.clone() }
    }

    fn lease(&self, pick: LeasePick) -> Lease {
        let forged = |pick: usize| Lease {
            job: self.key(&self.jobs.pick(JobPick::Any(pick))),
            fence: pick as u128,
        };
        let leases = &self.jobs.leases;
        match pick {
            LeasePick::Held(pick) => choose(&self.jobs.held, pick).map(|at| leases[at].clone()),
            LeasePick::Any(pick) => choose(leases, pick),
            LeasePick::Forged(_) => None,
        }
        .unwrap_or_else(|| forged(pick.number()))
    }

    fn job_named(&mut self, job: JobRecord) -> JobRecord {
        let JobKey { account, client_job_id } = job.key;
        let key = JobKey { account: self.accounts.name(account), client_job_id };
        let state = match job.state {
            JobState::Completed(ticket, id) => JobState::Completed(ticket, self.prompts.name(id)),
            state => state,
        };
        JobRecord { key, vault: self.vaults.name(job.vault), state, ..job }
    }
}

impl Jobs {
    fn pick(&self, pick: JobPick) -> Known {
        let found = match pick {
            JobPick::Submitting(pick) => choose(&self.submitting, pick),
            JobPick::Any(pick) => choose(&self.known, pick),
            JobPick::Nothing => None,
        };
        found.unwrap_or_else(|| (0, "nothing".into()))
    }

    fn name(&self, name: NamePick) -> Arc<str> {
        let used = match name {
            NamePick::Used(pick) => choose(&self.known, pick),
            NamePick::Fresh => None,
        };
        let number = self.known.len();
        match used {
            Some((_, name)) => name,
            // As long as its maker likes, of whatever characters.
            None if number % 7 == 3 => format!("{}'{number}", "jøb \\".repeat(900)).into(),
            None => format!("job {number}").into(),
        }
    }

    fn submitted(&mut self, job: &Known) {
        self.submitting.retain(|submitting| submitting != job);
    }

    /// The place of a lease just given.
    fn claimed(&mut self, lease: Lease) -> usize {
        assert!(!self.leases.contains(&lease), "a fence was given before");
        self.forget_leases(&lease.job);
        self.leases.push(lease);
        self.held.push(self.leases.len() - 1);
        self.leases.len() - 1
    }

    fn forget_leases(&mut self, job: &JobKey) {
        self.held.retain(|at| self.leases[*at].job != *job);
    }
}

fn choose<T: Clone>(things: &[T], pick: usize) -> Option<T> {
    (!things.is_empty()).then(|| things[pick % things.len()].clone())
}
