//! The one error of the client: opaque, with a question for each thing a caller
//! would branch on.
//!
//! `Display` is one line and its own level only; what is underneath is the
//! `source`. Neither holds the key, and no address is shown with its query.

mod excerpt;
mod facts;
mod kind;
mod make;
mod predicates;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::request::Route;
use crate::model::JobId;
pub(super) use excerpt::Excerpt;
use kind::Kind;
pub(super) use kind::Refusal;

/// Why a call failed.
///
/// Ask the predicates to decide, and show it to tell: `Display` is one line with
/// the call, the status, the service's own words, the fields at fault and the
/// request id.
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
    route: Option<Route>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    attempts: u32,
    /// The key that the call carried.
    job: Option<JobId>,
    /// Of an error response.
    body: Option<Bytes>,
    /// Whether the request may have been carried out although the call failed.
    outcome_unknown: bool,
    kind: Kind,
}

/// Which time limit ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeLimit {
    /// Nothing moved.
    Idle,
    /// For one sending.
    Attempt,
    /// For all of them, and the delays in between.
    Call,
}

/// What happened, in one word: for a metric or a log. [`Error`] has a question for
/// each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client cannot work as it was set up.
    Config,
    /// What the call was given cannot be sent.
    Input,
    /// No connection came about.
    Connect,
    /// A time limit ran out.
    Timeout,
    /// The connection broke.
    Transport,
    /// The answer points elsewhere.
    Redirect,
    /// The service said no.
    Refused,
    /// The answer cannot be read.
    Decode,
    /// The answer is larger than allowed.
    TooLarge,
    /// A list would never end.
    PaginationLoop,
    /// A generation ended without output.
    JobFailed,
    /// A generation completed, but its output was not found.
    OutputNotFound,
    /// A generation did not end in time.
    WaitTimeout,
    /// An upload would have to be read twice.
    NotReplayable,
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
