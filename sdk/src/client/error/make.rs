//! How the other rooms make an error.

use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::{Error, Excerpt, Inner, Kind, Refusal, TimeLimit, kind};
use crate::client::request::Route;
use crate::client::transport::Failure;
use crate::model::{Cursor, GenerationStatus, JobId};

impl Error {
    fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            route: None,
            request_id: None,
            retry_after: None,
            attempts: 0,
            job: None,
            body: None,
            outcome_unknown: false,
            kind,
        }))
    }

    pub(in crate::client) fn config(text: impl Into<String>) -> Self {
        Self::new(Kind::Config(text.into()))
    }

    pub(in crate::client) fn set_up(source: reqwest::Error) -> Self {
        let source = Box::new(source.without_url());
        Self::new(Kind::SetUp { what: "HTTP client", source })
    }

    pub(in crate::client) fn no_runtime() -> Self {
        Self::config(
            "no Tokio runtime is running; await the call inside one, or use the feature `blocking`",
        )
    }

    #[cfg(feature = "blocking")]
    pub(in crate::client) fn no_thread(source: io::Error) -> Self {
        Self::new(Kind::SetUp { what: "thread that blocking calls need", source: source.into() })
    }

    pub(in crate::client) fn unwritable(route: Route, source: serde_json::Error) -> Self {
        Self::new(Kind::Unwritable(source)).of(route, None)
    }

    /// No answer came.
    pub(in crate::client) fn failed(origin: String, source: Failure) -> Self {
        Self::new(Kind::Failed { origin, source })
    }

    pub(in crate::client) fn broken_off(status: StatusCode, source: Failure) -> Self {
        Self::new(Kind::BrokenOff { status, source })
    }

    /// A time limit ran out; the status is there if the answer had begun.
    pub(in crate::client) fn timed_out(
        origin: String,
        limit: TimeLimit,
        after: Duration,
        status: Option<StatusCode>,
    ) -> Self {
        Self::new(Kind::TimedOut { origin, limit, after, status })
    }

    pub(in crate::client) fn redirected(
        status: StatusCode,
        location: Option<&str>,
        why: &'static str,
    ) -> Self {
        Self::new(Kind::Redirected { status, location: location.map(kind::without_query), why })
    }

    pub(in crate::client) fn followed(status: StatusCode, location: &str) -> Self {
        Self::new(Kind::Followed { status, location: kind::without_query(location) })
    }

    pub(in crate::client) fn refused(status: StatusCode, refusal: Refusal) -> Self {
        Self::new(Kind::Refused { status, refusal })
    }

    pub(in crate::client) fn unreadable(
        status: StatusCode,
        path: Option<String>,
        source: serde_json::Error,
        near: Excerpt,
    ) -> Self {
        Self::new(Kind::Unreadable { status, path, source, near })
    }

    /// Of an answer that holds secrets, so that nothing of it may be repeated.
    pub(in crate::client) fn unreadable_and_withheld(
        status: StatusCode,
        path: Option<String>,
    ) -> Self {
        Self::new(Kind::Withheld { status, path })
    }

    pub(in crate::client) fn pagination_loop(cursor: Option<&Cursor>) -> Self {
        let cursor = Excerpt::start(cursor.map_or("", Cursor::as_str).as_bytes());
        Self::new(Kind::PaginationLoop { cursor })
    }

    pub(in crate::client) fn input(text: impl Into<String>) -> Self {
        Self::new(Kind::Input(text.into()))
    }

    pub(in crate::client) fn source_unreadable(name: String, source: io::Error) -> Self {
        Self::new(Kind::Source { name, source })
    }

    /// That what consists of several requests took too long as a whole.
    pub(in crate::client) fn call_timed_out(address: &str, after: Duration) -> Self {
        Self::timed_out(kind::without_query(address), TimeLimit::Call, after, None)
    }

    pub(in crate::client) fn unwritable_file(path: &Path, source: io::Error) -> Self {
        Self::new(Kind::File { path: path.display().to_string(), source })
    }

    pub(in crate::client) fn answered_early(status: StatusCode) -> Self {
        Self::new(Kind::AnsweredEarly { status })
    }

    pub(in crate::client) fn not_replayable(cause: Self) -> Self {
        Self::new(Kind::NotReplayable(cause))
    }

    pub(in crate::client) fn too_large(status: StatusCode, max: u64) -> Self {
        Self::new(Kind::TooLarge { status, max })
    }

    pub(in crate::client) fn job_failed(job: JobId, status: GenerationStatus) -> Self {
        Self::new(Kind::JobFailed { job, status: Box::new(status) })
    }

    pub(in crate::client) fn wait_timeout(
        job: JobId,
        after: Duration,
        last: Option<GenerationStatus>,
        cause: Option<Self>,
    ) -> Self {
        Self::new(Kind::WaitTimeout { job, after, last: last.map(Box::new), cause })
    }

    /// The same error, of a call that may have been carried out.
    pub(in crate::client) fn outcome_unknown(mut self) -> Self {
        self.0.outcome_unknown = true;
        self
    }

    pub(in crate::client) fn output_not_found(
        job: JobId,
        status: GenerationStatus,
        place: String,
    ) -> Self {
        Self::new(Kind::OutputNotFound { job, status: Box::new(status), place })
    }

    /// The same error, of an answer that asked to be left alone for a while.
    pub(in crate::client) fn with_retry_after(mut self, retry_after: Option<Duration>) -> Self {
        self.0.retry_after = retry_after;
        self
    }

    /// The same error, with what the service sent, as far as it is kept.
    pub(in crate::client) fn with_body(mut self, body: Option<Bytes>) -> Self {
        self.0.body = body;
        self
    }

    /// The same error, of a call that was sent this often and had this key.
    pub(in crate::client) fn after_attempts(mut self, attempts: u32, job: Option<JobId>) -> Self {
        self.0.attempts = attempts;
        self.0.job = job;
        self
    }

    /// The same error, of this call.
    pub(in crate::client) fn of(mut self, route: Route, request_id: Option<String>) -> Self {
        self.0.route = Some(route);
        self.0.request_id = request_id;
        self
    }
}
