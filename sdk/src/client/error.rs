//! The error type of the client.
//!
//! `Display` is one line and does not repeat its `source`. Neither shows the API key, and no URL
//! is shown with its query.

mod body;
mod kind;
mod make;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};

use super::request::Route;
use super::retry::{AttemptFailure, is_transient};
use crate::model::{GenerationStatus, JobId};
pub(super) use body::{ErrorBody, Excerpt, Problem};
pub use kind::ErrorKind;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a call failed.
///
/// [`kind`](Self::kind) and the predicates tell errors apart. `Display` is one line with the call,
/// the status, the message of the service, the invalid fields and the request id.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// match client.prompts().create("", "A harbour at dusk").await {
///     Ok(prompt) => println!("stored as {}", prompt.id),
///     Err(error) if error.is_invalid() => {
///         for (field, text) in error.field_errors() {
///             println!("{field}: {text}");
///         }
///     }
///     Err(error) => return Err(error),
/// }
/// # Ok(()) }
/// ```
pub struct Error {
    kind: ErrorKind,
    facts: Box<Facts>,
}

#[derive(Default)]
struct Facts {
    /// What went wrong, without the call.
    text: String,
    source: Option<Cause>,
    /// How the attempt failed; `None` if a retry does not help.
    failure: Option<AttemptFailure>,
    /// A timeout while connecting, which is of the kind `Connect`.
    is_connect_timeout: bool,
    status: Option<StatusCode>,
    problem: Option<Problem>,
    body: Option<Bytes>,
    retry_after: Option<Duration>,
    request_id: Option<String>,
    route: Option<Route>,
    attempts: u32,
    job: Option<JobId>,
    last_status: Option<GenerationStatus>,
    /// Whether the request may have been carried out although the call failed.
    outcome_unknown: bool,
}

/// What is known of the error.
impl Error {
    /// The class of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may succeed later: the server was not reached, timed out, closed the
    /// connection, or answered 408, 429, 500, 502, 503 or 504.
    ///
    /// Sending it again may carry it out twice, unless [`is_connect`](Self::is_connect) holds too.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.attempt_failure() {
            Some(AttemptFailure::Status(status)) => is_transient(status),
            Some(_) => true,
            // Another call may be faster.
            None => self.kind == ErrorKind::Timeout,
        }
    }

    /// Whether it is unknown if the generation was queued. [`job_id`](Self::job_id) names the job;
    /// ask for its status later.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        self.facts.outcome_unknown
    }

    /// The status of the response, if one was received.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.facts.status
    }

    /// `Retry-After` of the response.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.facts.retry_after
    }

    /// The message of an error response of the API, or the reason why a generation failed.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match (&self.facts.problem, &self.facts.last_status) {
            (Some(problem), _) => Some(&problem.message),
            (None, Some(status)) => status.error.as_deref(),
            (None, None) => None,
        }
    }

    /// The generation that failed or timed out; for
    /// [`create`](crate::resources::Generations::create) the id that was sent, by which the job
    /// can be found if the service queued it although the call failed.
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        self.facts.job.as_ref()
    }

    /// The last status of that generation, if one was received.
    #[must_use]
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        self.facts.last_status.as_ref()
    }

    /// The invalid fields of the request, each with what is wrong with it. Empty if the service
    /// named none.
    pub fn field_errors(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.facts.problem.iter().flat_map(Problem::field_errors)
    }

    /// What is wrong with this field, by its JSON name, such as `promptType`.
    #[must_use]
    pub fn field_error(&self, field: &str) -> Option<Cow<'_, str>> {
        self.field_errors().find_map(|(name, text)| (name == field).then_some(text))
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// The method of the request that failed, if one was made.
    #[must_use]
    pub fn method(&self) -> Option<&Method> {
        self.facts.route.as_ref().map(|route| &route.method)
    }

    /// The path template of the request, such as `/prompts/{promptId}`; `{uploadUrl}` for the bytes
    /// of an upload and `{url}` for an asset.
    #[must_use]
    pub fn path_template(&self) -> Option<&str> {
        self.facts.route.as_ref().map(|route| &*route.template)
    }

    /// How many times the request was sent; 0 if it was not.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.facts.attempts
    }

    /// The body of the error response, up to 256 KiB; `None` if there is none or if it repeats a
    /// credential.
    #[must_use]
    pub fn body(&self) -> Option<&[u8]> {
        self.facts.body.as_deref()
    }
}

impl Error {
    pub(super) fn of(mut self, route: Route, request_id: Option<String>) -> Self {
        self.facts.route = Some(route);
        self.facts.request_id = request_id;
        self
    }

    pub(super) fn after_attempts(mut self, attempts: u32, job: Option<JobId>) -> Self {
        self.facts.attempts = attempts;
        self.facts.job = job;
        self
    }

    pub(super) fn of_response(
        mut self,
        retry_after: Option<Duration>,
        body: Option<Bytes>,
    ) -> Self {
        self.facts.retry_after = retry_after;
        self.facts.body = body;
        self
    }

    pub(super) fn outcome_unknown(mut self) -> Self {
        self.facts.outcome_unknown = true;
        self
    }

    /// How the attempt failed; `None` if a retry does not help.
    pub(super) const fn attempt_failure(&self) -> Option<AttemptFailure> {
        self.facts.failure
    }

    /// The status of an error response.
    pub(super) const fn error_status(&self) -> Option<&StatusCode> {
        match &self.facts.failure {
            Some(AttemptFailure::Status(status)) => Some(status),
            _ => None,
        }
    }

    /// Whether the request may have been carried out although no response says so.
    pub(super) fn leaves_outcome_open(&self) -> bool {
        use AttemptFailure::{Incomplete, NoResponse};
        matches!(self.facts.failure, Some(NoResponse | Incomplete))
            || self.kind == ErrorKind::Timeout
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.facts.route {
            write!(f, "{} {}: ", route.method, route.template)?;
        }
        f.write_str(&self.facts.text)?;
        let mut notes = Vec::new();
        if let Some(id) = &self.facts.request_id {
            notes.push(format!("request id {}", Excerpt::of(id)));
        }
        if self.facts.attempts > 1 {
            notes.push(format!("after {} attempts", self.facts.attempts));
        }
        if self.facts.outcome_unknown {
            notes.push("it is not known whether the job was queued".to_owned());
        }
        if let Some(after) = self.facts.retry_after {
            notes.push(format!("retry after {after:?}"));
        }
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("route", &self.facts.route)
            .field("request_id", &self.facts.request_id)
            .field("attempts", &self.facts.attempts)
            .field("kind", &self.kind)
            .field("text", &self.facts.text)
            .field("source", &self.facts.source)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.facts.source.as_ref().map(|source| &**source as _)
    }
}
