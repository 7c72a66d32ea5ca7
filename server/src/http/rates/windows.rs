//! Counts of events in windows of time: a window begins with its first event.

use std::collections::HashMap;
use std::hash::Hash;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::limits::RATE_WINDOWS_PRUNED;

/// Counts events by keys.
#[derive(Debug)]
pub(crate) struct Windows<K> {
    clock: Clock,
    pub(super) open: Mutex<HashMap<K, Window>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) end: Timestamp,
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

impl<K: Copy + Eq + Hash> Windows<K> {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, open: Mutex::default() }
    }

    /// Counts one event of each of these keys, unless one has had all of its rate. Returns what is
    /// left of each, and if the event was refused the one that is used up for longest.
    pub(crate) fn count(&self, keys: &[(K, Rate)]) -> (Vec<Left>, Option<usize>) {
        let now = self.clock.now();
        let mut open = self.open.lock();
        let window = |(key, rate): &(K, Rate)| {
            let end = now.checked_add(SignedDuration::from_secs(rate.seconds.into()));
            let end = end.unwrap_or(Timestamp::MAX);
            // One that ends later is of a time before the clock was set back.
            let known = open.get(key).filter(|known| known.end > now && known.end <= end);
            known.copied().unwrap_or(Window { end, count: 0 })
        };
        let mut windows: Vec<_> = keys.iter().map(window).collect();
        let used_up = |at: &usize| windows[*at].count >= keys[*at].1.quota;
        let refused = (0..keys.len()).filter(used_up).max_by_key(|at| windows[*at].end);
        if refused.is_none() {
            for (window, (key, _)) in windows.iter_mut().zip(keys) {
                if open.len() % RATE_WINDOWS_PRUNED == 0 && !open.contains_key(key) {
                    open.retain(|_, window| window.end > now);
                }
                window.count += 1;
                open.insert(*key, *window);
            }
        }
        let left = windows.iter().zip(keys).map(|(window, (_, rate))| Left {
            events: rate.quota.saturating_sub(window.count),
            seconds: (window.end.duration_since(now).as_millis_f64() / 1000.0).ceil() as u64,
        });
        (left.collect(), refused)
    }
}
