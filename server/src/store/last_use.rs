//! When a key was used last.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use jiff::Timestamp;

use crate::limits::LAST_USE_PRECISION;

/// The time of the last use that was recorded. It changes at most once per
/// [`LAST_USE_PRECISION`].
#[derive(Debug)]
pub(super) struct LastUse {
    /// Since the epoch; [`NEVER`] if there was none.
    microseconds: AtomicI64,
}

const NEVER: i64 = i64::MIN;

impl Default for LastUse {
    fn default() -> Self {
        Self { microseconds: AtomicI64::new(NEVER) }
    }
}

impl LastUse {
    /// Records a use, unless one was recorded just before. Returns whether it did.
    pub(super) fn record(&self, now: Timestamp) -> bool {
        let (now, before) = (now.as_microsecond(), self.microseconds.load(Relaxed));
        let age = u128::try_from(now.saturating_sub(before)).unwrap_or_default();
        age >= LAST_USE_PRECISION.as_micros()
            && self.microseconds.compare_exchange(before, now, Relaxed, Relaxed).is_ok()
    }

    pub(super) fn get(&self) -> Option<Timestamp> {
        let microseconds = Some(self.microseconds.load(Relaxed)).filter(|at| *at != NEVER)?;
        Timestamp::from_microsecond(microseconds).ok()
    }
}
