//! Whether a call is retried, and after how long. Values only: nothing here sends or sleeps.

mod budget;
mod policy;
mod table;

pub use budget::RetryBudget;
pub use policy::RetryPolicy;
pub(super) use table::{AttemptFailure, Resend, is_ambiguous, is_transient};

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName};
use jiff::fmt::rfc2822;

use super::backoff::Backoff;
use crate::model::Timestamp;

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// The attempts of one call.
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
