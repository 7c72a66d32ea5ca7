//! The time, from one place, so that tests can hold it still or move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Where the service reads the time. Times are whole microseconds: what is
/// stored is exactly what is shown.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that stands until it is moved; what waits in the store, such as a
    /// generation between two looks at it, waits by this one too.
    Manual(ManualClock),
}

/// A clock moved by hand; copies show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl Clock {
    /// The present moment, in whole microseconds.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => whole_microseconds(Timestamp::now().as_microsecond()),
            Self::Manual(clock) => whole_microseconds(clock.0.load(Ordering::SeqCst)),
        }
    }
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_microsecond())))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: std::time::Duration) {
        let microseconds = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.0.fetch_add(microseconds, Ordering::SeqCst);
    }
}

/// Saturates where a hand-moved clock has left the calendar.
fn whole_microseconds(microseconds: i64) -> Timestamp {
    Timestamp::from_microsecond(microseconds).unwrap_or(Timestamp::MAX)
}
