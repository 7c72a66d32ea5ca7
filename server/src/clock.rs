//! The source of time, so that tests can control it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use jiff::fmt::StdIoWrite;
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
            Self::System => Timestamp::now().as_microsecond(),
            Self::Manual(clock) => clock.0.load(Ordering::SeqCst),
        };
        Timestamp::from_microsecond(microseconds).unwrap_or(Timestamp::MAX)
    }
}

impl ManualClock {
    /// A clock set to `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_microsecond())))
    }

    /// Advances the clock.
    pub fn advance(&self, by: std::time::Duration) {
        let microseconds = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.0.fetch_add(microseconds, Ordering::SeqCst);
    }
}

/// A time in RFC 3339, UTC, with microseconds (EN-09), on the stack: what formats through `fmt`
/// takes twice as long.
pub(crate) struct TimeText {
    bytes: [u8; 32],
    length: usize,
}

impl TimeText {
    pub(crate) fn new(time: Timestamp) -> Self {
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
        let mut bytes = [0; 32];
        let mut rest = bytes.as_mut_slice();
        // The longest text, of a year before 0, has 30 bytes.
        let _ = PRINTER.print_timestamp(&time, StdIoWrite(&mut rest));
        let length = 32 - rest.len();
        Self { bytes, length }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_microseconds_and_fits_however_early_the_time() {
        let time = Timestamp::from_microsecond(1_700_000_000_000_120).unwrap();
        for time in [time, Timestamp::UNIX_EPOCH, Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(TimeText::new(time).as_str(), format!("{time:.6}"));
        }
        assert_eq!(TimeText::new(time).as_str(), "2023-11-14T22:13:20.000120Z");
    }
}
