//! Constructors of errors, with their texts.

use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use http::StatusCode;
use url::Url;

#[cfg(feature = "durable")]
use super::Outcome;
use super::{
    AttemptFailure, Cause, Error, ErrorKind, Facts, Failure, FailureKind, Problem, RetryAfter,
    TimeLimit, TimedOut, excerpt,
};
use crate::model::{Cursor, GenerationState, GenerationStatus, JobId, without_credentials};

const INCOMPLETE: &str = "before the whole response was received";

impl Error {
    fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, facts: Box::new(Facts { text: text.into(), ..Facts::default() }) }
    }

    fn of_status(kind: ErrorKind, status: StatusCode, text: impl Into<String>) -> Self {
        Self::new(kind, text).failing(AttemptFailure::Response(status))
    }

    fn failing(mut self, failure: AttemptFailure) -> Self {
        self.facts.failure = Some(failure);
        self
    }

    pub(crate) fn because(mut self, source: impl Into<Cause>) -> Self {
        self.facts.source = Some(source.into());
        self
    }

    pub(crate) fn config(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, text)
    }

    /// Something that the client needs cannot be set up.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn set_up(what: &str, source: impl Into<Cause>) -> Self {
        let source = source.into();
        Self::config(format!("cannot set up the {what}: {}", root(&*source))).because(source)
    }

    pub(crate) fn input(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, text)
    }

    pub(crate) fn file(name: impl fmt::Display, action: &str, source: io::Error) -> Self {
        Self::input(format!("{name} cannot be {action}: {source}")).because(source)
    }

    pub(crate) fn no_response(url: &Url, source: Failure) -> Self {
        use ErrorKind::{Connect, Timeout, Transport};
        use FailureKind::{Connecting, Exchanging, InvalidUrl, NotProcessed};
        let to = origin(url);
        let (kind, text) = match (source.kind, source.is_timeout) {
            (InvalidUrl, _) => return Self::input("the URL is invalid").because(source),
            (Connecting, true) => {
                (Connect, format!("connecting to {to} timed out (connect_timeout)"))
            }
            (Connecting, false) => (Connect, format!("cannot connect to {to}: {}", root(&source))),
            (NotProcessed, _) => (Transport, format!("{to} refused to process the request")),
            (Exchanging, true) => {
                (Timeout, format!("the HTTP client timed out while waiting for {to}"))
            }
            (Exchanging, false) => {
                (Transport, format!("connection to {to} closed before a response was received"))
            }
        };
        let failure = if source.kind == Exchanging {
            AttemptFailure::NoResponse
        } else {
            AttemptFailure::NotSent
        };
        let mut error = Self::new(kind, text).failing(failure);
        error.facts.is_connect_timeout = kind == Connect && source.is_timeout;
        error.because(source)
    }

    pub(crate) fn upload_cut(url: &Url, source: Failure) -> Self {
        let mut error = Self::no_response(url, source);
        if error.is_transport() {
            error.facts.text +=
                "; the storage may have refused the upload before it read all of it";
        }
        error
    }

    pub(crate) fn incomplete(status: StatusCode, source: Failure) -> Self {
        let (kind, ending) = if source.is_timeout {
            (ErrorKind::Timeout, "the HTTP client timed out")
        } else {
            (ErrorKind::Transport, "connection closed")
        };
        Self::new(kind, format!("{ending} {INCOMPLETE} ({status})"))
            .failing(AttemptFailure::Incomplete(status))
            .because(source)
    }

    pub(crate) fn timed_out(url: &Url, limit: TimedOut, status: Option<StatusCode>) -> Self {
        let (failure, when) = match status {
            Some(status) => {
                (AttemptFailure::Incomplete(status), format!("{INCOMPLETE} ({status})"))
            }
            None => (AttemptFailure::NoResponse, format!("while waiting for {}", origin(url))),
        };
        Self::expired(limit, &when).failing(failure)
    }

    pub(crate) fn unsent(limit: TimedOut, when: &str) -> Self {
        Self::expired(limit, when).failing(AttemptFailure::NotSent)
    }

    fn expired(TimedOut { limit, after }: TimedOut, when: &str) -> Self {
        let (what, setting) = match limit {
            TimeLimit::Idle => ("no data for", "idle_timeout"),
            TimeLimit::Attempt => ("timed out after", "request_timeout"),
            TimeLimit::Call => ("timed out after", "overall_timeout"),
            TimeLimit::Whole => ("timed out after", "timeout"),
        };
        Self::new(ErrorKind::Timeout, format!("{what} {after:?} ({setting}) {when}"))
    }

    pub(crate) fn call_timed_out(url: &str, after: Duration) -> Self {
        let when = format!("while waiting for {}", without_query(url));
        Self::expired(TimedOut { limit: TimeLimit::Whole, after }, &when)
    }

    pub(crate) fn answered_early(status: StatusCode) -> Self {
        let text = format!("the server answered {status} before all bytes were sent");
        Self::of_status(ErrorKind::Transport, status, text)
    }

    pub(crate) fn not_continued(status: StatusCode, byte: u64) -> Self {
        let text = format!(
            "{status} does not continue at byte {byte}: the server does not support ranges, or the \
             asset has changed"
        );
        Self::of_status(ErrorKind::Status, status, text)
    }

    /// A redirect that is not followed for this reason; `None` without a valid `Location`.
    pub(crate) fn redirect(status: StatusCode, to: Option<&Url>, reason: &str) -> Self {
        let text = match to.map(|to| without_query(to.as_str())) {
            Some(to) => format!("{status} redirects to {to}; not followed: {reason}"),
            None => format!("{status} has no valid Location"),
        };
        Self::of_status(ErrorKind::Redirect, status, text)
    }

    pub(crate) fn followed(status: StatusCode, url: &Url) -> Self {
        let text = format!(
            "{status} from {}: the HTTP client followed a redirect; build it with \
             `redirect::Policy::none()`",
            without_query(url.as_str())
        );
        // The status is that of another request; that of the one redirected is unknown.
        Self::of_status(ErrorKind::Redirect, StatusCode::FOUND, text)
    }

    /// An error response: what its body is or says, and what it means if it is the API's.
    pub(crate) fn response(
        kind: ErrorKind,
        status: StatusCode,
        text: &str,
        problem: Option<Problem>,
        retry_after: Option<RetryAfter>,
        body: Option<Bytes>,
    ) -> Self {
        let mut error = Self::of_status(kind, status, format!("{status}{text}"));
        let facts = &mut *error.facts;
        (facts.problem, facts.retry_after, facts.body) = (problem, retry_after, body);
        error
    }

    /// A success that cannot be decoded for this reason, with the part of the body at fault.
    pub(crate) fn decode(
        status: StatusCode,
        path: Option<&str>,
        reason: &str,
        near: Option<&str>,
    ) -> Self {
        let at = path.map(|path| format!(" at `{path}`")).unwrap_or_default();
        let near = near.map(|near| format!(", near {near}")).unwrap_or_default();
        let text = format!("cannot decode response{at}: {reason} ({status}){near}");
        Self::of_status(ErrorKind::Decode, status, text)
    }

    pub(crate) fn too_large(status: StatusCode, max: u64, setting: &str) -> Self {
        let text = format!("response larger than {max} bytes ({setting}; {status})");
        Self::of_status(ErrorKind::TooLarge, status, text)
    }

    pub(crate) fn not_replayable(cause: Self) -> Self {
        let text = "the upload must be retried, but its reader can be read only once";
        Self::new(ErrorKind::NotReplayable, text).because(cause)
    }

    #[cfg(feature = "durable")]
    pub(crate) fn ambiguous(key: &str, reason: impl fmt::Display) -> Self {
        let key = excerpt(key);
        let text = format!("cannot tell whether the step \"{key}\" was carried out: {reason}");
        Self::new(ErrorKind::Ambiguous, text).with_outcome(Outcome::Unknown)
    }

    pub(crate) fn pagination_loop(cursor: Option<&Cursor>) -> Self {
        let cursor = excerpt(cursor.map_or("", Cursor::as_str));
        let text = format!("pagination loop: the server returned cursor \"{cursor}\" twice");
        Self::new(ErrorKind::PaginationLoop, text)
    }

    /// `text` has `{job}` in the place of the id.
    fn of_job(kind: ErrorKind, job: JobId, last: Option<GenerationStatus>, text: &str) -> Self {
        let text = text.replacen("{job}", &format!("\"{}\"", excerpt(job.as_str())), 1);
        Self::new(kind, text).with_job(Some(job)).with_last_status(last)
    }

    pub(crate) fn job_failed(job: JobId, status: GenerationStatus) -> Self {
        let reason = status.error.as_deref().or(status.message.as_deref());
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| format!(": {}", excerpt(reason))).unwrap_or_default();
        let end = match &status.state {
            GenerationState::Failed => "failed".to_owned(),
            other => format!("ended as `{}`", excerpt(other.as_str())),
        };
        let text = format!("the generation {{job}} {end}{reason}");
        Self::of_job(ErrorKind::JobFailed, job, Some(status), &text)
    }

    pub(crate) fn output_not_found(
        job: JobId,
        status: GenerationStatus,
        place: impl fmt::Display,
    ) -> Self {
        let text = format!("the output of the generation {{job}} was not found: {place}");
        Self::of_job(ErrorKind::OutputNotFound, job, Some(status), &text)
    }

    pub(crate) fn wait_timeout(
        job: JobId,
        after: Duration,
        last: Option<GenerationStatus>,
        cause: Option<Self>,
    ) -> Self {
        let status = last.as_ref().map_or_else(
            || "nothing was heard of it".to_owned(),
            |last| {
                let unknown = match &last.state {
                    GenerationState::Unknown(_) => {
                        ", a state that this client does not know; if it is final, name it with \
                         `final_states` or `success_states`"
                    }
                    _ => "",
                };
                format!("it was {} when last asked{unknown}", excerpt(last.state.as_str()))
            },
        );
        let text = format!("the generation {{job}} was not finished within {after:?}; {status}");
        let mut error = Self::of_job(ErrorKind::WaitTimeout, job, last, &text);
        error.facts.source = cause.map(Cause::from);
        error
    }
}

/// The text of the innermost cause, which says most.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let root = std::iter::successors(Some(error), |error| error.source()).last();
    root.map(ToString::to_string).unwrap_or_default()
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A URL without the parts that may be secret.
fn without_query(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let shown = Url::parse(url).map(without_credentials);
    excerpt(shown.as_ref().map_or(url, Url::as_str))
}
