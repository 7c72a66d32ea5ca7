//! How a scenario ends when it does not pass.

use std::fmt;
use std::sync::Arc;

use crate::wire::Exchange;

/// Why a scenario did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Whether the target is at fault or the run itself.
    pub verdict: Verdict,
    /// What the rule asks for.
    pub expected: String,
    /// What was seen.
    pub got: String,
    /// The request and reply in question, secrets blanked.
    pub exchange: Option<Arc<Exchange>>,
}

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The target broke a rule.
    Failed,
    /// No verdict on the target: no connection, no answer, or a fault of ours.
    Error,
}

impl Failure {
    /// The target did not do what a rule asks for.
    pub fn failed(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Failed,
            expected: expected.into(),
            got: got.into(),
            exchange: None,
        }
    }

    /// The scenario could not be carried out.
    pub fn error(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { verdict: Verdict::Error, ..Self::failed(expected, got) }
    }

    /// Names the exchange that shows it.
    #[must_use]
    pub fn on(mut self, exchange: &Arc<Exchange>) -> Self {
        self.exchange = Some(Arc::clone(exchange));
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}\n     got {}", self.expected, self.got)?;
        if let Some(exchange) = &self.exchange {
            write!(f, "\n\n{exchange}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// An SDK call that should have worked.
impl From<promptarium::Error> for Failure {
    fn from(error: promptarium::Error) -> Self {
        Self::failed("the SDK call to succeed", error.to_string())
    }
}
