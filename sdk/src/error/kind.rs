//! The kinds of errors, with a predicate for each.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::Error;

/// Declares [`ErrorKind`] with a predicate of [`Error`] for each kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal, $predicate:ident;)*) => {
        /// The class of an [`Error`], for branching and as a metric label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $text)] $kind,)*
        }

        impl ErrorKind {
            /// The name in snake case, such as `not_found`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $text,)* }
            }
        }

        /// One predicate for each [`ErrorKind`].
        impl Error {
            $($(#[$doc])* #[must_use] pub fn $predicate(&self) -> bool {
                self.is(ErrorKind::$kind)
            })*
        }
    };
}

kinds! {
    /// The settings of the client cannot be used. Nothing was sent.
    Config = "config", is_config;
    /// The arguments of the call cannot be sent, for example a file that cannot be read.
    Input = "input", is_input;
    /// No connection to the server, so nothing was sent. If connecting timed out,
    /// [`is_timeout`](Error::is_timeout) holds too.
    Connect = "connect", is_connect;
    /// A timeout of the client. The service may have carried out the request.
    Timeout = "timeout", is_timeout;
    /// The connection was closed before the whole response was received. The service may have
    /// carried out the request.
    Transport = "transport", is_transport;
    /// A redirect that is not followed.
    Redirect = "redirect", is_redirect;
    /// Status 400 or 422: the request is invalid; see [`field_errors`](Error::field_errors).
    BadRequest = "bad_request", is_invalid;
    /// Status 401: the API key is not valid or lacks a scope.
    Unauthorized = "unauthorized", is_unauthorized;
    /// Status 403.
    Forbidden = "forbidden", is_forbidden;
    /// Status 404 of the service or of a storage: the resource does not exist, was deleted or
    /// belongs to another account. A 404 whose body is not an error response of the API is
    /// [`Status`](ErrorKind::Status): the base URL may be wrong.
    NotFound = "not_found", is_not_found;
    /// Status 409.
    Conflict = "conflict", is_conflict;
    /// Status 429: too many requests; see [`retry_after`](Error::retry_after).
    RateLimited = "rate_limited", is_rate_limited;
    /// Status 500 to 599.
    Server = "server", is_server_error;
    /// Another error status, a success whose body is an error response, or a part of an asset
    /// that was not asked for.
    Status = "status", is_other_status;
    /// The storage refused an upload with 401 or 403: the slot has expired or was used already.
    SlotRefused = "slot_refused", is_slot_refused;
    /// The service answered with success, and the body cannot be decoded.
    Decode = "decode", is_decode;
    /// The response is larger than allowed.
    TooLarge = "too_large", is_too_large;
    /// A list returned the same cursor twice and would not end.
    PaginationLoop = "pagination_loop", is_pagination_loop;
    /// A generation ended without output; [`message`](Error::message) says why.
    JobFailed = "job_failed", is_job_failed;
    /// A generation completed, and its output cannot be found, or not told from other prompts.
    OutputNotFound = "output_not_found", is_output_not_found;
    /// Waiting for a generation timed out. The job goes on: wait for its
    /// [`job_id`](Error::job_id) again, in this process or another.
    WaitTimeout = "wait_timeout", is_wait_timeout;
    /// An upload must be retried, but its reader can be read only once. The `source` says why.
    NotReplayable = "not_replayable", is_not_replayable;
    /// A step of a journal (feature `durable`) whose outcome cannot be found out. Nothing was sent
    /// again; `Journal::resolve` decides.
    Ambiguous = "ambiguous", is_ambiguous;
}

impl Error {
    fn is(&self, kind: ErrorKind) -> bool {
        self.kind == kind || (kind == ErrorKind::Timeout && self.facts.is_connect_timeout)
    }
}

impl ErrorKind {
    pub(crate) const fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            400 | 422 => Self::BadRequest,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            409 => Self::Conflict,
            429 => Self::RateLimited,
            500..=599 => Self::Server,
            _ => Self::Status,
        }
    }
}
