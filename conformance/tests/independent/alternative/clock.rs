//! Moments and how they are written.
//!
//! In all forms that a reader of ISO 8601 has to know (S-63): offsets other than
//! `Z`, none to nine fractional digits, more than one form within one object.

use jiff::Timestamp;
use jiff::tz::Offset;

pub(super) type Millis = i64;

pub(super) fn now() -> Millis {
    Timestamp::now().as_millisecond()
}

/// Seconds east of Greenwich, and how a moment is written there.
pub(super) type Form = (i32, &'static str);

/// With milliseconds, east of Greenwich by an odd half hour.
pub(super) const EASTERN: Form = (5 * 3600 + 1800, "%FT%T.%3f%:z");
/// With milliseconds, at Greenwich, yet not written `Z`.
pub(super) const GREENWICH: Form = (0, "%FT%T.%3f+00:00");
/// In whole seconds, at Greenwich, in the shortest form with a zone.
pub(super) const SHORT: Form = (0, "%FT%TZ");
/// With nanoseconds, at Greenwich.
pub(super) const LONG: Form = (0, "%FT%T.%9fZ");
/// In whole seconds, west of Greenwich.
pub(super) const WESTERN: Form = (-3 * 3600, "%FT%T%:z");

pub(super) fn written(moment: Millis, (seconds_east, form): Form) -> String {
    let moment = Timestamp::from_millisecond(moment).unwrap_or_default();
    let offset = Offset::from_seconds(seconds_east).unwrap_or(Offset::UTC);
    moment.to_zoned(offset.to_time_zone()).strftime(form).to_string()
}
