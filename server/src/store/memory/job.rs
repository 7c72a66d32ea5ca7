//! The orders in which jobs in memory are found.

use std::iter;
use std::sync::Arc;

use jiff::Timestamp;

use super::data::Data;
use super::rows::{Job, Phase, QueueKey};
use crate::domain::{AccountId, JobKey, JobRecord, JobState};

impl Data {
    pub(super) fn job(&self, key: &JobKey) -> Option<&Job> {
        self.jobs.get(&(key.account, key.client_job_id.clone()))
    }

    pub(super) fn put_job(&mut self, job: Job) {
        let name = job.record.key.client_job_id.clone();
        match self.job(&job.record.key).map(Job::queue_key) {
            Some(before) => {
                self.job_queue.remove(&before);
                if before.phase != Phase::Ended && job.phase() == Phase::Ended {
                    self.note_end(&job.record);
                }
            }
            None => self.job_list.insert(job.list_key(), name.clone()),
        }
        self.job_queue.insert(job.queue_key(), ());
        self.jobs.insert((job.record.key.account, name), job);
    }

    fn note_end(&mut self, job: &JobRecord) {
        let Some(extension) = &mut self.extension else { return };
        let prompt = match job.state {
            JobState::Completed(_, id) => self.prompts.get(&(job.key.account, id)),
            _ => None,
        };
        let images = prompt.map(|prompt| prompt.shown.images.clone());
        extension.job_ended(job, images.unwrap_or_default());
    }

    pub(super) fn remove_job(&mut self, job: &(AccountId, Arc<str>)) {
        if let Some(removed) = self.jobs.remove(job) {
            self.job_queue.remove(&removed.queue_key());
            self.job_list.remove(&removed.list_key());
        }
    }

    /// The first key of each account that has jobs in this phase.
    pub(super) fn first_keys(&self, phase: Phase) -> impl Iterator<Item = &QueueKey> {
        let mut from =
            QueueKey { phase, account: AccountId(i64::MIN), at: Timestamp::MIN, name: "".into() };
        iter::from_fn(move || {
            let (first, ()) = self.job_queue.range(from.clone()..).next()?;
            from.account = AccountId(first.account.0 + 1);
            Some(first).filter(|first| first.phase == phase)
        })
    }

    /// The keys in this phase up to this time, of one account after the other.
    pub(super) fn keys_until(
        &self,
        phase: Phase,
        until: Timestamp,
    ) -> impl Iterator<Item = &QueueKey> {
        self.first_keys(phase).flat_map(move |first| {
            let keys = self.job_queue.range(first.clone()..).map(|(key, ())| key);
            keys.take_while(move |key| {
                (key.phase, key.account) == (phase, first.account) && key.at <= until
            })
        })
    }
}
