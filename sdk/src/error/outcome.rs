//! What a failed attempt says: whether the service carried the request out, and whether another
//! attempt is allowed. The one place that decides it, for retries, generations and
//! [`Error::outcome`](crate::Error::outcome). Also what an error tells of its request, and
//! when another one may be sent: `Retry-After` in every form of RFC 9110, section 10.2.3.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::Cause;
use crate::model::Timestamp;

/// Whether the service carried out a call that failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The service did not carry it out: it refused the call, or was not reached.
    #[default]
    NotDone,
    /// The service may have carried it out: the response was lost, or does not tell.
    Unknown,
    /// The service carried it out, but its response was lost or cannot be decoded, or the wait for
    /// the generation that it created failed.
    Done,
}

impl Outcome {
    const fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            200..=299 => Self::Done,
            // The server stopped waiting for a request, which it may have read in full.
            408 => Self::Unknown,
            400..=499 => Self::NotDone,
            // A redirect often names the result. A server error may follow the work.
            _ => Self::Unknown,
        }
    }
}

/// The effect of sending a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idempotency {
    /// That of sending it once, with the same response.
    SameResponse,
    /// That of sending it once, with another response.
    SameState,
    /// It is carried out twice.
    None,
}

impl Idempotency {
    pub(crate) fn of(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::SameResponse,
            Method::DELETE | Method::PUT => Self::SameState,
            _ => Self::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptFailure {
    /// The service certainly did not process the request: without a connection, or by HTTP/2.
    NotSent,
    /// The request may have been sent, and no response was received.
    NoResponse,
    /// The body of a response with this status was not received in full.
    Incomplete(StatusCode),
    /// A response with this status, which is an error or cannot be used.
    Response(StatusCode),
}

impl AttemptFailure {
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::NotSent => Outcome::NotDone,
            Self::NoResponse => Outcome::Unknown,
            Self::Incomplete(status) | Self::Response(status) => Outcome::of_status(status),
        }
    }

    /// Whether the same request may succeed soon. An error with `Retry-After` says so itself.
    pub(crate) const fn is_transient(self, has_retry_after: bool) -> bool {
        match self {
            Self::NotSent | Self::NoResponse | Self::Incomplete(_) => true,
            Self::Response(status) => match status.as_u16() {
                408 | 425 | 429 => true,
                // The server lacks what the request needs, or a network wants a login.
                501 | 505 | 511 => has_retry_after,
                500..=599 => true,
                400..=499 => has_retry_after,
                _ => false,
            },
        }
    }

    pub(crate) fn allows_retry(self, idempotency: Idempotency, has_retry_after: bool) -> bool {
        self.is_transient(has_retry_after)
            && match idempotency {
                Idempotency::SameResponse => true,
                // The second response would be that of a repeated request.
                Idempotency::SameState => !matches!(self, Self::Incomplete(_)),
                Idempotency::None => self.outcome() == Outcome::NotDone,
            }
    }

    pub(crate) fn is_rate_limit(self) -> bool {
        self == Self::Response(StatusCode::TOO_MANY_REQUESTS)
    }
}

/// What is known of the attempts of a call when it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct History {
    pub(crate) attempts: u32,
    /// That of the attempt which may have done most.
    pub(crate) outcome: Outcome,
    /// Whether only the [`RetryBudget`] prevented a retry.
    pub(crate) budget_is_empty: bool,
}

/// Method and path template of a call, for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) template: Cow<'static, str>,
}

impl Route {
    pub(crate) const UPLOAD: &str = "{uploadUrl}";

    pub(crate) const ASSET: &str = "{url}";

    pub(crate) fn new(method: Method, template: impl Into<Cow<'static, str>>) -> Self {
        Self { method, template: template.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    Idle,
    Attempt,
    Call,
    Whole,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedOut {
    pub(crate) limit: TimeLimit,
    pub(crate) after: Duration,
}

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// The delay that a response asks for. `None` if it cannot be read: the usual one.
pub(crate) type RetryAfter = Option<Duration>;

/// Reads `retry-after-ms` in milliseconds, else `Retry-After` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<RetryAfter> {
    let text = |name| Some(headers.get(name)?.to_str().unwrap_or_default().trim());
    let (millis, value) = (text(RETRY_AFTER_MS), text(RETRY_AFTER));
    let delay = millis.and_then(|text| number(text, 1e-3));
    let delay = delay.or_else(|| number(value?, 1.0)).or_else(|| {
        let until = httpdate::parse_http_date(value?).ok()?;
        // The clock of the server may differ from this one, so its own date counts.
        let from = date(headers).unwrap_or_else(|| Timestamp::now().into());
        // A date in the past is no delay.
        Some(until.duration_since(from).unwrap_or_default())
    });
    delay.map(Some).or(millis.or(value).map(|_| None))
}

/// The time of a response by the clock of the server.
pub(crate) fn date(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()
}

/// A number of units of this many seconds. One that no [`Duration`] has is the longest of them, a
/// negative one no delay.
fn number(text: &str, unit: f64) -> Option<Duration> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b".+-".contains(&byte));
    let seconds: f64 = text.parse().ok().filter(|_| is_decimal)?;
    Some(Duration::try_from_secs_f64((seconds * unit).max(0.0)).unwrap_or(Duration::MAX))
}

/// Why no response, or only a part of one, was received.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) is_timeout: bool,
    #[source]
    source: Cause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    InvalidUrl,
    Connecting,
    /// There was a connection, and the server certainly did not process the request.
    NotProcessed,
    /// The request may have been processed.
    Exchanging,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, source: impl Into<Cause>) -> Self {
        Self { kind, is_timeout: false, source: source.into() }
    }

    /// There was no connection, so the request was not sent.
    pub fn connecting(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Connecting, source)
    }

    /// The server certainly did not process the request, for example after `REFUSED_STREAM` of
    /// HTTP/2. Any request is retried.
    pub fn not_processed(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::NotProcessed, source)
    }

    /// The connection failed after the request was, or may have been, sent.
    pub fn exchanging(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Exchanging, source)
    }

    /// Marks a timeout of the transport.
    #[must_use]
    pub const fn by_timeout(mut self) -> Self {
        self.is_timeout = true;
        self
    }

    const fn text(&self) -> &'static str {
        match (self.kind, self.is_timeout) {
            (FailureKind::InvalidUrl, _) => "the URL is invalid",
            (FailureKind::Connecting, false) => "cannot connect",
            (FailureKind::Connecting, true) => "connecting timed out",
            (FailureKind::NotProcessed, _) => "the server did not process the request",
            (FailureKind::Exchanging, false) => "connection closed",
            (FailureKind::Exchanging, true) => "timed out",
        }
    }
}
