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

/// What a job is waiting for since the time of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waiting {
    ForSubmission,
    ForWorker,
}

/// The time is since the start of the schedule; the number makes the entry unique.
pub(super) type DueEntry = (Waiting, Duration, u64);

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
    jobs: BTreeMap<DueEntry, JobKey>,
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
        self.remove(former);
        let mut entries = self.entries();
        entries.last_number += 1;
        let entry = (waiting, self.now() + pause, entries.last_number);
        entries.jobs.insert(entry, job);
        drop(entries);
        self.changed.notify_one();
        entry
    }

    pub(super) fn remove(&self, entry: Option<DueEntry>) {
        if let Some(entry) = entry {
            self.entries().jobs.remove(&entry);
        }
    }

    /// Takes the entry that has been due longest. A submission is due after `submit_limit`.
    pub(super) fn take_due(&self, submit_limit: Duration) -> Option<(DueEntry, JobKey)> {
        let now = self.now();
        let mut entries = self.entries();
        let due = entries.first(Waiting::ForWorker).map(|entry| (entry.1, entry));
        let late =
            entries.first(Waiting::ForSubmission).map(|entry| (entry.1 + submit_limit, entry));
        let both = due.into_iter().chain(late).filter(|(at, _)| *at <= now);
        let (_, first) = both.min_by_key(|(at, _)| *at)?;
        entries.jobs.remove_entry(&first)
    }

    /// Waits until an entry is due or something has changed, `at_most` this long.
    pub(super) async fn due(&self, at_most: Duration) {
        let first = self.entries().first(Waiting::ForWorker);
        let wait = first.map_or(at_most, |(_, at, _)| at.saturating_sub(self.now()));
        if !wait.is_zero() {
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep(wait.min(at_most)) => {}
            }
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> BTreeMap<DueEntry, JobKey> {
        self.entries().jobs.clone()
    }
}

impl Entries {
    fn first(&self, waiting: Waiting) -> Option<DueEntry> {
        let (entry, _) = self.jobs.range((waiting, Duration::ZERO, 0)..).next()?;
        (entry.0 == waiting).then_some(*entry)
    }
}
