//! When a call is sent again. 429 says that nothing was done, and the target is asked again
//! after as long as it says (S-62). 409 and 503 are retried only where calls race for one
//! thing, and for a short time. A body in pieces cannot be sent again.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// How long one call waits in all. After that a 429 is the answer.
const RETRY_FOR: Duration = Duration::from_secs(120);
/// The first wait where the target names none; it doubles with each.
const FIRST: Duration = Duration::from_millis(100);
/// How long one call that races others is sent again after 409 and 503.
const CONTENTION: Duration = Duration::from_secs(8);
/// The longest wait where the target names none.
const LONGEST: Duration = Duration::from_secs(3);

/// The remaining retries of one call.
pub(super) struct Retries {
    left: Duration,
    contention_left: Duration,
    pause: Duration,
}

impl Retries {
    /// For one call, which may race others for the same thing.
    pub(super) fn new(contention: bool) -> Self {
        let contention_left = if contention { CONTENTION } else { Duration::ZERO };
        Self { left: RETRY_FOR, contention_left, pause: FIRST }
    }

    /// How long to wait before the call is sent again; `None` if this answer is final.
    pub(super) fn wait(&mut self, status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
        let left = match status {
            StatusCode::TOO_MANY_REQUESTS => &mut self.left,
            StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE => &mut self.contention_left,
            _ => return None,
        };
        // Jitter keeps calls that met once from meeting again.
        let jitter = || self.pause.mul_f64(rand::random_range(0.5..1.5));
        let wait = asked_for(headers, Timestamp::now()).unwrap_or_else(jitter);
        if wait > *left {
            return None;
        }
        // `Retry-After: 0` must not be retried for ever.
        *left = left.saturating_sub(wait.max(FIRST));
        self.pause = (self.pause * 2).min(LONGEST);
        Some(wait)
    }
}

/// What `Retry-After` asks for: seconds, or a date; one that is over is no wait.
fn asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Duration, HeaderMap, RETRY_AFTER, asked_for};

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now = "2025-03-01T09:30:00Z".parse().unwrap();
        for (text, seconds) in [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("Sat, 01 Mar 2025 09:30:12 GMT", Some(12)),
            ("Sat, 01 Mar 2025 09:29:12 GMT", Some(0)),
            ("", None),
            ("soon", None),
            ("-1", None),
            ("1.5", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(asked_for(&headers, now), seconds.map(Duration::from_secs), "{text:?}");
        }
        assert_eq!(asked_for(&HeaderMap::new(), now), None);
    }
}
