//! Constructors of errors, with their texts.

use std::time::Duration;
use std::{fmt, io};

use http::StatusCode;
use url::Url;

use super::{Cause, Error, ErrorBody, ErrorKind, Excerpt, Inner};
use crate::client::retry::AttemptFailure;
use crate::client::transport::Failure;
use crate::model::{Cursor, GenerationStatus, JobId};

/// Why the whole of a body was not received.
const INCOMPLETE: &str = "before the whole response was received";

/// The setting whose time limit expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum TimeLimit {
    /// `idle_timeout` of the client or the call.
    Idle,
    /// `request_timeout` of the client or the call.
    Attempt,
    /// `overall_timeout` of the client.
    Call,
    /// `timeout` of the call.
    Whole,
}

/// Before anything is sent.
impl Error {
    fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            text: text.into(),
            source: None,
            failure: None,
            is_connect_timeout: false,
            status: None,
            problem: None,
            body: None,
            retry_after: None,
            request_id: None,
            route: None,
            attempts: 0,
            job: None,
            last_status: None,
            outcome_unknown: false,
        }))
    }

    /// Sets the source.
    pub(in crate::client) fn because(mut self, source: impl Into<Cause>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(in crate::client) fn config(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, text)
    }

    pub(in crate::client) fn set_up(what: &str, source: impl Into<Cause>) -> Self {
        Self::config(format!("cannot set up the {what}")).because(source)
    }

    pub(in crate::client) fn input(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, text)
    }

    pub(in crate::client) fn file(
        name: impl fmt::Display,
        action: &str,
        source: io::Error,
    ) -> Self {
        Self::input(format!("{name} cannot be {action}")).because(source)
    }
}

/// Without a whole response.
impl Error {
    pub(in crate::client) fn no_response(url: &Url, source: Failure) -> Self {
        use ErrorKind::{Connect, Timeout, Transport};
        let origin = origin(url);
        let (kind, text) = match (source.is_connecting(), source.is_timeout()) {
            (true, true) => {
                (Connect, format!("connecting to {origin} timed out (connect_timeout)"))
            }
            (true, false) => (Connect, format!("cannot connect to {origin}")),
            (false, true) => {
                (Timeout, format!("the HTTP client timed out while waiting for {origin}"))
            }
            (false, false) => {
                (Transport, format!("connection to {origin} closed before a response was received"))
            }
        };
        let mut error = Self::new(kind, text);
        let is_sent = !source.is_connecting();
        error.0.is_connect_timeout = source.is_timeout() && !is_sent;
        let failure = if is_sent { AttemptFailure::NoResponse } else { AttemptFailure::NotSent };
        error.0.failure = Some(failure);
        error.because(source)
    }

    pub(in crate::client) fn incomplete(status: StatusCode, source: Failure) -> Self {
        let (kind, ending) = if source.is_timeout() {
            (ErrorKind::Timeout, "the HTTP client timed out")
        } else {
            (ErrorKind::Transport, "connection closed")
        };
        let mut error = Self::of_status(kind, status, format!("{ending} {INCOMPLETE} ({status})"));
        error.0.failure = Some(AttemptFailure::Incomplete);
        error.because(source)
    }

    /// With the status if the head of the response was received.
    pub(in crate::client) fn timed_out(
        url: &Url,
        limit: TimeLimit,
        after: Duration,
        status: Option<StatusCode>,
    ) -> Self {
        let what = match limit {
            TimeLimit::Idle => format!("no data for {after:?} (idle_timeout)"),
            TimeLimit::Attempt => format!("timed out after {after:?} (request_timeout)"),
            TimeLimit::Call => format!("timed out after {after:?} (overall_timeout)"),
            TimeLimit::Whole => format!("timed out after {after:?} (timeout)"),
        };
        let text = match status {
            Some(status) => format!("{what} {INCOMPLETE} ({status})"),
            None => format!("{what} while waiting for {}", origin(url)),
        };
        let mut error = Self::new(ErrorKind::Timeout, text);
        error.0.status = status;
        error.0.failure = match limit {
            TimeLimit::Call | TimeLimit::Whole => None,
            _ if status.is_some() => Some(AttemptFailure::Incomplete),
            _ => Some(AttemptFailure::NoResponse),
        };
        error
    }

    /// The whole of several requests timed out.
    pub(in crate::client) fn call_timed_out(url: &str, after: Duration) -> Self {
        let text = format!("timed out after {after:?} (timeout) while waiting for ");
        Self::new(ErrorKind::Timeout, text + &without_query(url))
    }
}

/// With the status of a response.
impl Error {
    fn of_status(kind: ErrorKind, status: StatusCode, text: impl Into<String>) -> Self {
        let mut error = Self::new(kind, text);
        error.0.status = Some(status);
        error
    }

    pub(in crate::client) fn answered_early(status: StatusCode) -> Self {
        let text = format!("the server answered {status} before all bytes were sent");
        Self::of_status(ErrorKind::Transport, status, text)
    }

