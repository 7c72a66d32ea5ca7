//! What can go wrong, and the words for it.

use std::time::Duration;
use std::{fmt, io};

use http::StatusCode;
use url::Url;

use super::{Error, ErrorKind, Excerpt, TimeLimit};
use crate::client::retry::AttemptFailure;
use crate::client::transport::Failure;
use crate::model::{GenerationStatus, JobId, Problem};

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("{0}")]
    Config(String),

    #[error("{0}")]
    Input(String),

    #[error("{name} cannot be read")]
    Source { name: String, source: io::Error },

    #[error("{path} cannot be written")]
    File { path: String, source: io::Error },

    #[error("the {what} cannot be set up")]
    SetUp { what: &'static str, source: Box<dyn std::error::Error + Send + Sync> },

    #[error("the body of the request cannot be written as JSON")]
    Unwritable(#[source] serde_json::Error),

    #[error("{}", failed(.origin, .source))]
    Failed { origin: String, source: Failure },

    #[error("{status}, but the answer {}", broke_off(.source))]
    BrokenOff { status: StatusCode, source: Failure },

    #[error(
        "{status}, which points to {}; {why}",
        .location.as_deref().unwrap_or("no address")
    )]
    Redirected { status: StatusCode, location: Option<String>, why: &'static str },

    #[error(
        "{status}, but from {location}: the HTTP client the program brought followed a redirect; \
         it has to be built without"
    )]
    Followed { status: StatusCode, location: String },

    #[error("{status}{refusal}")]
    Refused { status: StatusCode, refusal: Refusal },

    #[error("{status}, but the answer cannot be read{}", place(.path.as_deref(), .near))]
    Unreadable {
        status: StatusCode,
        path: Option<String>,
        source: serde_json::Error,
        near: Excerpt,
    },

    #[error(
        "{status}, but the answer cannot be read{}; it is not shown, because it holds what \
         authorises a request",
        at(.path.as_deref())
    )]
    Withheld { status: StatusCode, path: Option<String> },

    #[error("{}", timed_out(.origin, *.limit, *.after, *.status))]
    TimedOut { origin: String, limit: TimeLimit, after: Duration, status: Option<StatusCode> },

    #[error("{status}, before all bytes were sent")]
    AnsweredEarly { status: StatusCode },

    #[error(
        "the upload has to be sent again, but the image came from a reader, which can be read \
         only once"
    )]
    NotReplayable(#[source] Error),

    #[error("{status}, but the answer is larger than the {max} bytes allowed")]
    TooLarge { status: StatusCode, max: u64 },

    #[error("the generation \"{}\" failed{}", short(.job), because(.status))]
    JobFailed { job: JobId, status: Box<GenerationStatus> },

    #[error("the output of the generation \"{}\" was not found: {place}", short(.job))]
    OutputNotFound { job: JobId, status: Box<GenerationStatus>, place: String },

    #[error(
        "the generation \"{}\" was not finished within {after:?}{}",
        short(.job),
        last_heard(.last.as_deref())
    )]
    WaitTimeout {
        job: JobId,
        after: Duration,
        last: Option<Box<GenerationStatus>>,
        #[source]
        cause: Option<Error>,
    },

    #[error("the list would never end: the service named the cursor \"{cursor}\" a second time")]
    PaginationLoop { cursor: Excerpt },
}

impl Kind {
    pub(super) const fn status(&self) -> Option<StatusCode> {
        match self {
            Self::BrokenOff { status, .. }
            | Self::Redirected { status, .. }
            | Self::Followed { status, .. }
            | Self::Refused { status, .. }
            | Self::Withheld { status, .. }
            | Self::AnsweredEarly { status }
            | Self::TooLarge { status, .. }
            | Self::Unreadable { status, .. } => Some(*status),
            Self::TimedOut { status, .. } => *status,
            _ => None,
        }
    }

    /// What it means for sending the call again; `None` if that cannot help.
    pub(super) fn attempt_failure(&self) -> Option<AttemptFailure> {
        Some(match self {
            Self::Failed { source, .. } if source.is_connecting() => AttemptFailure::NotSent,
            Self::Failed { .. } => AttemptFailure::NoResponse,
            Self::TimedOut { limit: TimeLimit::Call, .. } => return None,
            Self::TimedOut { status: None, .. } => AttemptFailure::NoResponse,
            Self::TimedOut { status: Some(_), .. } | Self::BrokenOff { .. } => {
                AttemptFailure::Incomplete
            }
            Self::Refused { status, .. } => AttemptFailure::Status(*status),
            _ => return None,
        })
    }

