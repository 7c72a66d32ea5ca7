//! How a scenario ends when it does not pass.

use thiserror::Error;

use crate::exchange::RawExchange;
use crate::trace;

/// Why a scenario did not pass.
#[derive(Clone, Debug, Error)]
#[error("expected {expected}\n     got {got}")]
pub struct Failure {
    /// Who is at fault.
    pub verdict: Verdict,
    /// What the rule asks for.
    pub expected: String,
    /// What was seen.
    pub got: String,
    /// The request and reply in question, with secrets until a record is made of the failure.
    pub exchange: Option<RawExchange>,
}

/// What a step of a scenario gives, or why the scenario ends there.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// The result of a step that prepares what a scenario looks at: where the target fails it, the
/// scenario's own claim is not tested.
pub(crate) async fn set_up<T>(step: impl Future<Output = Result<T>>) -> Result<T> {
    trace::setting_up(step).await.map_err(|failure| match failure.verdict {
        Verdict::Failed => Failure { verdict: Verdict::Blocked, ..failure },
        _ => failure,
    })
}

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The target broke a rule.
    Failed,
    /// No verdict on the target: no connection, no answer, or a fault of ours.
    Error,
    /// The target failed a step that only prepares what the scenario looks at.
    Blocked,
    /// Nobody: there is nothing for the scenario to look at.
    Skipped,
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

    /// The scenario has nothing to look at here, and counts as skipped.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, ..Self::failed("something to look at", reason) }
    }

    /// Names the exchange that shows it.
    #[must_use]
    pub fn on(self, exchange: RawExchange) -> Self {
        Self { exchange: Some(exchange), ..self }
    }
}
