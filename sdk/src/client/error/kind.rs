//! The causes of an [`Error`], with their texts.

use std::time::Duration;
use std::{fmt, io};

use http::StatusCode;
use url::Url;

use super::{Error, ErrorKind};
use crate::client::retry::AttemptFailure;
use crate::client::transport::Failure;
use crate::model::{GenerationStatus, JobId, Problem};

#[derive(Debug, thiserror::Error)]
pub(in crate::client) enum Kind {
    #[error("{0}")]
    Config(String),

    #[error("cannot set up the {what}")]
    SetUp { what: &'static str, source: Box<dyn std::error::Error + Send + Sync> },

    #[error("{0}")]
    Input(String),

    #[error("{name} cannot be {action}")]
    File { name: String, action: &'static str, source: io::Error },

    #[error("the body of the request cannot be serialized")]
    Serialize(#[source] serde_json::Error),

    /// No response was received.
    #[error("{}", no_response(.origin, .source))]
    NoResponse { origin: String, source: Failure },

    /// The body of a success was not received in full.
    #[error(
        "{} before the whole response was received ({status})",
        if .source.is_timeout() { "the HTTP client timed out" } else { "connection closed" }
    )]
    Incomplete { status: StatusCode, source: Failure },

    #[error("{}", timed_out(.origin, *.limit, *.after, *.status))]
    TimedOut { origin: String, limit: TimeLimit, after: Duration, status: Option<StatusCode> },

    #[error("the server answered {status} before all bytes were sent")]
    AnsweredEarly { status: StatusCode },

    #[error("{status} {}", not_followed(.location.as_deref(), .reason))]
    Redirect { status: StatusCode, location: Option<String>, reason: &'static str },

    #[error(
        "{status} from {location}: the HTTP client followed a redirect; build it with \
         `redirect::Policy::none()`"
    )]
    Followed { status: StatusCode, location: String },

    /// An error response.
    #[error("{status}{body}{hint}")]
    Status { status: StatusCode, class: ErrorKind, body: ErrorBody, hint: &'static str },

    /// A success that cannot be decoded. Without a `source` and an excerpt if the body contains a
    /// credential.
    #[error("cannot decode response{}: {reason} ({status}){}", at(.path.as_deref()), near(.excerpt))]
    Decode {
        status: StatusCode,
        path: Option<String>,
        reason: String,
        excerpt: Option<Excerpt>,
        source: Option<serde_json::Error>,
    },

    #[error("response larger than {max} bytes ({setting}; {status})")]
    TooLarge { status: StatusCode, max: u64, setting: &'static str },

    #[error("pagination loop: the server returned cursor \"{cursor}\" twice")]
    PaginationLoop { cursor: Excerpt },

    #[error("the generation \"{}\" failed{}", short(.job), because(.status))]
    JobFailed { job: JobId, status: Box<GenerationStatus> },

    #[error("the output of the generation \"{}\" was not found: {place}", short(.job))]
    OutputNotFound { job: JobId, status: Box<GenerationStatus>, place: String },

    #[error(
        "the generation \"{}\" was not finished within {after:?}{}",
        short(.job),
        last_status(.last.as_deref())
    )]
    WaitTimeout {
        job: JobId,
        after: Duration,
        last: Option<Box<GenerationStatus>>,
        #[source]
        cause: Option<Error>,
    },

