//! Moments and how they are written.
//!
//! In all forms that a reader of ISO 8601 has to know (S-63): offsets other than
//! `Z`, none to nine fractional digits, more than one form within one object.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(super) type Millis = i64;

/// Now.
pub(super) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// With milliseconds, east of Greenwich by an odd half hour.
pub(super) fn eastern(moment: Millis) -> String {
    format!("{}.{:03}+05:30", civil(moment + 330 * 60_000), moment.rem_euclid(1000))
}

/// With milliseconds, at Greenwich, yet not written `Z`.
pub(super) fn greenwich(moment: Millis) -> String {
    format!("{}.{:03}+00:00", civil(moment), moment.rem_euclid(1000))
}

/// In whole seconds, at Greenwich, in the shortest form with a zone.
pub(super) fn short(moment: Millis) -> String {
    format!("{}Z", civil(moment))
}

/// With nanoseconds, at Greenwich.
pub(super) fn long(moment: Millis) -> String {
    format!("{}.{:03}000000Z", civil(moment), moment.rem_euclid(1000))
}

/// In whole seconds, west of Greenwich.
pub(super) fn western(moment: Millis) -> String {
    format!("{}-03:00", civil(moment - 180 * 60_000))
}

/// Date and time of day on the calendar of 1970, seconds included.
fn civil(moment: Millis) -> String {
    let seconds = moment.div_euclid(1000);
    let (mut days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut year = 1970;
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    let february = if days_of(year) == 366 { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", days + 1)
}

fn days_of(year: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if leap { 366 } else { 365 }
}
