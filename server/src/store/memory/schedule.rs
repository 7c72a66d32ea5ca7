//! When each job is due: what a claim looks through, in place of the accounts.
//!
//! A job has at most one turn here. It knows which, and a turn that was taken
//! from here but is not the job's own any more means nothing. Times are those of
//! a clock that only goes forward, so that nobody's lease ends because somebody
//! set the date. Where a test moves the clock by hand, that one counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::clock::Clock;
use crate::domain::JobKey;

/// One entry: when, counted from the start of the schedule, and a number that no
/// other entry ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    at: Duration,
    number: u64,
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// The provider's word on whether it takes it, since the time of its turn.
    Submission,
    /// A worker, from the time of its turn on.
    Worker,
}

/// The turns of all jobs that have not ended.
#[derive(Debug)]
pub(super) struct Schedule {
    clock: Clock,
    start: (Instant, Timestamp),
    turns: Mutex<Turns>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Turns {
    last_number: u64,
    submitting: BTreeMap<Turn, JobKey>,
    due: BTreeMap<Turn, JobKey>,
}

impl Schedule {
    pub(super) fn new(clock: Clock) -> Self {
        let start = (Instant::now(), clock.now());
        Self { clock, start, turns: Mutex::default(), changed: Notify::new() }
    }

    /// How long ago it was made.
    fn now(&self) -> Duration {
        match &self.clock {
            Clock::System => self.start.0.elapsed(),
            // A clock moved by hand goes forward only.
            Clock::Manual(_) => self.clock.now().duration_since(self.start.1).unsigned_abs(),
        }
    }

    /// Gives a job a turn this long from now, in place of the turn it had.
    pub(super) fn put(
        &self,
        job: JobKey,
        awaits: Awaits,
        pause: Duration,
        former: Option<Turn>,
    ) -> Turn {
        let mut turns = self.turns();
        turns.remove(former);
        turns.last_number += 1;
        let turn = Turn { at: self.now() + pause, number: turns.last_number };
        match awaits {
            Awaits::Submission => turns.submitting.insert(turn, job),
            Awaits::Worker => turns.due.insert(turn, job),
        };
        drop(turns);
        self.changed.notify_one();
        turn
    }

    /// Takes a job's turn away, if it has one.
    pub(super) fn strike(&self, turn: Option<Turn>) {
        self.turns().remove(turn);
    }

    /// Takes out the turn that has been due longest. A submission is due when it
    /// has lasted for `submit_limit`.
    pub(super) fn take_due(&self, submit_limit: Duration) -> Option<(Turn, JobKey)> {
        let now = self.now();
        let mut turns = self.turns();
        let due = turns.due.first_key_value().map(|(turn, _)| turn.at);
        let late = turns.submitting.first_key_value().map(|(turn, _)| turn.at + submit_limit);
        let (due, late) = (due.filter(|at| *at <= now), late.filter(|at| *at <= now));
        match (due, late) {
            (Some(due), Some(late)) if late < due => turns.submitting.pop_first(),
            (None, Some(_)) => turns.submitting.pop_first(),
            (Some(_), _) => turns.due.pop_first(),
            (None, None) => None,
        }
    }

    /// Done when a turn has come or something has changed, or after `at_most`.
    pub(super) async fn due(&self, at_most: Duration) {
        let first = self.turns().due.first_key_value().map(|(turn, _)| turn.at);
        let wait = first.map_or(at_most, |at| at.saturating_sub(self.now()));
        if wait.is_zero() {
            return;
        }
        tokio::select! {
            () = self.changed.notified() => {}
            () = sleep(wait.min(at_most)) => {}
        }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> BTreeMap<Turn, JobKey> {
        let turns = self.turns();
        turns.due.iter().chain(&turns.submitting).map(|(turn, job)| (*turn, job.clone())).collect()
    }
}

impl Turns {
    fn remove(&mut self, turn: Option<Turn>) {
        if let Some(turn) = turn {
            self.due.remove(&turn);
            self.submitting.remove(&turn);
        }
    }
}
