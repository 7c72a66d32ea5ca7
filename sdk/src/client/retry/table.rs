//! The table of the documentation: what may be sent again after what.

use http::{Method, StatusCode};

/// What sending a call twice would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum Resend {
    /// Nothing: it only reads, or it carries a key by which the service knows it
    /// again, or the rules say that doing it twice is doing it once and gives the
    /// same answer.
    Harmless,
    /// The same state, but another answer the second time.
    SameState,
    /// Something else.
    Harmful,
}

/// What became of an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum Fate {
    /// It was not sent.
    Unsent,
    /// It was, or may have been, sent, and there was no answer.
    Unanswered,
    /// The service did it, and its answer broke off.
    BrokenOff,
    /// It was answered, and not with success.
    Refused(StatusCode),
}

impl Resend {
    /// What the method says by itself.
    pub(in crate::client) fn of(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Harmless,
            Method::DELETE | Method::PUT => Self::SameState,
            _ => Self::Harmful,
        }
    }

    /// Whether a call may be sent again after this.
    pub(in crate::client) fn allows(self, fate: Fate) -> bool {
        match fate {
            Fate::Unsent | Fate::Refused(StatusCode::TOO_MANY_REQUESTS) => true,
            Fate::Unanswered => self != Self::Harmful,
            Fate::BrokenOff => self == Self::Harmless,
            // A service, or a proxy in front of it, may say so after the work is done.
            Fate::Refused(status) => self != Self::Harmful && may_pass(status),
        }
    }
}

/// Whether the same request may meet with a better answer soon.
pub(in crate::client) fn may_pass(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}