    /// A redirect that is not followed for this reason; `None` without a valid `Location`.
    pub(in crate::client) fn redirect(status: StatusCode, to: Option<&Url>, reason: &str) -> Self {
        let text = match to.map(|to| without_query(to.as_str())) {
            Some(to) => format!("{status} redirects to {to}; not followed: {reason}"),
            None => format!("{status} has no valid Location"),
        };
        Self::of_status(ErrorKind::Redirect, status, text)
    }

    /// A response from this URL, to which the HTTP client was redirected.
    pub(in crate::client) fn followed(status: StatusCode, url: &Url) -> Self {
        let text = format!(
            "{status} from {}: the HTTP client followed a redirect; build it with \
             `redirect::Policy::none()`",
            without_query(url.as_str())
        );
        Self::of_status(ErrorKind::Redirect, status, text)
    }

    /// An error response.
    pub(in crate::client) fn response(
        kind: ErrorKind,
        status: StatusCode,
        body: ErrorBody,
        hint: &str,
    ) -> Self {
        let mut error = Self::of_status(kind, status, format!("{status}{body}{hint}"));
        error.0.failure = Some(AttemptFailure::Status(status));
        error.0.problem = match body {
            ErrorBody::Envelope(problem) => Some(problem),
            _ => None,
        };
        error
    }

    /// A success that cannot be decoded for this reason, with the part of the body at fault.
    pub(in crate::client) fn decode(
        status: StatusCode,
        path: Option<&str>,
        reason: &str,
        near: Option<&Excerpt>,
    ) -> Self {
        let at = path.map(|path| format!(" at `{path}`")).unwrap_or_default();
        let near = near.map(|near| format!(", near {near}")).unwrap_or_default();
        let text = format!("cannot decode response{at}: {reason} ({status}){near}");
        Self::of_status(ErrorKind::Decode, status, text)
    }

    pub(in crate::client) fn too_large(status: StatusCode, max: u64, setting: &str) -> Self {
        let text = format!("response larger than {max} bytes ({setting}; {status})");
        Self::of_status(ErrorKind::TooLarge, status, text)
    }
}

/// Of several requests.
impl Error {
    pub(in crate::client) fn not_replayable(cause: Self) -> Self {
        let text = "the upload must be retried, but its reader can be read only once";
        Self::new(ErrorKind::NotReplayable, text).because(cause)
    }

    pub(in crate::client) fn pagination_loop(cursor: Option<&Cursor>) -> Self {
        let cursor = Excerpt::start(cursor.map_or("", Cursor::as_str).as_bytes());
        let text = format!("pagination loop: the server returned cursor \"{cursor}\" twice");
        Self::new(ErrorKind::PaginationLoop, text)
    }

    fn of_job(
        kind: ErrorKind,
        text: String,
        job: JobId,
        last_status: Option<GenerationStatus>,
    ) -> Self {
        let mut error = Self::new(kind, text);
        (error.0.job, error.0.last_status) = (Some(job), last_status);
        error
    }

    pub(in crate::client) fn job_failed(job: JobId, status: GenerationStatus) -> Self {
        let reason = status.error.as_deref().filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| format!(": {}", Excerpt::of(reason))).unwrap_or_default();
        let text = format!("the generation \"{}\" failed{reason}", Excerpt::of(job.as_str()));
        Self::of_job(ErrorKind::JobFailed, text, job, Some(status))
    }

    pub(in crate::client) fn output_not_found(
        job: JobId,
        status: GenerationStatus,
        place: impl Into<String>,
    ) -> Self {
        let (id, place) = (Excerpt::of(job.as_str()), place.into());
        let text = format!("the output of the generation \"{id}\" was not found: {place}");
        Self::of_job(ErrorKind::OutputNotFound, text, job, Some(status))
    }

    pub(in crate::client) fn wait_timeout(
        job: JobId,
        after: Duration,
        last: Option<GenerationStatus>,
        cause: Option<Self>,
    ) -> Self {
        let status = last.as_ref().map_or_else(
            || "nothing was heard of it".to_owned(),
            |last| format!("it was {} when last asked", Excerpt::of(last.state.as_str())),
        );
        let id = Excerpt::of(job.as_str());
        let text = format!("the generation \"{id}\" was not finished within {after:?}; {status}");
        let error = Self::of_job(ErrorKind::WaitTimeout, text, job, last);
        match cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

/// Scheme, host and port of a URL.
fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A URL without the parts that may be secret.
fn without_query(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        let end = url.find(['?', '#']).unwrap_or(url.len());
        return Excerpt::start(&url.as_bytes()[..end]).to_string();
    };
    parsed.set_query(None);
    parsed.set_fragment(None);
    // Fails for a URL that cannot have them.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    Excerpt::of(parsed.as_str()).to_string()
}
