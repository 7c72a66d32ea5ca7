//! The error type of the client.
//!
//! `Display` is one line and does not repeat its `source`. Neither shows the API key, and no URL
//! is shown with its query.

mod kind;

use std::borrow::Cow;
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use http::{Method, StatusCode};

use super::request::Route;
use super::retry::{AttemptFailure, is_transient};
use crate::model::{Cursor, FieldErrors, GenerationStatus, JobId, Problem};
pub(super) use kind::{ErrorBody, Excerpt, Kind, TimeLimit, without_query};

/// Why a call failed.
///
/// [`kind`](Self::kind) and the predicates tell errors apart. `Display` is one line with the call,
/// the status, the message of the service, the invalid fields and the request id.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// match client.prompts().create("", "A harbour at dusk").await {
///     Ok(prompt) => println!("stored as {}", prompt.id),
///     Err(error) if error.is_invalid() => {
///         for (field, text) in error.field_errors() {
///             println!("{field}: {text}");
///         }
///     }
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    route: Option<Route>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    attempts: u32,
    /// The id of the job that the call creates.
    job: Option<JobId>,
    /// Of an error response.
    body: Option<Bytes>,
    /// Whether the request may have been carried out although the call failed.
    outcome_unknown: bool,
}

/// Declares [`ErrorKind`] with a predicate of [`Error`] for each kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal, $predicate:ident;)*) => {
        /// The class of an [`Error`], for branching and as a metric label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $kind,)*
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
    /// The arguments of the call cannot be sent, for example a file that cannot be read or an
    /// image that is too large.
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
    /// belongs to another account.
    ///
    /// A 404 of the API whose body is not an error response of the API is
    /// [`Status`](ErrorKind::Status): the base URL may be wrong.
    NotFound = "not_found", is_not_found;
    /// Status 409.
    Conflict = "conflict", is_conflict;
    /// Status 429: too many requests; see [`retry_after`](Error::retry_after).
    RateLimited = "rate_limited", is_rate_limited;
    /// Status 500 to 599.
    Server = "server", is_server_error;
    /// Another error status, or a success whose body is an error response.
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
    /// A generation completed, and its output is not there: the prompt was deleted, or the status
    /// names none and the target vault does not contain it.
    OutputNotFound = "output_not_found", is_output_not_found;
    /// Waiting for a generation timed out. The job goes on: wait for its
    /// [`job_id`](Error::job_id) again, in this process or another.
    WaitTimeout = "wait_timeout", is_wait_timeout;
    /// An upload must be retried, but its reader can be read only once. The `source` of the error
    /// is the error of the first attempt.
    NotReplayable = "not_replayable", is_not_replayable;
}

impl ErrorKind {
    /// The class of an error status.
    pub(super) const fn of_status(status: StatusCode) -> Self {
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

/// More about the error.
impl Error {
    /// The class of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind.class()
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
            None => matches!(self.0.kind, Kind::TimedOut { .. }),
        }
    }

    /// Whether it is unknown if the generation was queued. [`job_id`](Self::job_id) names the job;
    /// ask for its status later.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.outcome_unknown
    }

    /// The status of the response, if one was received.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.0.kind.status()
    }

    /// `Retry-After` of the response.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The message of an error response of the API, or the reason why a generation failed.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match &self.0.kind {
            Kind::JobFailed { status, .. } => status.error.as_deref(),
            _ => self.problem().map(|problem| problem.message.as_str()),
        }
    }

    /// The generation that failed or timed out; for
    /// [`create`](crate::resources::Generations::create) the id that was sent, by which the job
    /// can be found if the service queued it although the call failed.
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        match &self.0.kind {
            Kind::JobFailed { job, .. }
            | Kind::OutputNotFound { job, .. }
            | Kind::WaitTimeout { job, .. } => Some(job),
            _ => self.0.job.as_ref(),
        }
    }

    /// The last status of that generation, if one was received.
    #[must_use]
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        match &self.0.kind {
            Kind::JobFailed { status, .. } | Kind::OutputNotFound { status, .. } => Some(status),
            Kind::WaitTimeout { last, .. } => last.as_deref(),
            _ => None,
        }
    }

    /// The invalid fields of the request, each with what is wrong with it. Empty if the service
    /// named none.
    #[must_use]
    pub fn field_errors(&self) -> FieldErrors<'_> {
        self.problem().map_or_else(FieldErrors::none, Problem::field_errors)
    }

    /// What is wrong with this field, by its JSON name, such as `promptType`.
    #[must_use]
    pub fn field_error(&self, field: &str) -> Option<Cow<'_, str>> {
        self.field_errors().find_map(|(name, text)| (name == field).then_some(text))
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// The method of the request that failed, if one was made.
    #[must_use]
    pub fn method(&self) -> Option<&Method> {
        self.0.route.as_ref().map(|route| &route.method)
    }

    /// The path template of the request, such as `/prompts/{promptId}`; `{uploadUrl}` for the bytes
    /// of an upload and `{url}` for an asset.
    #[must_use]
    pub fn path_template(&self) -> Option<&str> {
        self.0.route.as_ref().map(|route| &*route.template)
    }

    /// How many times the request was sent; 0 if it was not.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// The body of the error response, up to 256 KiB; `None` if there is none or if it repeats a
    /// credential.
    #[must_use]
    pub fn body(&self) -> Option<&[u8]> {
        self.0.body.as_deref()
    }

    fn problem(&self) -> Option<&Problem> {
        match &self.0.kind {
            Kind::Status { body: ErrorBody::Envelope(problem), .. } => Some(problem),
            _ => None,
        }
    }

    fn is(&self, kind: ErrorKind) -> bool {
        self.kind() == kind || (kind == ErrorKind::Timeout && self.0.kind.is_connect_timeout())
    }
}

