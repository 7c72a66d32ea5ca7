//! The source of time, so that tests can control it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// The service's clock.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The system clock.
    #[default]
    System,
    /// A clock that tests advance. Due times of jobs in a store follow it too.
    Manual(ManualClock),
}

/// A clock that is advanced by hand. Clones share the time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl Clock {
    /// The current time, in whole microseconds, so that stored and returned timestamps are equal.
    pub fn now(&self) -> Timestamp {
        let microseconds = match self {
            Self::System => system_now().as_microsecond(),
            Self::Manual(clock) => clock.0.load(Ordering::SeqCst),
        };
        Timestamp::from_microsecond(microseconds).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(not(test))]
fn system_now() -> Timestamp {
    Timestamp::now()
}

/// It stands still with the time of a paused runtime.
#[cfg(test)]
fn system_now() -> Timestamp {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<(Instant, Timestamp)> =
        LazyLock::new(|| (Instant::now(), Timestamp::now()));
    let ((start, at), now) = (*START, tokio::time::Instant::now().into_std());
    at + now.saturating_duration_since(start) - start.saturating_duration_since(now)
}

impl ManualClock {
    /// A clock set to `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_microsecond())))
    }

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        let microseconds = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.0.fetch_add(microseconds, Ordering::SeqCst);
    }
}

/// The time this long after another.
pub(crate) fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// The time this long before another, but none that PostgreSQL does not have.
pub(crate) fn before(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_sub(by).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Writes a time in RFC 3339, UTC, with microseconds (EN-09).
pub(crate) static TIME_PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
