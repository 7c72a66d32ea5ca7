//! Decides that all sleep, and lets the clock jump.
//!
//! A task beside those it watches, and none of the sleepers: a sleep may be kept without
//! being polled, and could not drive the others then. It ends when nobody sleeps.

use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};

use super::{State, VirtualClock, wake};

/// How often in a row nothing must have stirred. Each time everybody who was ready has
/// had a turn, so this is how many tasks may hand on to each other before one sleeps.
const TURNS: u32 = 32;

/// As [`TURNS`], where others work at the same time; each takes [`REST`] at least.
const TURNS_BESIDE_OTHERS: u32 = 8;

/// What others get to do between two looks at them.
const REST: Duration = Duration::from_micros(50);

/// How long a sleeper may take to answer a call. Who takes longer is not polled any more,
/// and is not called again until it is.
const PATIENCE: Duration = Duration::from_millis(200);

/// What stands for the call that a sleeper answered when it did not.
pub(super) const NO_ANSWER: u64 = u64::MAX;

/// Sees to it that a driver runs in this runtime; outside of any there is none.
pub(super) fn start(clock: &VirtualClock) {
    if clock.0.by_hand {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    if clock.state().driven.insert(runtime.id()) {
        let alone = runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        let (seen, quiet, called) = (0, 0, None);
        let clock = clock.clone();
        let driver = Driver { clock, runtime: runtime.clone(), alone, seen, quiet, called };
        runtime.spawn(driver.run());
    }
}

struct Driver {
    clock: VirtualClock,
    runtime: Handle,
    /// Whether nothing runs while this does.
    alone: bool,
    seen: u64,
    quiet: u32,
    /// When all were called, if nothing has stirred since.
    called: Option<Instant>,
}

impl Driver {
    async fn run(mut self) {
        loop {
            tokio::task::yield_now().await;
            if !self.alone {
                std::thread::sleep(REST);
            }
            if self.look() {
                return;
            }
        }
    }

    /// One look at the clock; says whether there is nothing more to do.
    fn look(&mut self) -> bool {
        let clock = self.clock.clone();
        let mut state = clock.state();
        if state.sleepers.is_empty() {
            return self.end(&mut state);
        }
        if state.stirs != self.seen {
            (self.seen, self.quiet, self.called) = (state.stirs, 0, None);
            return false;
        }
        self.quiet += 1;
        let turns = if self.alone { TURNS } else { TURNS_BESIDE_OTHERS };
        if self.quiet < turns {
            return false;
        }
        let awake = match if self.alone { Others::Sleep } else { self.others(&mut state) } {
            Others::Sleep => state.jump(),
            Others::Called(all) => all,
            Others::Work => return false,
            Others::AreGone => return self.end(&mut state),
        };
        drop(state);
        wake(awake);
        false
    }

    /// Under the lock of the last look, so that whoever sleeps next finds none running.
    fn end(&self, state: &mut State) -> bool {
        state.driven.remove(&self.runtime.id());
        true
    }

    /// What those do who may run at the same time.
    ///
    /// The task of `block_on` is on no worker, and may be awake without having had a turn
    /// yet. So all who sleep are woken once, and have to go to sleep again.
    fn others(&mut self, state: &mut State) -> Others {
        if !rest(&self.runtime) {
            return Others::Work;
        }
        let Some(called) = self.called else {
            state.calls += 1;
            self.called = Some(Instant::now());
            let there = state.sleepers.values().filter(|sleeper| sleeper.answered != NO_ANSWER);
            return Others::Called(there.map(|sleeper| sleeper.waker.clone()).collect());
        };
        let call = state.calls;
        let silent = state.sleepers.values_mut().filter(|sleeper| sleeper.answered < call);
        for sleeper in silent {
            if called.elapsed() < PATIENCE {
                return Others::Work;
            }
            sleeper.answered = NO_ANSWER;
        }
        let answered = state.sleepers.values().any(|sleeper| sleeper.answered != NO_ANSWER);
        if answered { Others::Sleep } else { Others::AreGone }
    }
}

enum Others {
    Work,
    /// These are to be woken, to show whether they do.
    Called(Vec<Waker>),
    Sleep,
    /// Nobody waits for a sleep that is there, so time need not go on.
    AreGone,
}

/// Whether no worker but the one that asks has anything to do.
#[cfg(target_has_atomic = "64")]
fn rest(runtime: &Handle) -> bool {
    let metrics = runtime.metrics();
    let parked = |worker: &usize| metrics.worker_park_unpark_count(*worker) % 2 == 1;
    let awake = metrics.num_workers() - (0..metrics.num_workers()).filter(parked).count();
    awake <= 1 && metrics.global_queue_depth() == 0
}

/// Not to be known here.
#[cfg(not(target_has_atomic = "64"))]
fn rest(_: &Handle) -> bool {
    true
}
