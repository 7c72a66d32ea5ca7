//! What a script and a test did not agree on.

use std::fmt;

/// A script was not played as written; made by [`Script::verify`](super::Script::verify).
///
/// Its text has a line for each answer that nobody asked for, and for each request that
/// nobody expected. `Debug` is the same text, so that `unwrap` shows it.
pub struct VerifyError(Vec<String>);

impl VerifyError {
    pub(super) fn of(missing: Vec<String>, unexpected: Vec<String>) -> Result<(), Self> {
        let lines: Vec<_> = missing.into_iter().chain(unexpected).collect();
        if lines.is_empty() { Ok(()) } else { Err(Self(lines)) }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl fmt::Debug for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for VerifyError {}
