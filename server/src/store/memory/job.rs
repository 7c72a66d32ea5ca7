//! A job in memory, and the orders in which jobs are found.

use std::cmp::Reverse;
use std::iter;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::account::later;
use super::data::Data;
use crate::domain::{AccountId, JobKey, JobRecord, JobState};

/// A job with what its workers need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) digest: [u8; 32],
    /// When it was reserved, and later, when it is due for workers.
    pub(super) due_at: Timestamp,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
    /// When the first of them was.
    pub(super) failing_since: Option<Timestamp>,
}

/// What is to be done with a job next: its submission, its work, and its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Phase {
    Submitting,
    Queued,
    Ended,
}

/// Where a job is among all jobs: those of one phase and account in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) phase: Phase,
    pub(super) account: AccountId,
    /// When it is due, and after its end, when that was.
    pub(super) at: Timestamp,
    pub(super) name: Arc<str>,
}

impl Place {
    pub(super) fn job(&self) -> (AccountId, Arc<str>) {
        (self.account, self.name.clone())
    }
}

impl Job {
    pub(super) const fn phase(&self) -> Phase {
        match self.record.state {
            JobState::Submitting => Phase::Submitting,
            JobState::Queued(_) | JobState::InProgress(_) => Phase::Queued,
            JobState::Completed(..) | JobState::Failed(..) => Phase::Ended,
        }
    }

    pub(super) fn is_submitting(&self) -> bool {
        self.phase() == Phase::Submitting
    }

    pub(super) fn place(&self) -> Place {
        let (phase, key) = (self.phase(), self.record.key.clone());
        let at = if phase == Phase::Ended { self.record.updated_at } else { self.due_at };
        Place { phase, account: key.account, at, name: key.client_job_id }
    }

    /// Where it is among those that the account has listed.
    pub(super) fn listed_at(&self) -> (AccountId, Reverse<(Timestamp, [u8; 32])>) {
        let JobRecord { key, created_at, .. } = &self.record;
        (key.account, Reverse((*created_at, JobKey::name_digest(&key.client_job_id))))
    }

    pub(super) fn enter(&mut self, state: JobState, now: Timestamp) {
        self.record.state = state;
        self.record.updated_at = later(now, self.record.updated_at);
    }

    /// Enters a final state.
    pub(super) fn end(&mut self, state: JobState, now: Timestamp) {
        self.enter(state, now);
        self.fence = None;
    }

    pub(super) fn fail_attempt(&mut self, now: Timestamp) {
        self.failed_attempts += 1;
        self.failing_since.get_or_insert(now);
    }
}

impl Data {
    pub(super) fn job(&self, key: &JobKey) -> Option<&Job> {
        self.jobs.get(&(key.account, key.client_job_id.clone()))
    }

    /// Adds a job or replaces it.
    pub(super) fn put_job(&mut self, job: Job) {
        let name = job.record.key.client_job_id.clone();
        match self.job(&job.record.key).map(Job::place) {
            Some(before) => drop(self.job_places.remove(&before)),
            None => self.job_list.insert(job.listed_at(), name.clone()),
        }
        self.job_places.insert(job.place(), ());
        self.jobs.insert((job.record.key.account, name), job);
    }

    pub(super) fn remove_job(&mut self, job: &(AccountId, Arc<str>)) {
        if let Some(removed) = self.jobs.remove(job) {
            self.job_places.remove(&removed.place());
            self.job_list.remove(&removed.listed_at());
        }
    }

    /// The first place of each account that has jobs in this phase.
    pub(super) fn first_places(&self, phase: Phase) -> impl Iterator<Item = &Place> {
        let mut from =
            Place { phase, account: AccountId(i64::MIN), at: Timestamp::MIN, name: "".into() };
        iter::from_fn(move || {
            let (first, ()) = self.job_places.range(from.clone()..).next()?;
            from.account = AccountId(first.account.0 + 1);
            Some(first).filter(|first| first.phase == phase)
        })
    }

    /// The places in this phase up to this time, of one account after the other.
    pub(super) fn places_until(
        &self,
        phase: Phase,
        until: Timestamp,
    ) -> impl Iterator<Item = &Place> {
        self.first_places(phase).flat_map(move |first| {
            let places = self.job_places.range(first.clone()..).map(|(place, ())| place);
            places.take_while(move |place| {
                (place.phase, place.account) == (phase, first.account) && place.at <= until
            })
        })
    }
}
