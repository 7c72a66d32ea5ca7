//! What a caller branches on: one question a thing that may have happened.

use http::StatusCode;

use super::{Error, ErrorKind, Kind};
use crate::client::retry::{AttemptFailure, is_transient};
use crate::client::transport::Failure;

impl Error {
    /// The service answered 404: what the path names is not there, was deleted or
    /// belongs to another account (`ER-08` to `ER-11`).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.refused_with(StatusCode::NOT_FOUND)
    }

    /// The service answered 401: the key is not valid or lacks a scope (`ER-07`).
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        self.refused_with(StatusCode::UNAUTHORIZED) && !self.is_of_the_storage()
    }

    /// The service answered 400: something in the request is wrong; see
    /// [`field_errors`](Self::field_errors).
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.refused_with(StatusCode::BAD_REQUEST)
    }

    /// A time limit of the client ran out. The service may still have done what was
    /// asked.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, Kind::TimedOut { .. })
            || self.0.kind.failure().is_some_and(Failure::is_timeout)
    }

    /// No connection to the service came about, so it has done nothing.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.0.kind.failure().is_some_and(Failure::is_connecting)
    }

    /// The service answered with success, but the answer cannot be read.
    #[must_use]
    pub fn is_decode(&self) -> bool {
        matches!(self.0.kind, Kind::Unreadable { .. } | Kind::Withheld { .. })
    }

    /// The client was set up in a way that cannot work. Nothing was sent.
    #[must_use]
    pub fn is_config(&self) -> bool {
        matches!(self.0.kind, Kind::Config(_) | Kind::SetUp { .. })
    }

    /// What the call was given cannot be sent: a file that cannot be read, an image
    /// that is too large or of another type than was said.
    #[must_use]
    pub fn is_input(&self) -> bool {
        self.kind() == ErrorKind::Input
    }

    /// The answer points to another address. Calls of the API follow none, since the
    /// key belongs to the base URL only.
    #[must_use]
    pub fn is_redirect(&self) -> bool {
        matches!(self.0.kind, Kind::Redirected { .. } | Kind::Followed { .. })
    }

    /// A list named a place it had named before, so it would never have ended.
    #[must_use]
    pub fn is_pagination_loop(&self) -> bool {
        matches!(self.0.kind, Kind::PaginationLoop { .. })
    }

    /// The generation ended without output (S-40 of the silent points): the model or
    /// the service gave up, and [`message`](Self::message) says why. Every call went
    /// well; asking again changes nothing.
    #[must_use]
    pub fn is_job_failed(&self) -> bool {
        matches!(self.0.kind, Kind::JobFailed { .. })
    }

    /// The generation completed, but its output is not there: the prompt that the status names was
    /// deleted, or the status names none and the target vault does not hold it. The text says
    /// where it was looked for.
    #[must_use]
    pub fn is_output_not_found(&self) -> bool {
        matches!(self.0.kind, Kind::OutputNotFound { .. })
    }

    /// It is not known whether the generation was queued. [`job_id`](Self::job_id) names the job;
    /// ask for its status later.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.outcome_unknown
    }

    /// Waiting for a generation took longer than it was allowed to. The job goes on;
    /// wait for its [`job_id`](Self::job_id) again, here or in another process.
    #[must_use]
    pub fn is_wait_timeout(&self) -> bool {
        matches!(self.0.kind, Kind::WaitTimeout { .. })
    }

    /// The storage did not accept the slot of an upload: it ran out, or was used
    /// already (`UP-14`, `LI-16`).
    #[must_use]
    pub fn is_slot_refused(&self) -> bool {
        let refused = |status| self.refused_with(status);
        self.is_of_the_storage()
            && (refused(StatusCode::UNAUTHORIZED) || refused(StatusCode::FORBIDDEN))
    }

    /// An upload has to be sent again, but its source can be read only once. The
    /// `source` of the error says why the first sending failed.
    #[must_use]
    pub fn is_not_replayable(&self) -> bool {
        matches!(self.0.kind, Kind::NotReplayable(_))
    }

    /// A download is larger than allowed.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.0.kind, Kind::TooLarge { .. })
    }

    /// Whether the same call may succeed later: the service could not be reached, did
    /// not answer in time or broke off, or answered 408, 429, 502, 503 or 504.
    ///
    /// It does not say that sending again is harmless: unless
    /// [`is_connect`](Self::is_connect) holds too, the service may have done what was
    /// asked.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.attempt_failure() {
            Some(AttemptFailure::Status(status)) => is_transient(status),
            Some(_) => true,
            // The call as a whole took too long; what comes later may be faster.
            None => matches!(self.0.kind, Kind::TimedOut { .. }),
        }
    }

    /// What it means for sending the call again; `None` if that cannot help.
    pub(in crate::client) fn attempt_failure(&self) -> Option<AttemptFailure> {
        self.0.kind.attempt_failure()
    }

    /// Whether the request may have been carried out although no response says so.
    pub(in crate::client) fn leaves_outcome_open(&self) -> bool {
        matches!(
            self.attempt_failure(),
            Some(AttemptFailure::NoResponse | AttemptFailure::Incomplete)
        ) || matches!(self.0.kind, Kind::TimedOut { .. })
    }

    /// Whether it was the storage that answered, which knows nothing of keys.
    fn is_of_the_storage(&self) -> bool {
        self.0.route.as_ref().is_some_and(|route| !route.template.starts_with('/'))
    }

    fn refused_with(&self, asked: StatusCode) -> bool {
        matches!(self.0.kind, Kind::Refused { status, .. } if status == asked)
    }
}
