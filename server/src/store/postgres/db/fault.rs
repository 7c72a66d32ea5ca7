//! What a failure of PostgreSQL means for the step that met it.

use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Another step got in between, and this one was undone whole: begin again.
    Raced,
    /// The connection has a statement prepared that the server holds no longer, or
    /// no longer as it was. Nothing was done.
    Stale,
    /// The server takes no writes: another one took over from it. Nothing was done.
    Deposed,
    /// The connection broke, or the server went away: nobody knows whether the
    /// step happened.
    Lost,
    /// The server certainly did not carry it out, and may later.
    Refused,
    /// A shared connection gave nobody an answer: begin again on another.
    Still,
    /// A fault of ours.
    Broken,
}

/// A failure of a statement.
#[derive(Debug)]
pub(super) struct Fault {
    kind: Kind,
    /// Whether the statement may have reached the server.
    pub(super) sent: bool,
}

#[derive(Debug)]
enum Kind {
    Said(Error),
    Silent(Silence),
    Still(Silence),
}

/// No answer for too long.
#[derive(Debug, thiserror::Error)]
#[error("the database did not answer for {0:?}")]
pub(super) struct Silence(pub(super) Duration);

impl Fault {
    /// The statement did not get to the server.
    pub(super) fn unsent(error: Error) -> Self {
        Self { kind: Kind::Said(error), sent: false }
    }

    /// The statement may have got to the server.
    pub(super) fn sent(error: Error) -> Self {
        Self { kind: Kind::Said(error), sent: true }
    }

    /// Nobody waits any longer.
    pub(super) fn silence(limit: Duration) -> Self {
        Self { kind: Kind::Silent(Silence(limit)), sent: true }
    }

    /// Nobody on a shared connection had an answer for so long.
    pub(super) fn still(limit: Duration) -> Self {
        Self { kind: Kind::Still(Silence(limit)), sent: true }
    }

    /// What it means. Whoever waited out a silence does not do it twice, so that is
    /// a refusal, though nobody knows what became of the statement.
    pub(super) fn verdict(&self) -> Verdict {
        match &self.kind {
            Kind::Said(error) => verdict(error),
            Kind::Silent(_) => Verdict::Refused,
            Kind::Still(_) => Verdict::Still,
        }
    }

    /// Whether the connection has had its last statement, whatever that was.
    pub(super) fn ends_connection(&self) -> bool {
        match &self.kind {
            Kind::Silent(_) | Kind::Still(_) => true,
            Kind::Said(error) => match verdict(error) {
                Verdict::Lost | Verdict::Stale | Verdict::Deposed | Verdict::Still => true,
                // Not understood, so who knows what comes next on it.
                Verdict::Broken => error.code().is_none(),
                Verdict::Raced | Verdict::Refused => false,
            },
        }
    }

    /// What the caller of the step is told.
    pub(super) fn told(self) -> StoreError {
        match self.kind {
            Kind::Said(error) => told(error),
            Kind::Silent(silence) | Kind::Still(silence) => {
                StoreError::Unavailable(Box::new(silence))
            }
        }
    }
}

/// What an error of the driver means.
fn verdict(error: &Error) -> Verdict {
    let Some(state) = error.code() else {
        let broken = error.is_closed() || std::error::Error::source(error).is_some_and(is_io);
        return if broken { Verdict::Lost } else { Verdict::Broken };
    };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::FOREIGN_KEY_VIOLATION
        | SqlState::UNIQUE_VIOLATION => Verdict::Raced,
        // "cached plan must not change result type", which has no code of its own.
        SqlState::FEATURE_NOT_SUPPORTED
        | SqlState::INVALID_SQL_STATEMENT_NAME
        | SqlState::DUPLICATE_PSTATEMENT => Verdict::Stale,
        SqlState::READ_ONLY_SQL_TRANSACTION => Verdict::Deposed,
        SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => Verdict::Refused,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Verdict::Lost,
        _ => match state.code() {
            code if code.starts_with("53") => Verdict::Refused,
            code if code.starts_with("57P") || code.starts_with("08") => Verdict::Lost,
            _ => Verdict::Broken,
        },
    }
}

fn is_io(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<std::io::Error>()
}

/// What the caller of a step is told about an error of the driver.
pub(in crate::store::postgres) fn told(error: Error) -> StoreError {
    match verdict(&error) {
        Verdict::Broken | Verdict::Stale => StoreError::Broken(Box::new(error)),
        Verdict::Raced | Verdict::Lost | Verdict::Refused | Verdict::Deposed | Verdict::Still => {
            StoreError::Unavailable(Box::new(error))
        }
    }
}
