//! What a failed attempt says: whether the service carried the request out, and whether another
//! attempt is allowed. The one place that decides it, for retries, generations and
//! [`Error::outcome`](crate::Error::outcome).

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

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

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptFailure {
    /// The service certainly did not process the request: there was no connection, or HTTP/2 said
    /// so.
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

    /// Whether the request may be sent again.
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
    /// How many times the request was sent.
    pub(crate) attempts: u32,
    /// That of the attempt which may have done most.
    pub(crate) outcome: Outcome,
    /// Whether only the [`RetryBudget`] prevented a retry.
    pub(crate) budget_is_empty: bool,
}
