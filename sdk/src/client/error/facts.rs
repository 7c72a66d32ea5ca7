//! What an error has to tell beside its text.

use std::borrow::Cow;
use std::time::Duration;

use http::{Method, StatusCode};

use super::{Error, ErrorKind, Kind, Refusal};
use crate::model::{FieldErrors, GenerationStatus, JobId, Problem};

impl Error {
    /// What happened, in one word.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind.name()
    }

    /// The status of the answer, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.0.kind.status()
    }

    /// How long the service asked to be left alone (`Retry-After`).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What the service said went wrong, if it said so in the form of the API
    /// (`ER-01`); of a generation that failed, the reason.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match &self.0.kind {
            Kind::JobFailed { status, .. } => status.error.as_deref(),
            _ => self.problem().map(|problem| problem.message.as_str()),
        }
    }

    /// The generation that failed or took too long; of a
    /// [`create`](crate::resources::Generations::create), the id that was sent, by which the
    /// job can be found if the service took the call all the same (`GE-11`).
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        match &self.0.kind {
            Kind::JobFailed { job, .. }
            | Kind::OutputNotFound { job, .. }
            | Kind::WaitTimeout { job, .. } => Some(job),
            _ => self.0.job.as_ref(),
        }
    }

    /// What was last heard of that generation; `None` when nothing was.
    #[must_use]
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        match &self.0.kind {
            Kind::JobFailed { status, .. } | Kind::OutputNotFound { status, .. } => Some(status),
            Kind::WaitTimeout { last, .. } => last.as_deref(),
            _ => None,
        }
    }

    /// Each field the service found fault with, and what is wrong with it (`ER-03`).
    /// Empty when it named none.
    #[must_use]
    pub fn field_errors(&self) -> FieldErrors<'_> {
        self.problem().map_or_else(FieldErrors::none, Problem::field_errors)
    }

    /// What is wrong with this field, in the names of the wire (`promptType`).
    #[must_use]
    pub fn field_error(&self, field: &str) -> Option<Cow<'_, str>> {
        self.field_errors().find_map(|(name, text)| (name == field).then_some(text))
    }

    /// What the service calls the request in its own logs (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// The method of the call, if it was one call that failed.
    #[must_use]
    pub fn method(&self) -> Option<&Method> {
        self.0.route.as_ref().map(|route| &route.method)
    }

    /// The path of the call with its ids left open, such as `/prompts/{promptId}`;
    /// `{uploadUrl}` for the bytes of an upload and `{url}` for those of an asset.
    #[must_use]
    pub fn path_template(&self) -> Option<&str> {
        self.0.route.as_ref().map(|route| &*route.template)
    }

    /// How often the call was sent; 0 when it was not sent at all.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What the service sent with its refusal, up to 256 KiB of it; `None` if it
    /// refused nothing, or if it repeated a secret.
    #[must_use]
    pub fn body(&self) -> Option<&[u8]> {
        self.0.body.as_deref()
    }

    fn problem(&self) -> Option<&Problem> {
        match &self.0.kind {
            Kind::Refused { refusal: Refusal::Stated(problem), .. } => Some(problem),
            _ => None,
        }
    }
}
