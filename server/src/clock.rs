//! The source of time, so that tests can control it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use jiff::tz::Offset;

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

/// A time in RFC 3339, UTC, with microseconds (EN-09). Three are written for a request, and a
/// printer for any format takes four times as many instructions. A year before 0 becomes the year 0.
pub(crate) struct TimeText([u8; 27]);

impl TimeText {
    pub(crate) fn new(time: Timestamp) -> Self {
        let utc = Offset::UTC.to_datetime(time);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        write_digits(&mut text[..4], utc.year().into());
        write_digits(&mut text[5..7], utc.month().into());
        write_digits(&mut text[8..10], utc.day().into());
        write_digits(&mut text[11..13], utc.hour().into());
        write_digits(&mut text[14..16], utc.minute().into());
        write_digits(&mut text[17..19], utc.second().into());
        write_digits(&mut text[20..26], utc.subsec_nanosecond() / 1000);
        Self(text)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Fills `text` with the last digits of a number.
fn write_digits(text: &mut [u8], number: i32) {
    let mut rest = number.max(0);
    for digit in text.iter_mut().rev() {
        *digit = b"0123456789"[rest as usize % 10];
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_microseconds() {
        let text = |time| TimeText::new(time).as_str().to_owned();
        let time = Timestamp::from_microsecond(1_700_000_000_000_120).unwrap();
        let year_0 = "0000-01-01T00:00:00Z".parse().unwrap();
        let before_1970 = "1969-12-31T23:59:59.9Z".parse().unwrap();
        for time in [time, year_0, before_1970, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            assert_eq!(text(time), format!("{time:.6}"));
        }
        assert_eq!(text(time), "2023-11-14T22:13:20.000120Z");
        assert_eq!(&text(Timestamp::MIN)[..4], "0000");
    }
}
