//! What went wrong: for people, with what to do next, and as an exit code.

use std::fmt;
use std::io;

use promptarium::Error;

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    text: String,
    hint: Option<String>,
}

impl Failure {
    const fn new(code: u8, text: String) -> Self {
        Self { code, text, hint: None }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::new(1, text.into())
    }

    /// The command line or a value in it is wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(2, text.into())
    }

    pub(crate) fn absent(text: impl Into<String>) -> Self {
        Self::new(4, text.into())
    }

    pub(crate) fn interrupted(text: impl Into<String>) -> Self {
        Self::new(130, text.into())
    }

    /// What to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl AsRef<std::path::Path>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::failed(format!("{}: {error}", path.as_ref().display()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let unreachable = error.is_connect() || error.is_timeout() || error.is_transport();
        let code = if unreachable { 3 } else { 1 + 3 * u8::from(error.is_not_found()) };
        let hint = if let Some(job) = error.job_id().filter(|_| error.is_outcome_unknown()) {
            Some(format!(
                "ask for the job before you pay again: promptarium generate --resume {job}"
            ))
        } else if error.is_unauthorized() {
            Some(
                "the key is not valid, or may not write; log in again: promptarium login URL"
                    .into(),
            )
        } else if unreachable {
            Some(
                "is the server running, and its address right? promptarium login URL sets it"
                    .into(),
            )
        } else if error.is_other_status() || error.is_decode() {
            Some("is the address that of the API? It usually ends in /api/v1".into())
        } else if error.is_rate_limited() {
            Some("wait a moment and try again".into())
        } else {
            None
        };
        Self { code, text: error.to_string(), hint }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever reads the output has seen enough.
        let code = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        Self::new(code, error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\n  {hint}"))
    }
}
