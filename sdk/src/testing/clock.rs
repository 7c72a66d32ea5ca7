//! Time that passes only when nobody has anything else to do.
//!
//! The clock holds who sleeps and until when; `driver` decides that nobody is awake.

mod driver;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::future::BoxFuture;
use tokio::runtime;

use crate::{Clock, Timestamp};

/// What does not come within this time, a thousand years, never comes.
const NEVER: Duration = Duration::from_secs(1_000 * 365 * 24 * 3600);

/// 1 March 2026, noon.
const START: Timestamp = Timestamp::constant(1_772_366_400, 0);

/// A clock for tests: it stands still while anybody works, and jumps to the end of the
/// nearest sleep when all sleep.
///
/// A sleep of an hour takes no time, and is over after exactly one hour of this clock; of
/// two sleeps the shorter one always ends first. Neither `tokio::time::pause` nor the
/// feature `test-util` is needed, and tests on several threads each have their own time.
/// Clones are the same clock.
///
/// # Limits
///
/// - Time passes on its own only inside a Tokio runtime; elsewhere, and with
///   [`by_hand`](Self::by_hand), only by [`advance`](Self::advance).
/// - The clock sees tasks, not sockets, files or threads. Who waits for one of these is
///   taken to be asleep, so with a real connection every time limit would run out at once:
///   use it with a [`Script`](super::Script).
/// - In a runtime of several threads a jump takes about a millisecond, and time may go on
///   while a thread outside the runtime, or `block_on` itself, is at work on something
///   that does not sleep. Spawned tasks may take as long as they need.
/// - A sleep longer than a thousand years never ends.
///
/// ```
/// use std::time::Duration;
/// use promptarium::Clock as _;
/// use promptarium::testing::VirtualClock;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let clock = VirtualClock::new();
/// clock.sleep(Duration::from_secs(3600)).await;
/// assert_eq!(clock.elapsed(), Duration::from_secs(3600));
/// # }
/// ```
#[derive(Clone)]
pub struct VirtualClock(Arc<Shared>);

struct Shared {
    by_hand: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: Duration,
    next_id: u64,
    /// Who sleeps, the nearest end first. A waker may run anything when it is woken or
    /// dropped, so neither happens under the lock.
    sleepers: BTreeMap<Key, Sleeper>,
    /// The runtimes in which a driver looks whether all sleep.
    driven: HashSet<runtime::Id>,
    /// Counts whatever shows that somebody is awake.
    stirs: u64,
    /// Counts how often all were called to show whether they really sleep.
    calls: u64,
    slept: Vec<Duration>,
}

/// When a sleep ends, and which one it is.
type Key = (Duration, u64);

struct Sleeper {
    waker: Waker,
    /// The last call it answered, by being polled; [`driver::NO_ANSWER`] of one
    /// that is kept without being polled.
    answered: u64,
}

impl VirtualClock {
    /// A clock that jumps when all sleep.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Shared { by_hand: false, state: Mutex::default() }))
    }

    /// A clock that moves only by [`advance`](Self::advance).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use promptarium::testing::VirtualClock;
    /// let clock = VirtualClock::by_hand();
    /// clock.advance(Duration::from_secs(5));
    /// assert_eq!(clock.elapsed(), Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn by_hand() -> Self {
        Self(Arc::new(Shared { by_hand: true, state: Mutex::default() }))
    }

    /// How much time has passed since the clock was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Lets this much time pass at once. Every sleep that is over by then ends.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        let then = state.now.saturating_add(by).min(NEVER);
        let awake = state.turn_to(then);
        drop(state);
        wake(awake);
    }

    /// The sleeps that came to their end, each with its length, in the order in which they
    /// did: the delays before calls were made again, those between polls, time limits that
    /// ran out. What was given up before is not among them, nor is a sleep of nothing.
    #[must_use]
    pub fn slept(&self) -> Vec<Duration> {
        self.state().slept.clone()
    }

    /// How many sleeps have not come to their end yet, time limits among them.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.state().sleepers.len()
    }

    /// Jumps to the end of the nearest sleep, if there is one.
    pub(super) fn jump(&self) {
        let mut state = self.state();
        let awake = state.jump();
        drop(state);
        wake(awake);
    }

    /// Somebody does something that no sleep shows.
    pub(super) fn stir(&self) {
        self.state().stirs += 1;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    #[must_use]
    fn jump(&mut self) -> Vec<Waker> {
        let nearest = self.sleepers.keys().next().map(|(end, _)| *end);
        nearest.map(|end| self.turn_to(end)).unwrap_or_default()
    }

    /// Gives those whose sleep is over, to be woken.
    #[must_use]
    fn turn_to(&mut self, now: Duration) -> Vec<Waker> {
        self.now = self.now.max(now);
        self.stirs += 1;
        let later = self.sleepers.split_off(&(self.now, u64::MAX));
        let awake = std::mem::replace(&mut self.sleepers, later);
        awake.into_values().map(|sleeper| sleeper.waker).collect()
    }
}

fn wake(sleepers: Vec<Waker>) {
    sleepers.into_iter().for_each(Waker::wake);
}

impl Clock for VirtualClock {
    fn elapsed(&self) -> Duration {
        self.elapsed()
    }

    /// 1 March 2026, noon, and what has passed since.
    fn now(&self) -> Timestamp {
        START.checked_add(self.elapsed()).unwrap_or(Timestamp::MAX)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        let end = state.now.checked_add(duration).filter(|end| *end < NEVER);
        let key = end.map(|end| (end, id));
        drop(state);
        Box::pin(Sleep { clock: self.clone(), length: duration, key })
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("VirtualClock")
            .field("elapsed", &state.now)
            .field("sleepers", &state.sleepers.len())
            .finish_non_exhaustive()
    }
}

/// One sleep. It is with the clock from its first poll to its end.
struct Sleep {
    clock: VirtualClock,
    length: Duration,
    /// None of a sleep that never ends.
    key: Option<Key>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(key) = self.key else { return Poll::Pending };
        let mut state = self.clock.state();
        if state.now >= key.0 {
            if self.length > Duration::ZERO {
                state.slept.push(self.length);
            }
            return Poll::Ready(());
        }
        let sleeper = Sleeper { waker: cx.waker().clone(), answered: state.calls };
        let before = state.sleepers.insert(key, sleeper);
        state.stirs += u64::from(before.is_none());
        drop(state);
        driver::start(&self.clock);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut state = self.clock.state();
        let gone = state.sleepers.remove(&key);
        state.stirs += u64::from(gone.is_some());
        drop(state);
    }
}

#[cfg(test)]
mod tests;
