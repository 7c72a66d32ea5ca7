//! The one error of the client: opaque, with a question for each thing a caller
//! would branch on.
//!
//! `Display` is one line and its own level only; what is underneath is the
//! `source`. Neither holds the key, and no address is shown with its query.

mod excerpt;
mod kind;
mod make;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use http::{Method, StatusCode};

use super::request::Route;
use crate::model::{FieldErrors, GenerationStatus, JobId, Problem};
pub(super) use excerpt::Excerpt;
use kind::Kind;
pub(super) use kind::Refusal;

/// Why a call failed.
///
/// Ask the predicates to decide, and show it to tell: `Display` is one line with
/// the call, the status, the service's own words, the fields at fault and the
/// request id.
///
/// ```no_run
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
    route: Option<Route>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    kind: Kind,
}

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
        matches!(self.0.kind, Kind::Stalled { .. })
            || self.0.kind.transport().is_some_and(reqwest::Error::is_timeout)
    }

    /// No connection to the service came about, so it has done nothing.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.0.kind.transport().is_some_and(reqwest::Error::is_connect)
    }

    /// The service answered with success, but the answer cannot be read.
    #[must_use]
    pub fn is_decode(&self) -> bool {
        matches!(self.0.kind, Kind::Unreadable { .. } | Kind::Withheld { .. })
    }

    /// The client was set up in a way that cannot work. Nothing was sent.
    #[must_use]
    pub fn is_config(&self) -> bool {
        matches!(self.0.kind, Kind::Config(_) | Kind::SetUp(_))
    }

    /// What the call was given cannot be sent: a file that cannot be read, an image
    /// that is too large or of another type than was said.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self.0.kind, Kind::Input(_) | Kind::Source { .. })
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

    /// Waiting for a generation took longer than it was allowed to. The job goes on;
    /// wait for its [`job_id`](Self::job_id) again, here or in another process.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        matches!(self.0.kind, Kind::Deadline { .. })
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
    pub fn is_one_shot(&self) -> bool {
        matches!(self.0.kind, Kind::OneShot(_))
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
        match &self.0.kind {
            Kind::Unsent { .. } | Kind::BrokenOff { .. } | Kind::Stalled { .. } => true,
            Kind::Refused { status, .. } => matches!(status.as_u16(), 408 | 429 | 502 | 503 | 504),
            _ => false,
        }
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

    /// The generation that failed or took too long.
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        match &self.0.kind {
            Kind::JobFailed { job, .. } | Kind::Deadline { job, .. } => Some(job),
            _ => None,
        }
    }

    /// What was last heard of that generation; `None` when nothing was.
    #[must_use]
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        match &self.0.kind {
            Kind::JobFailed { status, .. } => Some(status),
            Kind::Deadline { last, .. } => last.as_deref(),
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
    pub fn path_template(&self) -> Option<&'static str> {
        self.0.route.as_ref().map(|route| route.template)
    }

    /// Whether it was the storage that answered, which knows nothing of keys.
    fn is_of_the_storage(&self) -> bool {
        self.0.route.as_ref().is_some_and(|route| !route.template.starts_with('/'))
    }

    fn refused_with(&self, asked: StatusCode) -> bool {
        matches!(self.0.kind, Kind::Refused { status, .. } if status == asked)
    }

    fn problem(&self) -> Option<&Problem> {
        match &self.0.kind {
            Kind::Refused { refusal: Refusal::Stated(problem), .. } => Some(problem),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.0.route {
            write!(f, "{} {}: ", route.method, route.template)?;
        }
        self.0.kind.fmt(f)?;
        match &self.0.request_id {
            Some(id) => write!(f, " (request id {})", Excerpt::start(id.as_bytes())),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("route", &self.0.route)
            .field("request_id", &self.0.request_id)
            .field("kind", &self.0.kind)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}
