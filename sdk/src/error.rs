//! The error type of the client.
//!
//! `Display` is one line. Neither it nor `Debug` shows the API key or the query of a URL.

mod body;
mod kind;
mod make;
mod outcome;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};

use crate::macros::debug;
use crate::model::{GenerationStatus, JobId};
pub(crate) use body::{Problem, excerpt, excerpt_at};
pub use kind::ErrorKind;
pub(crate) use outcome::{
    AttemptFailure, FailureKind, History, Idempotency, RetryAfter, Route, TimeLimit, TimedOut,
    date, retry_after,
};
pub use outcome::{Failure, Outcome};

pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a call failed.
///
/// [`kind`](Self::kind) and the predicates tell errors apart. `Display` is one line with the call,
/// the status, the message of the service, the invalid fields and the request id.
pub struct Error {
    kind: ErrorKind,
    facts: Box<Facts>,
}

#[derive(Default)]
struct Facts {
    text: String,
    source: Option<Cause>,
    failure: Option<AttemptFailure>,
    history: History,
    /// A timeout while connecting, which is of the kind `Connect`.
    is_connect_timeout: bool,
    problem: Option<Problem>,
    body: Option<Bytes>,
    retry_after: Option<RetryAfter>,
    request_id: Option<String>,
    route: Option<Route>,
    job: Option<JobId>,
    last_status: Option<GenerationStatus>,
}

impl Error {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may succeed later: the server was not reached, timed out, closed the
    /// connection, sent `Retry-After`, or answered 408, 425, 429 or 5xx except 501, 505 and 511. It may
    /// be carried out twice then unless [`outcome`](Self::outcome) is [`Outcome::NotDone`].
    pub fn is_retryable(&self) -> bool {
        match self.facts.failure {
            Some(failure) => failure.is_transient(self.facts.retry_after.is_some()),
            None => self.kind == ErrorKind::Timeout,
        }
    }

    /// Whether the service carried out the call although it failed, over all attempts. Always
    /// [`Outcome::NotDone`] for calls that can be repeated without effect.
    pub fn outcome(&self) -> Outcome {
        self.facts.history.outcome
    }

    /// Whether [`outcome`](Self::outcome) is not [`Outcome::NotDone`], so that sending the call again
    /// may carry it out twice.
    pub fn is_outcome_unknown(&self) -> bool {
        self.outcome() != Outcome::NotDone
    }

    /// The status of the response, if one was received.
    pub fn status(&self) -> Option<StatusCode> {
        match self.facts.failure? {
            AttemptFailure::Incomplete(status) | AttemptFailure::Response(status) => Some(status),
            AttemptFailure::NotSent | AttemptFailure::NoResponse => None,
        }
    }

    /// `Retry-After` of the response, relative to its `Date`. `None` also if it cannot be read.
    pub fn retry_after(&self) -> Option<Duration> {
        self.facts.retry_after.flatten()
    }

    /// The message of an error response of the API, or the reason why a generation failed.
    pub fn message(&self) -> Option<&str> {
        match (&self.facts.problem, &self.facts.last_status) {
            (Some(problem), _) => Some(&problem.message),
            (None, Some(status)) => status.error.as_deref(),
            (None, None) => None,
        }
    }

    /// The generation that the call was about, by which it can be found if the service queued it
    /// although the call failed.
    pub fn job_id(&self) -> Option<&JobId> {
        self.facts.job.as_ref()
    }

    /// The last status of that generation, if one was received.
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        self.facts.last_status.as_ref()
    }

    /// The invalid fields of the request, each with what is wrong with it.
    pub fn field_errors(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.facts.problem.iter().flat_map(Problem::field_errors)
    }

    /// What is wrong with this field, by its JSON name, such as `promptType`.
    pub fn field_error(&self, field: &str) -> Option<Cow<'_, str>> {
        self.field_errors().find_map(|(name, text)| (name == field).then_some(text))
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// The method of the request that failed, if one was made.
    pub fn method(&self) -> Option<&Method> {
        self.facts.route.as_ref().map(|route| &route.method)
    }

    /// The path template of the request, such as `/prompts/{promptId}`; `{uploadUrl}` for the bytes
    /// of an upload and `{url}` for an asset.
    pub fn path_template(&self) -> Option<&str> {
        self.facts.route.as_ref().map(|route| &*route.template)
    }

    /// How many times the request was sent; 0 if it was not.
    pub fn attempts(&self) -> u32 {
        self.facts.history.attempts
    }

    /// The body of the error response, up to 256 KiB, unless it repeats a credential.
    pub fn body(&self) -> Option<&[u8]> {
        self.facts.body.as_deref()
    }

    pub(crate) fn of(mut self, route: Route, request_id: Option<String>) -> Self {
        self.facts.route = Some(route);
        self.facts.request_id = request_id;
        self
    }

    pub(crate) fn of_call(mut self, history: History, job: Option<JobId>) -> Self {
        self.facts.history = history;
        self.with_job(job)
    }

    pub(crate) fn with_job(mut self, job: Option<JobId>) -> Self {
        self.facts.job = self.facts.job.or(job);
        self
    }

    pub(crate) fn with_last_status(mut self, last: Option<GenerationStatus>) -> Self {
        self.facts.last_status = self.facts.last_status.or(last);
        self
    }

    /// `Retry-After` of the response, also if it cannot be read.
    pub(crate) const fn retry_after_header(&self) -> Option<RetryAfter> {
        self.facts.retry_after
    }

    pub(crate) const fn attempt_failure(&self) -> Option<AttemptFailure> {
        self.facts.failure
    }

    pub(crate) const fn error_status(&self) -> Option<&StatusCode> {
        match &self.facts.failure {
            Some(AttemptFailure::Response(status)) if status.as_u16() >= 400 => Some(status),
            _ => None,
        }
    }

    /// The error of a success that says that the call failed, so that it may not be carried out.
    pub(crate) fn doubted(mut self) -> Self {
        self.facts.history.outcome = self.outcome().min(Outcome::Unknown);
        self
    }

    pub(crate) fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.facts.history.outcome = outcome;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.facts.route {
            write!(f, "{} {}: ", route.method, route.template)?;
        }
        f.write_str(&self.facts.text)?;
        let History { attempts, outcome, budget_is_empty } = self.facts.history;
        let text_names_job = matches!(
            self.kind,
            ErrorKind::JobFailed | ErrorKind::OutputNotFound | ErrorKind::WaitTimeout
        );
        let notes = [
            self.request_id().map(|id| format!("request id {}", excerpt(id))),
            (attempts > 1).then(|| format!("after {attempts} attempts")),
            budget_is_empty
                .then(|| "not retried, as the retry budget of the client is empty".to_owned()),
            self.retry_after().map(|after| format!("retry after {after:?}")),
            match outcome {
                Outcome::NotDone => None,
                Outcome::Unknown if self.kind == ErrorKind::Ambiguous => None,
                Outcome::Unknown => Some("it is unknown whether the service carried it out".into()),
                Outcome::Done if text_names_job => None,
                Outcome::Done => Some("the service carried it out".into()),
            },
            self.job_id()
                .filter(|_| !text_names_job)
                .map(|job| format!("job \"{}\"", excerpt(job.as_str()))),
        ];
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}

debug!(
    Error,
    |it| route = it.facts.route,
    request_id = it.facts.request_id,
    attempts = it.attempts(),
    kind = it.kind,
    text = it.facts.text,
    source = it.facts.source
);

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.facts.source.as_ref().map(|source| &**source as _)
    }
}
