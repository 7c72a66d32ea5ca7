//! What went wrong: for people, with what to do next, and as an exit code.

use std::{fmt, io, path::Path};

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
    fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), hint: None }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::new(1, text)
    }

    /// The command line or a value in it is wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(2, text)
    }

    pub(crate) fn absent(text: impl Into<String>) -> Self {
        Self::new(4, text)
    }

    pub(crate) fn interrupted(text: impl Into<String>) -> Self {
        Self::new(130, text)
    }

    /// What to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::failed(format!("{}: {error}", path.as_ref().display()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let unreachable = error.is_connect() || error.is_timeout() || error.is_transport();
        let code = if unreachable { 3 } else { 1 + 3 * u8::from(error.is_not_found()) };
        let failure = Self::new(code, error.to_string());
        if let Some(job) = error.job_id().filter(|_| error.is_outcome_unknown()) {
            return failure
                .hint(format!("it may be paid; ask: promptarium generate --resume {job}"));
        }
        match () {
            () if error.is_unauthorized() => failure
                .hint("the key is wrong or may not write; promptarium login URL takes another"),
            () if unreachable => {
                failure.hint("is the server running? promptarium login URL sets its address")
            }
            () if error.is_other_status() || error.is_decode() => {
                failure.hint("does the address end in /api/v1?")
            }
            () => failure,
        }
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
