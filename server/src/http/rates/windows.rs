//! Counts of events in windows of time: a window begins with its first event.

use std::collections::HashMap;
use std::hash::Hash;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::limits::RATE_WINDOWS_MIN;

/// Counts events by keys.
#[derive(Debug)]
pub(crate) struct Windows<K> {
    clock: Clock,
    state: Mutex<State<K>>,
}

#[derive(Debug)]
pub(super) struct State<K> {
    pub(super) open: HashMap<K, Window>,
    /// With as many windows, ended ones are removed.
    prune_at: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) began: Timestamp,
    seconds: u32,
    count: u32,
}

/// How many events of a key there may be in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) quota: u32,
    pub(crate) seconds: u32,
}

/// What is left of a rate, and for how many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) events: u32,
    pub(crate) seconds: u64,
}

impl Window {
    /// Seconds until its end. `None` if it has ended, also if the clock was set back before its
    /// start.
    fn left(&self, now: Timestamp) -> Option<u64> {
        let age = now.duration_since(self.began);
        let left = SignedDuration::from_secs(self.seconds.into()) - age;
        let left = Some(left).filter(|left| left.is_positive() && !age.is_negative())?;
        Some((left.as_millis_f64() / 1000.0).ceil().max(1.0) as u64)
    }
}

impl<K: Copy + Eq + Hash> Windows<K> {
    pub(crate) fn new(clock: Clock) -> Self {
        let (open, prune_at) = (HashMap::new(), RATE_WINDOWS_MIN);
        Self { clock, state: Mutex::new(State { open, prune_at }) }
    }

    /// Counts one event of each of these keys, unless one has had all of its rate. Returns what is
    /// left of each, and if the event was refused the one that is used up for longest.
    pub(crate) fn count(&self, keys: &[(K, Rate)]) -> (Vec<Left>, Option<usize>) {
        let now = self.clock.now();
        let state = &mut *self.state.lock();
        if state.open.len() >= state.prune_at {
            state.open.retain(|_, window| window.left(now).is_some());
            state.prune_at = RATE_WINDOWS_MIN.max(2 * state.open.len());
        }
        let window = |(key, Rate { seconds, .. }): &(K, Rate)| {
            let known = state.open.get(key).copied();
            let open = known.filter(|window| window.left(now).is_some());
            open.unwrap_or(Window { began: now, seconds: *seconds, count: 0 })
        };
        let mut windows: Vec<_> = keys.iter().map(window).collect();
        let used_up = |at: &usize| windows[*at].count >= keys[*at].1.quota;
        let refused = (0..keys.len()).filter(used_up).max_by_key(|at| windows[*at].left(now));
        if refused.is_none() {
            for (window, (key, _)) in windows.iter_mut().zip(keys) {
                window.count += 1;
                state.open.insert(*key, *window);
            }
        }
        let left = windows.iter().zip(keys).map(|(window, (_, rate))| Left {
            events: rate.quota.saturating_sub(window.count),
            seconds: window.left(now).unwrap_or(1),
        });
        (left.collect(), refused)
    }

    #[cfg(test)]
    pub(super) fn lock(&self) -> parking_lot::MutexGuard<'_, State<K>> {
        self.state.lock()
    }
}
