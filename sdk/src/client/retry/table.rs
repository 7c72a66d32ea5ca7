//! Which failures are retried: the retry table of the documentation.

use http::{Method, StatusCode};

/// The effect of sending a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum Resend {
    /// The same as once, with the same response.
    Idempotent,
    /// The same as once, but with another response.
    SameState,
    /// More than once.
    Unsafe,
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum AttemptFailure {
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
    pub(in crate::client) fn of(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Idempotent,
            Method::DELETE | Method::PUT => Self::SameState,
            _ => Self::Unsafe,
        }
    }

    /// Whether the request may be sent again after this failure.
    pub(in crate::client) fn allows(self, failure: AttemptFailure) -> bool {
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
pub(in crate::client) fn is_transient(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// Whether a server or a proxy may answer so although the request was carried out.
pub(in crate::client) const fn is_ambiguous(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 502 | 503 | 504)
}
