//! What can go wrong, and the words for it.

use std::time::Duration;
use std::{fmt, io};

use http::StatusCode;
use url::Url;

use super::{Error, Excerpt};
use crate::model::{GenerationStatus, JobId, Problem};

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("{0}")]
    Config(String),

    #[error("{0}")]
    Input(String),

    #[error("{name} cannot be read")]
    Source { name: String, source: io::Error },

    #[error("the HTTP client cannot be set up")]
    SetUp(#[source] reqwest::Error),

    #[error("the body of the request cannot be written as JSON")]
    Unwritable(#[source] serde_json::Error),

    #[error("{}", unsent(.origin, .source))]
    Unsent { origin: String, source: reqwest::Error },

    #[error("{status}, but the answer {}", broke_off(.source))]
    BrokenOff { status: StatusCode, source: reqwest::Error },

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
         authorises an upload",
        at(.path.as_deref())
    )]
    Withheld { status: StatusCode, path: Option<String> },

    #[error("{origin} neither took nor sent anything for too long")]
    Stalled { origin: String },

    #[error("{status}, before all bytes were sent")]
    AnsweredEarly { status: StatusCode },

    #[error(
        "the upload has to be sent again, but the image came from a reader, which can be read \
         only once"
    )]
    OneShot(#[source] Error),

    #[error("{status}, but the answer is larger than the {max} bytes allowed")]
    TooLarge { status: StatusCode, max: u64 },

    #[error("the generation \"{}\" failed{}", short(.job), because(.status))]
    JobFailed { job: JobId, status: Box<GenerationStatus> },

    #[error(
        "the generation \"{}\" was not finished within {after:?}{}",
        short(.job),
        last_heard(.last.as_deref())
    )]
    Deadline {
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
            _ => None,
        }
    }

    pub(super) const fn transport(&self) -> Option<&reqwest::Error> {
        match self {
            Self::Unsent { source, .. } | Self::BrokenOff { source, .. } => Some(source),
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
                    ", with a body that is not shown, because it repeats what authorises the upload",
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

fn unsent(origin: &str, source: &reqwest::Error) -> String {
    match (source.is_connect(), source.is_timeout()) {
        (true, true) => format!("connecting to {origin} took too long"),
        (true, false) => format!("cannot connect to {origin}"),
        (false, true) => format!("{origin} did not answer in time"),
        (false, false) => format!("the exchange with {origin} failed before an answer came"),
    }
}

fn broke_off(source: &reqwest::Error) -> &'static str {
    if source.is_timeout() { "did not come in time" } else { "broke off" }
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
            format!("; it was {} when last asked", Excerpt::start(last.status.as_str().as_bytes()))
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
