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
    hint: Option<String>,
}

/// The exit codes; 3 is for a server that cannot be reached.
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const ABSENT: u8 = 4;
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, is_general: false, text: text.into(), hint: None }
    }

    /// What to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(FAILED, format!("{}: {error}", path.as_ref().display()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let unreachable = error.is_connect() || error.is_timeout() || error.is_transport();
        // Lists are always there.
        let is_wrong_path = error.path_template().is_some_and(|path| !path.contains('{'));
        // What the API itself says is not the page of another server.
        let is_foreign = error.message().is_none();
        let is_wrong_url = error.is_not_found() && is_wrong_path
            || is_foreign && (error.is_other_status() || error.is_decode());
        let text = error.to_string();
        let is_server_error = error.status().is_some_and(|status| status.is_server_error());
        let is_general = unreachable || is_server_error || error.is_unauthorized();
        let (code, hint) = match error.job_id().filter(|_| error.is_outcome_unknown()) {
            Some(job) => (FAILED, format!("it may be paid: promptarium generate --resume {job}")),
            None if error.is_ambiguous() => {
                (FAILED, "look for it; if it is not there, promptarium new stores it".into())
            }
            None if unreachable => (3, "is the server running? see promptarium login".into()),
            // The client may have asked that already.
            None if is_wrong_url && text.contains("/api/v1") => (FAILED, String::new()),
            None if is_wrong_url => (FAILED, "does the address end in /api/v1?".into()),
            None if error.is_unauthorized() => {
                (FAILED, "the key is wrong or may not write: promptarium login URL".into())
            }
            None if error.is_not_found() => (ABSENT, String::new()),
            None => (if error.is_invalid() { USAGE } else { FAILED }, String::new()),
        };
        let hint = Some(hint).filter(|hint| !hint.is_empty());
        Self { code, is_general, text, hint }
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
        f.write_str(&self.text)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\n  {hint}"))
    }
}