    #[error("the upload must be retried, but its reader can be read only once")]
    NotReplayable(#[source] Error),
}

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

/// The body of an error response.
#[derive(Debug)]
pub(in crate::client) enum ErrorBody {
    /// An error response of the API.
    Envelope(Problem),
    /// Anything else, for example the page of a proxy.
    Other(Excerpt),
    /// A body in this content encoding, which is not decoded.
    Encoded(Excerpt),
    /// A body that repeats a credential.
    Withheld,
}

impl Kind {
    pub(super) fn class(&self) -> ErrorKind {
        match self {
            Self::Config(_) | Self::SetUp { .. } => ErrorKind::Config,
            Self::Input(_) | Self::File { .. } | Self::Serialize(_) => ErrorKind::Input,
            Self::NoResponse { source, .. } if source.is_connecting() => ErrorKind::Connect,
            Self::NoResponse { source, .. } | Self::Incomplete { source, .. }
                if source.is_timeout() =>
            {
                ErrorKind::Timeout
            }
            Self::TimedOut { .. } => ErrorKind::Timeout,
            Self::NoResponse { .. } | Self::Incomplete { .. } | Self::AnsweredEarly { .. } => {
                ErrorKind::Transport
            }
            Self::Redirect { .. } | Self::Followed { .. } => ErrorKind::Redirect,
            Self::Status { class, .. } => *class,
            Self::Decode { .. } => ErrorKind::Decode,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::PaginationLoop { .. } => ErrorKind::PaginationLoop,
            Self::JobFailed { .. } => ErrorKind::JobFailed,
            Self::OutputNotFound { .. } => ErrorKind::OutputNotFound,
            Self::WaitTimeout { .. } => ErrorKind::WaitTimeout,
            Self::NotReplayable(_) => ErrorKind::NotReplayable,
        }
    }

    pub(super) fn is_connect_timeout(&self) -> bool {
        matches!(self, Self::NoResponse { source, .. } if source.is_connecting() && source.is_timeout())
    }

    pub(super) const fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Incomplete { status, .. }
            | Self::AnsweredEarly { status }
            | Self::Redirect { status, .. }
            | Self::Followed { status, .. }
            | Self::Status { status, .. }
            | Self::Decode { status, .. }
            | Self::TooLarge { status, .. } => Some(*status),
            Self::TimedOut { status, .. } => *status,
            _ => None,
        }
    }

    /// How the attempt failed; `None` if a retry does not help.
    pub(super) fn attempt_failure(&self) -> Option<AttemptFailure> {
        Some(match self {
            Self::NoResponse { source, .. } if source.is_connecting() => AttemptFailure::NotSent,
            Self::TimedOut { limit: TimeLimit::Call | TimeLimit::Whole, .. } => return None,
            Self::NoResponse { .. } | Self::TimedOut { status: None, .. } => {
                AttemptFailure::NoResponse
            }
            Self::Incomplete { .. } | Self::TimedOut { .. } => AttemptFailure::Incomplete,
            Self::Status { status, .. } => AttemptFailure::Status(*status),
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Envelope(problem) => problem,
            Self::Other(body) if body.is_empty() => return f.write_str(", with an empty body"),
            Self::Other(body) => return write!(f, ", with a body that is not the API's: {body}"),
            Self::Encoded(encoding) => return write!(f, ", with a body encoded as {encoding}"),
            Self::Withheld => {
                return f
                    .write_str(", with a body that is not shown because it repeats a credential");
            }
        };
        if !problem.message.trim().is_empty() {
            write!(f, ": {}", Excerpt::start(problem.message.as_bytes()))?;
        }
        for (index, (field, text)) in problem.field_errors().enumerate() {
            let mark = if index == 0 { " [" } else { "; " };
            let text = Excerpt::start(text.as_bytes());
            write!(f, "{mark}{}: {text}", Excerpt::start(field.as_bytes()))?;
        }
        f.write_str(if problem.field_errors().next().is_some() { "]" } else { "" })
    }
}

fn no_response(origin: &str, source: &Failure) -> String {
    match (source.is_connecting(), source.is_timeout()) {
        (true, true) => format!("connecting to {origin} timed out (connect_timeout)"),
        (true, false) => format!("cannot connect to {origin}"),
        (false, true) => format!("the HTTP client timed out while waiting for {origin}"),
        (false, false) => format!("connection to {origin} closed before a response was received"),
    }
}

