//! When a key was used last.

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::limits::LAST_USE_PRECISION;

/// The time of the last use that was recorded. It changes at most once per
/// [`LAST_USE_PRECISION`].
#[derive(Debug, Default)]
pub(super) struct LastUse(Mutex<Option<Timestamp>>);

impl LastUse {
    /// Records a use, unless one was recorded just before. Returns whether it did.
    pub(super) fn record(&self, now: Timestamp) -> bool {
        let mut last = self.0.lock();
        let is_due =
            |last| now.duration_since(last).unsigned_abs() >= LAST_USE_PRECISION && now > last;
        let is_due = last.is_none_or(is_due);
        if is_due {
            *last = Some(now);
        }
        is_due
    }

    pub(super) fn get(&self) -> Option<Timestamp> {
        *self.0.lock()
    }
}
