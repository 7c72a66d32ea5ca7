//! `Retry-After` in every form of RFC 9110, section 10.2.3.

use std::time::{Duration, SystemTime};

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName};

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// The delay that a response asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    Delay(Duration),
    /// The header is there and cannot be read, so the usual backoff applies.
    Unreadable,
}

impl RetryAfter {
    /// Reads `retry-after-ms` in milliseconds, else `Retry-After` in seconds or as a date.
    pub(crate) fn of(headers: &HeaderMap, now: impl FnOnce() -> SystemTime) -> Option<Self> {
        let text = |name| Some(headers.get(name)?.to_str().unwrap_or_default().trim());
        let (millis, value) = (text(RETRY_AFTER_MS), text(RETRY_AFTER));
        let delay = millis.and_then(|text| number(text, 1e-3));
        let delay = delay.or_else(|| number(value?, 1.0)).or_else(|| {
            let until = httpdate::parse_http_date(value?).ok()?;
            // The clock of the server may differ from this one, so its own date counts.
            let date = headers.get(DATE).and_then(|date| date.to_str().ok());
            let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
            // A date in the past is no delay.
            Some(until.duration_since(date.unwrap_or_else(now)).unwrap_or_default())
        });
        delay.map(Self::Delay).or(millis.or(value).map(|_| Self::Unreadable))
    }

    pub(crate) const fn delay(self) -> Option<Duration> {
        match self {
            Self::Delay(delay) => Some(delay),
            Self::Unreadable => None,
        }
    }
}

/// A number of units of this many seconds. One that no [`Duration`] has is the longest of them, a
/// negative one no delay.
fn number(text: &str, unit: f64) -> Option<Duration> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b".+-".contains(&byte));
    let seconds: f64 = text.parse().ok().filter(|_| is_decimal)?;
    Some(Duration::try_from_secs_f64((seconds * unit).max(0.0)).unwrap_or(Duration::MAX))
}