fn not_followed(location: Option<&str>, reason: &str) -> String {
    match location {
        Some(location) => format!("redirects to {location}; not followed: {reason}"),
        None => "has no valid Location".to_owned(),
    }
}

fn timed_out(
    origin: &str,
    limit: TimeLimit,
    after: Duration,
    status: Option<StatusCode>,
) -> String {
    let what = match limit {
        TimeLimit::Idle => format!("no data for {after:?} (idle_timeout)"),
        TimeLimit::Attempt => format!("timed out after {after:?} (request_timeout)"),
        TimeLimit::Call => format!("timed out after {after:?} (overall_timeout)"),
        TimeLimit::Whole => format!("timed out after {after:?} (timeout)"),
    };
    match status {
        Some(status) => format!("{what} before the whole response was received ({status})"),
        None => format!("{what} while waiting for {origin}"),
    }
}

fn at(path: Option<&str>) -> String {
    path.map(|path| format!(" at `{path}`")).unwrap_or_default()
}

fn near(excerpt: &Option<Excerpt>) -> String {
    let excerpt = excerpt.as_ref().filter(|excerpt| !excerpt.is_empty());
    excerpt.map(|excerpt| format!(", near {excerpt}")).unwrap_or_default()
}

fn short(job: &JobId) -> Excerpt {
    Excerpt::start(job.as_str().as_bytes())
}

fn because(status: &GenerationStatus) -> String {
    let reason = status.error.as_deref().filter(|reason| !reason.trim().is_empty());
    reason.map(|reason| format!(": {}", Excerpt::start(reason.as_bytes()))).unwrap_or_default()
}

fn last_status(status: Option<&GenerationStatus>) -> String {
    match status {
        Some(last) => {
            format!("; it was {} when last asked", Excerpt::start(last.state.as_str().as_bytes()))
        }
        None => "; nothing was heard of it".to_owned(),
    }
}

/// A URL without the parts that may be secret.
pub(in crate::client) fn without_query(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        let end = url.find(['?', '#']).unwrap_or(url.len());
        return Excerpt::start(&url.as_bytes()[..end]).to_string();
    };
    parsed.set_query(None);
    parsed.set_fragment(None);
    // Fails for a URL that cannot have them.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    Excerpt::start(parsed.as_str().as_bytes()).to_string()
}

/// Bytes of an excerpt.
const EXCERPT_BYTES: usize = 200;

/// Bytes of an excerpt after the position of a decode error.
const BYTES_AFTER: usize = 40;

/// Part of a text from outside, on one line, with `…` where it was cut.
#[derive(Debug, Clone)]
pub(in crate::client) struct Excerpt(String);

impl Excerpt {
    /// The first bytes.
    pub(in crate::client) fn start(bytes: &[u8]) -> Self {
        Self::window(bytes, 0)
    }

    /// The bytes around the position of an error of `serde_json`. Lines and columns count from 1,
    /// columns in bytes.
    pub(in crate::client) fn at(bytes: &[u8], line: usize, column: usize) -> Self {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        let end = (before + column).saturating_add(BYTES_AFTER).min(bytes.len());
        Self::window(bytes, end.saturating_sub(EXCERPT_BYTES))
    }

    pub(in crate::client) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn window(bytes: &[u8], from: usize) -> Self {
        let to = bytes.len().min(from + EXCERPT_BYTES);
        let part = String::from_utf8_lossy(&bytes[from..to]);
        // A cut within a character leaves a replacement character.
        let part = if from > 0 { part.trim_start_matches('\u{fffd}') } else { &part };
        let part = if to < bytes.len() { part.trim_end_matches('\u{fffd}') } else { part };
        let words = part.split(|c: char| c.is_whitespace() || c.is_control());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let cut = |is_cut| if is_cut { "…" } else { "" };
        Self(format!("{}{}{}", cut(from > 0), words.join(" "), cut(to < bytes.len())))
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