    pub(super) fn name(&self) -> ErrorKind {
        match self {
            Self::Config(_) | Self::SetUp { .. } => ErrorKind::Config,
            Self::Input(_) | Self::Source { .. } | Self::File { .. } | Self::Unwritable(_) => {
                ErrorKind::Input
            }
            Self::Failed { source, .. } if source.is_timeout() => ErrorKind::Timeout,
            Self::Failed { source, .. } if source.is_connecting() => ErrorKind::Connect,
            Self::BrokenOff { source, .. } if source.is_timeout() => ErrorKind::Timeout,
            Self::TimedOut { .. } => ErrorKind::Timeout,
            Self::Failed { .. } | Self::BrokenOff { .. } | Self::AnsweredEarly { .. } => {
                ErrorKind::Transport
            }
            Self::Redirected { .. } | Self::Followed { .. } => ErrorKind::Redirect,
            Self::Refused { .. } => ErrorKind::Refused,
            Self::Unreadable { .. } | Self::Withheld { .. } => ErrorKind::Decode,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::PaginationLoop { .. } => ErrorKind::PaginationLoop,
            Self::JobFailed { .. } => ErrorKind::JobFailed,
            Self::OutputNotFound { .. } => ErrorKind::OutputNotFound,
            Self::WaitTimeout { .. } => ErrorKind::WaitTimeout,
            Self::NotReplayable(_) => ErrorKind::NotReplayable,
        }
    }

    pub(super) const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { source, .. } | Self::BrokenOff { source, .. } => Some(source),
            _ => None,
        }
    }

    /// What is underneath.
    pub(super) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self)
    }
}

/// The body of an answer whose status is no success.
#[derive(Debug)]
pub(in crate::client) enum Refusal {
    /// The API's own form.
    Stated(Problem),
    /// Anything else: a proxy's page, nothing, half of something.
    Other(Excerpt),
    /// It repeats a secret.
    Withheld,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Stated(problem) => problem,
            Self::Other(body) if body.is_empty() => return f.write_str(", with an empty body"),
            Self::Other(body) => return write!(f, ", with a body that is not the API's: {body}"),
            Self::Withheld => {
                return f.write_str(
                    ", with a body that is not shown, because it repeats what authorised the request",
                );
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

fn failed(origin: &str, source: &Failure) -> String {
    match (source.is_connecting(), source.is_timeout()) {
        (true, true) => format!("connecting to {origin} took too long"),
        (true, false) => format!("cannot connect to {origin}"),
        (false, true) => format!("{origin} did not answer in time"),
        (false, false) => format!("the exchange with {origin} failed before an answer came"),
    }
}

fn broke_off(source: &Failure) -> &'static str {
    if source.is_timeout() { "did not come in time" } else { "broke off" }
}

fn timed_out(
    origin: &str,
    limit: TimeLimit,
    after: Duration,
    status: Option<StatusCode>,
) -> String {
    match (limit, status) {
        (TimeLimit::Idle, None) => format!("{origin} neither took nor sent anything for {after:?}"),
        (TimeLimit::Idle, Some(status)) => {
            format!("{status}, but for {after:?} nothing more of the answer came")
        }
        (TimeLimit::Attempt, None) => format!("{origin} did not answer within {after:?}"),
        (TimeLimit::Attempt, Some(status)) => {
            format!("{status}, but the answer did not come as a whole within {after:?}")
        }
        (TimeLimit::Call, _) => format!("the call was not done within {after:?}"),
    }
}

fn at(path: Option<&str>) -> String {
    path.map(|path| format!(" at `{path}`")).unwrap_or_default()
}

fn short(job: &JobId) -> Excerpt {
    Excerpt::start(job.as_str().as_bytes())
}

fn because(status: &GenerationStatus) -> String {
    let reason = status.error.as_deref().filter(|reason| !reason.trim().is_empty());
    reason.map(|reason| format!(": {}", Excerpt::start(reason.as_bytes()))).unwrap_or_default()
}

fn last_heard(status: Option<&GenerationStatus>) -> String {
    match status {
        Some(last) => {
            format!("; it was {} when last asked", Excerpt::start(last.state.as_str().as_bytes()))
        }
        None => "; nothing was heard of it".to_owned(),
    }
}

fn place(path: Option<&str>, near: &Excerpt) -> String {
    let at = at(path);
    if near.is_empty() { format!("{at}: it is empty") } else { format!("{at}, near: {near}") }
}

/// An address without what may be secret in it.
pub(super) fn without_query(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        let end = address.find(['?', '#']).unwrap_or(address.len());
        return Excerpt::start(&address.as_bytes()[..end]).to_string();
    };
    url.set_query(None);
    url.set_fragment(None);
    // An address that can hold neither has none to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Excerpt::start(url.as_str().as_bytes()).to_string()
}