/// Constructors.
impl Error {
    pub(super) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            route: None,
            request_id: None,
            retry_after: None,
            attempts: 0,
            job: None,
            body: None,
            outcome_unknown: false,
        }))
    }

    pub(super) fn config(text: impl Into<String>) -> Self {
        Self::new(Kind::Config(text.into()))
    }

    pub(super) fn set_up(
        what: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::new(Kind::SetUp { what, source: source.into() })
    }

    pub(super) fn input(text: impl Into<String>) -> Self {
        Self::new(Kind::Input(text.into()))
    }

    pub(super) fn file(name: String, action: &'static str, source: io::Error) -> Self {
        Self::new(Kind::File { name, action, source })
    }

    /// The whole of several requests timed out.
    pub(super) fn call_timed_out(url: &str, after: Duration) -> Self {
        let (origin, limit) = (without_query(url), TimeLimit::Whole);
        Self::new(Kind::TimedOut { origin, limit, after, status: None })
    }

    pub(super) fn pagination_loop(cursor: Option<&Cursor>) -> Self {
        let cursor = Excerpt::start(cursor.map_or("", Cursor::as_str).as_bytes());
        Self::new(Kind::PaginationLoop { cursor })
    }

    pub(super) fn job_failed(job: JobId, status: GenerationStatus) -> Self {
        Self::new(Kind::JobFailed { job, status: Box::new(status) })
    }

    pub(super) fn output_not_found(job: JobId, status: GenerationStatus, place: String) -> Self {
        Self::new(Kind::OutputNotFound { job, status: Box::new(status), place })
    }

    pub(super) fn wait_timeout(
        job: JobId,
        after: Duration,
        last: Option<GenerationStatus>,
        cause: Option<Self>,
    ) -> Self {
        Self::new(Kind::WaitTimeout { job, after, last: last.map(Box::new), cause })
    }

    /// Sets the request that failed.
    pub(super) fn of(mut self, route: Route, request_id: Option<String>) -> Self {
        self.0.route = Some(route);
        self.0.request_id = request_id;
        self
    }

    /// Sets the number of attempts and the id of the job that the call creates.
    pub(super) fn after_attempts(mut self, attempts: u32, job: Option<JobId>) -> Self {
        self.0.attempts = attempts;
        self.0.job = job;
        self
    }

    /// Sets what an error response contained.
    pub(super) fn of_response(
        mut self,
        retry_after: Option<Duration>,
        body: Option<Bytes>,
    ) -> Self {
        self.0.retry_after = retry_after;
        self.0.body = body;
        self
    }

    /// Marks that the request may have been carried out.
    pub(super) fn outcome_unknown(mut self) -> Self {
        self.0.outcome_unknown = true;
        self
    }
}

/// For retries and traces.
impl Error {
    /// How the attempt failed; `None` if a retry does not help.
    pub(super) fn attempt_failure(&self) -> Option<AttemptFailure> {
        self.0.kind.attempt_failure()
    }

    /// The status of an error response.
    pub(super) const fn error_status(&self) -> Option<&StatusCode> {
        match &self.0.kind {
            Kind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Whether the request may have been carried out although no response says so.
    pub(super) fn leaves_outcome_open(&self) -> bool {
        matches!(
            self.attempt_failure(),
            Some(AttemptFailure::NoResponse | AttemptFailure::Incomplete)
        ) || matches!(self.0.kind, Kind::TimedOut { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.0.route {
            write!(f, "{} {}: ", route.method, route.template)?;
        }
        self.0.kind.fmt(f)?;
        let mut notes = Vec::new();
        if let Some(id) = &self.0.request_id {
            notes.push(format!("request id {}", Excerpt::start(id.as_bytes())));
        }
        if self.0.attempts > 1 {
            notes.push(format!("after {} attempts", self.0.attempts));
        }
        if self.0.outcome_unknown {
            notes.push("it is not known whether the job was queued".to_owned());
        }
        if let Some(after) = self.0.retry_after {
            notes.push(format!("retry after {after:?}"));
        }
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("route", &self.0.route)
            .field("request_id", &self.0.request_id)
            .field("attempts", &self.0.attempts)
            .field("kind", &self.0.kind)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}
