//! Comparisons that belong to no single answer.

use std::fmt::{Debug, Display};
use std::time::Duration;

use crate::{Failure, Verdict};

/// The two are equal.
pub fn equal<T: PartialEq + Debug + ?Sized>(
    what: &str,
    got: &T,
    expected: &T,
) -> Result<(), Failure> {
    if got == expected {
        return Ok(());
    }
    Err(Failure::failed(format!("{what} to be {expected:?}"), format!("{got:?}")))
}

/// It holds.
pub fn ensure(holds: bool, expected: &str, got: impl Into<String>) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::failed(expected, got)) }
}

/// The moment an ISO 8601 text names; without an offset it is taken as UTC.
pub fn timestamp(text: &str) -> Option<jiff::Timestamp> {
    if let Ok(moment) = text.parse() {
        return Some(moment);
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// What an order by date is seen from. It is tried without pauses, and once
/// more with pauses of over a second before the target is at fault: a server
/// may keep dates by the second, and then equal dates have no order.
pub async fn by_date<F>(attempt: impl Fn(Duration) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    match attempt(Duration::ZERO).await {
        Err(failure) if failure.verdict == Verdict::Failed => {
            attempt(Duration::from_millis(1100)).await
        }
        other => other,
    }
}

/// Says in a failure which round of a loop it was, such as the field and its value.
pub fn about<T>(what: impl Display, result: Result<T, Failure>) -> Result<T, Failure> {
    result
        .map_err(|failure| Failure { expected: format!("{what}: {}", failure.expected), ..failure })
}
