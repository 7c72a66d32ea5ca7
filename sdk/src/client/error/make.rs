//! Constructors of errors, with their texts.

use std::time::Duration;
use std::{fmt, io};

use http::StatusCode;
use url::Url;

use super::{Cause, Error, ErrorBody, ErrorKind, Excerpt, Facts};
use crate::client::retry::AttemptFailure;
use crate::client::timeout::TimeLimit;
use crate::client::transport::Failure;
use crate::model::{Cursor, GenerationStatus, JobId, without_credentials};

const INCOMPLETE: &str = "before the whole response was received";

/// Before anything is sent.
impl Error {
    fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, facts: Box::new(Facts { text: text.into(), ..Facts::default() }) }
    }

    fn of_status(kind: ErrorKind, status: StatusCode, text: impl Into<String>) -> Self {
        let mut error = Self::new(kind, text);
        error.facts.status = Some(status);
        error
    }

    fn failing(mut self, failure: AttemptFailure) -> Self {
        self.facts.failure = Some(failure);
        self
    }

    pub(in crate::client) fn because(mut self, source: impl Into<Cause>) -> Self {
        self.facts.source = Some(source.into());
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
        use AttemptFailure::{NoResponse, NotSent};
        use ErrorKind::{Connect, Timeout, Transport};
        let (kind, failure, before, after) = match (source.is_connecting, source.is_timeout) {
            (true, true) => (Connect, NotSent, "connecting to", " timed out (connect_timeout)"),
            (true, false) => (Connect, NotSent, "cannot connect to", ""),
            (false, true) => {
                (Timeout, NoResponse, "the HTTP client timed out while waiting for", "")
            }
            (false, false) => {
                (Transport, NoResponse, "connection to", " closed before a response was received")
            }
        };
        let mut error = Self::new(kind, format!("{before} {}{after}", origin(url)));
        error.facts.is_connect_timeout = source.is_connecting && source.is_timeout;
        error.failing(failure).because(source)
    }

    pub(in crate::client) fn incomplete(status: StatusCode, source: Failure) -> Self {
        let (kind, ending) = if source.is_timeout {
            (ErrorKind::Timeout, "the HTTP client timed out")
        } else {
            (ErrorKind::Transport, "connection closed")
        };
        let text = format!("{ending} {INCOMPLETE} ({status})");
        Self::of_status(kind, status, text).failing(AttemptFailure::Incomplete).because(source)
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
        let (failure, when) = match status {
            Some(status) => (AttemptFailure::Incomplete, format!("{INCOMPLETE} ({status})")),
            None => (AttemptFailure::NoResponse, format!("while waiting for {}", origin(url))),
        };
        let mut error = Self::new(ErrorKind::Timeout, format!("{what} {when}"));
        error.facts.status = status;
        // Without time left, a retry does not help.
        let is_final = matches!(limit, TimeLimit::Call | TimeLimit::Whole);
        error.facts.failure = (!is_final).then_some(failure);
        error
    }

    pub(in crate::client) fn call_timed_out(url: &str, after: Duration) -> Self {
        let text = format!("timed out after {after:?} (timeout) while waiting for ");
        Self::new(ErrorKind::Timeout, text + &without_query(url))
    }
}

/// With the status of a response.
impl Error {
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

    pub(in crate::client) fn response(
        kind: ErrorKind,
        status: StatusCode,
        body: ErrorBody,
        hint: &str,
    ) -> Self {
        let text = format!("{status}{body}{hint}");
        let mut error = Self::of_status(kind, status, text).failing(AttemptFailure::Status(status));
        if let ErrorBody::Envelope(problem) = body {
            error.facts.problem = Some(problem);
        }
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
        job: JobId,
        last_status: Option<GenerationStatus>,
        text: impl FnOnce(Excerpt) -> String,
    ) -> Self {
        let mut error = Self::new(kind, text(Excerpt::of(job.as_str())));
        (error.facts.job, error.facts.last_status) = (Some(job), last_status);
        error
    }

    pub(in crate::client) fn job_failed(job: JobId, status: GenerationStatus) -> Self {
        let reason = status.error.as_deref().filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| format!(": {}", Excerpt::of(reason))).unwrap_or_default();
        Self::of_job(ErrorKind::JobFailed, job, Some(status), |id| {
            format!("the generation \"{id}\" failed{reason}")
        })
    }

    pub(in crate::client) fn output_not_found(
        job: JobId,
        status: GenerationStatus,
        place: impl fmt::Display,
    ) -> Self {
        Self::of_job(ErrorKind::OutputNotFound, job, Some(status), |id| {
            format!("the output of the generation \"{id}\" was not found: {place}")
        })
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
        let mut error = Self::of_job(ErrorKind::WaitTimeout, job, last, |id| {
            format!("the generation \"{id}\" was not finished within {after:?}; {status}")
        });
        error.facts.source = cause.map(Cause::from);
        error
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A URL without the parts that may be secret.
fn without_query(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let shown = Url::parse(url).map(without_credentials);
    Excerpt::of(shown.as_ref().map_or(url, Url::as_str)).to_string()
}
