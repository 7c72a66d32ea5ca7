//! What went wrong: for people, with what to do next, and as an exit code.

use std::path::Path;
use std::{fmt, io};

use promptarium::Error;

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    /// Whether other requests would fail for the same reason.
    pub(crate) is_general: bool,
    text: String,
    /// What to do next; may be empty.
    hint: String,
}

/// The exit codes; 3 is for a server that cannot be reached.
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const ABSENT: u8 = 4;
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, is_general: false, text: text.into(), hint: String::new() }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(FAILED, format!("{}: {error}", path.as_ref().display()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let is_unreachable = error.is_connect() || error.is_timeout() || error.is_transport();
        // A list is always there, and what the API itself says is not the page of another server.
        let is_wrong_url = error.is_not_found()
            && error.path_template().is_some_and(|path| !path.contains('{'))
            || error.message().is_none() && (error.is_other_status() || error.is_decode());
        let text = error.to_string();
        let is_server_error = error.status().is_some_and(|status| status.is_server_error());
        let paid = error.job_id().filter(|_| error.is_outcome_unknown());
        let paid = paid.map(|job| format!("it may be paid: promptarium generate --resume {job}"));
        let (code, hint) = match &paid {
            Some(paid) => (FAILED, &**paid),
            _ if error.is_ambiguous() => {
                (FAILED, "look for it; if it is not there, promptarium new stores it")
            }
            _ if is_unreachable => (3, "is the server running? see promptarium login"),
            // The client may have asked that already.
            _ if is_wrong_url && text.contains("/api/v1") => (FAILED, ""),
            _ if is_wrong_url => (FAILED, "does the address end in /api/v1?"),
            _ if error.is_unauthorized() => {
                (FAILED, "the key is wrong or may not write: promptarium login URL")
            }
            _ if error.is_not_found() => (ABSENT, ""),
            _ => (if error.is_invalid() { USAGE } else { FAILED }, ""),
        };
        let is_general = is_unreachable || is_server_error || error.is_unauthorized();
        Self { code, is_general, hint: hint.to_owned(), text }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever reads the output has seen enough.
        Self::new(u8::from(error.kind() != io::ErrorKind::BrokenPipe), error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.hint.is_empty() { "" } else { "\n  " };
        write!(f, "{}{gap}{}", self.text, self.hint)
    }
}
