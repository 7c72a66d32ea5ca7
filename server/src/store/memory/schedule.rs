//! When each job is due, in one place, so that a claim does not scan the accounts.
//!
//! A job has at most one valid entry here and knows which; an older entry means nothing. Times
//! are monotonic, unless a test moves the clock.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::clock::Clock;
use crate::domain::JobKey;

/// The time since the start of the schedule, and a number that makes the entry unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DueEntry {
    at: Duration,
    number: u64,
}

/// What a job is waiting for since the time of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    ForSubmission,
    ForWorker,
}

/// The entries of all jobs that have not ended.
#[derive(Debug)]
pub(super) struct Schedule {
    clock: Clock,
    start: (Instant, Timestamp),
    entries: Mutex<Entries>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    last_number: u64,
    submitting: BTreeMap<DueEntry, JobKey>,
    due: BTreeMap<DueEntry, JobKey>,
}

impl Schedule {
    pub(super) fn new(clock: Clock) -> Self {
        let start = (Instant::now(), clock.now());
        Self { clock, start, entries: Mutex::default(), changed: Notify::new() }
    }

    fn now(&self) -> Duration {
        match &self.clock {
            Clock::System => self.start.0.elapsed(),
            Clock::Manual(_) => self.clock.now().duration_since(self.start.1).unsigned_abs(),
        }
    }

    /// Gives a job an entry this long from now, in place of its former one.
    pub(super) fn put(
        &self,
        job: JobKey,
        waiting: Waiting,
        pause: Duration,
        former: Option<DueEntry>,
    ) -> DueEntry {
        let mut entries = self.entries();
        entries.remove(former);
        entries.last_number += 1;
        let entry = DueEntry { at: self.now() + pause, number: entries.last_number };
        match waiting {
            Waiting::ForSubmission => entries.submitting.insert(entry, job),
            Waiting::ForWorker => entries.due.insert(entry, job),
        };
        drop(entries);
        self.changed.notify_one();
        entry
    }

    pub(super) fn remove(&self, entry: Option<DueEntry>) {
        self.entries().remove(entry);
    }

    /// Takes the entry that has been due longest. A submission is due after `submit_limit`.
    pub(super) fn take_due(&self, submit_limit: Duration) -> Option<(DueEntry, JobKey)> {
        let now = self.now();
        let mut entries = self.entries();
        let due = entries.due.first_key_value().map(|(entry, _)| entry.at);
        let late = entries.submitting.first_key_value().map(|(entry, _)| entry.at + submit_limit);
        let (due, late) = (due.filter(|at| *at <= now), late.filter(|at| *at <= now));
        match (due, late) {
            (None, None) => None,
            (due, Some(late)) if due.is_none_or(|due| late < due) => entries.submitting.pop_first(),
            _ => entries.due.pop_first(),
        }
    }

    /// Waits until an entry is due or something has changed, `at_most` this long.
    pub(super) async fn due(&self, at_most: Duration) {
        let first = self.entries().due.first_key_value().map(|(entry, _)| entry.at);
        let wait = first.map_or(at_most, |at| at.saturating_sub(self.now()));
        if wait.is_zero() {
            return;
        }
        tokio::select! {
            () = self.changed.notified() => {}
            () = sleep(wait.min(at_most)) => {}
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> BTreeMap<DueEntry, JobKey> {
        let entries = self.entries();
        let all = entries.due.iter().chain(&entries.submitting);
        all.map(|(entry, job)| (*entry, job.clone())).collect()
    }
}

impl Entries {
    fn remove(&mut self, entry: Option<DueEntry>) {
        if let Some(entry) = entry {
            self.due.remove(&entry);
            self.submitting.remove(&entry);
        }
    }
}
