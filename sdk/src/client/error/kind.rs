//! What can go wrong, and the words for it.

use std::fmt;

use http::StatusCode;
use url::Url;

use super::Excerpt;
use crate::model::Problem;

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("{0}")]
    Config(String),

    #[error("the HTTP client cannot be set up")]
    SetUp(#[source] reqwest::Error),

    #[error("the body of the request cannot be written as JSON")]
    Unwritable(#[source] serde_json::Error),

    #[error("{}", unsent(.origin, .source))]
    Unsent { origin: String, source: reqwest::Error },

    #[error("{status}, but the answer {}", broke_off(.source))]
    BrokenOff { status: StatusCode, source: reqwest::Error },

    #[error(
        "{status}, which points to {}; redirects are not followed, because the key goes to the \
         base URL only",
        .location.as_deref().unwrap_or("no address")
    )]
    Redirected { status: StatusCode, location: Option<String> },

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
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Stated(problem) => problem,
            Self::Other(body) if body.is_empty() => return f.write_str(", with an empty body"),
            Self::Other(body) => return write!(f, ", with a body that is not the API's: {body}"),
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

fn place(path: Option<&str>, near: &Excerpt) -> String {
    let at = path.map(|path| format!(" at `{path}`")).unwrap_or_default();
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
