//! Counts of events in windows of time: a window begins with its first event.

use std::collections::HashMap;
use std::hash::Hash;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;

/// After so many new windows, ended ones are removed.
pub(super) const PRUNED_EVERY: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Windows<K> {
    clock: Clock,
    /// The end of each window, and its events.
    pub(super) open: Mutex<HashMap<K, (Timestamp, u32)>>,
}

/// How many events of a key there may be in a time; or what is left of that, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) events: u32,
    pub(crate) seconds: u32,
}

impl<K: Copy + Eq + Hash> Windows<K> {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, open: Mutex::default() }
    }

    /// Counts one event of each of these keys, unless one has had all of its rate. Returns what is
    /// left of each, and if the event was refused the one that is used up for longest.
    pub(crate) fn count(&self, keys: &[(K, Rate)]) -> (Vec<Rate>, Option<usize>) {
        let now = self.clock.now();
        let mut open = self.open.lock();
        let window = |(key, rate): &(K, Rate)| {
            let end = now.checked_add(SignedDuration::from_secs(rate.seconds.into()));
            let end = end.unwrap_or(Timestamp::MAX);
            // One that ends later is of a time before the clock was set back.
            let known = open.get(key).filter(|(known, _)| *known > now && *known <= end);
            known.copied().unwrap_or((end, 0))
        };
        let mut windows: Vec<_> = keys.iter().map(window).collect();
        let used_up = |at: &usize| windows[*at].1 >= keys[*at].1.events;
        let refused = (0..keys.len()).filter(used_up).max_by_key(|at| windows[*at].0);
        if refused.is_none() {
            for (window, (key, _)) in windows.iter_mut().zip(keys) {
                if open.len().is_multiple_of(PRUNED_EVERY) && !open.contains_key(key) {
                    open.retain(|_, (end, _)| *end > now);
                }
                window.1 += 1;
                open.insert(*key, *window);
            }
        }
        let left = windows.iter().zip(keys).map(|((end, count), (_, rate))| Rate {
            events: rate.events.saturating_sub(*count),
            seconds: (end.duration_since(now).as_millis_f64() / 1000.0).ceil() as u32,
        });
        (left.collect(), refused)
    }
}
