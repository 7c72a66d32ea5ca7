//! Whether a call is retried, and after how long. Values only: nothing here sends or sleeps.

mod policy;

pub(super) use policy::Backoff;
pub use policy::{RetryBudget, RetryPolicy};

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, Method, StatusCode};
use jiff::fmt::rfc2822;

use crate::model::Timestamp;

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// The effect of sending a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    /// The same as once, with the same response.
    Idempotent,
    /// The same as once, but with another response.
    SameState,
    /// More than once.
    Unsafe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptFailure {
    /// The request was not sent.
    NotSent,
    /// The request may have been sent, and no response was received.
    NoResponse,
    /// The service answered with success, and the body was not received in full.
    Incomplete,
    /// The service answered with an error status.
    Status(StatusCode),
}

impl Resend {
    pub(super) fn of(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Idempotent,
            Method::DELETE | Method::PUT => Self::SameState,
            _ => Self::Unsafe,
        }
    }

    pub(super) fn allows(self, failure: AttemptFailure) -> bool {
        match failure {
            AttemptFailure::NotSent | AttemptFailure::Status(StatusCode::TOO_MANY_REQUESTS) => true,
            AttemptFailure::NoResponse => self != Self::Unsafe,
            AttemptFailure::Incomplete => self == Self::Idempotent,
            AttemptFailure::Status(StatusCode::INTERNAL_SERVER_ERROR) => self == Self::Idempotent,
            // A server, or a proxy before it, may answer so after the work is done.
            AttemptFailure::Status(status) => self != Self::Unsafe && is_transient(status),
        }
    }
}

/// Whether the same request may succeed soon.
pub(super) const fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}

/// Whether a server or a proxy may answer so although the request was carried out.
pub(super) const fn is_ambiguous(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 502 | 503 | 504)
}

pub(super) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    budget: &'a RetryBudget,
    resend: Resend,
    backoff: Backoff,
    /// The current attempt, counting from 1.
    pub(super) number: u32,
}

impl<'a> Attempts<'a> {
    pub(super) fn first(policy: &'a RetryPolicy, budget: &'a RetryBudget, resend: Resend) -> Self {
        budget.earn();
        Self { policy, budget, resend, backoff: policy.backoff(), number: 1 }
    }

    /// The backoff before the next attempt; `None` if this failure is final. A backoff that takes
    /// all the time `left` for the call is not started.
    pub(super) fn backoff(
        &mut self,
        failure: AttemptFailure,
        retry_after: Option<Duration>,
        left: Option<Duration>,
    ) -> Option<Duration> {
        let again = self.number < self.policy.max_attempts && self.resend.allows(failure);
        if !again || self.policy.is_too_long(retry_after) {
            return None;
        }
        let backoff = self.backoff.delay(retry_after);
        if left.is_some_and(|left| backoff >= left) || !self.budget.spend() {
            return None;
        }
        self.number += 1;
        Some(backoff)
    }
}

/// `retry-after-ms` in milliseconds, else `Retry-After` in seconds or as a date.
pub(super) fn retry_after(
    headers: &HeaderMap,
    now: impl FnOnce() -> Timestamp,
) -> Option<Duration> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    if let Some(millis) = text(RETRY_AFTER_MS).and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let text = text(RETRY_AFTER)?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()?;
    // A date in the past is no delay.
    Some(Duration::try_from(date.duration_since(now())).unwrap_or_default())
}
