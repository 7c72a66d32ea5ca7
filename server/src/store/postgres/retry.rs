//! What a failed statement means, and whether it is sent again.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::client::{Effect, Statement};
use crate::limits::{POOL_WAIT, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN, STATEMENT_ATTEMPTS};
use crate::store::StoreError;

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorClass {
    /// Another statement got in between, and this one was rolled back: send it again.
    Conflict,
    /// The server holds a prepared statement no longer, or no longer as it was. Nothing was
    /// executed: prepare and send it again.
    StalePlan,
    /// The connection broke, or its server shut down or takes no writes any more.
    ConnectionLost,
    /// Anything else. It is not sent again.
    Other,
}

/// A statement that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) class: ErrorClass,
    /// Whether the server may have executed the statement.
    maybe_executed: bool,
    /// Whether nothing more can be sent on the connection: it broke, or the driver did not
    /// understand what came.
    pub(super) closes: bool,
    error: StoreError,
}

impl Failure {
    /// The statement did not reach the server.
    pub(super) fn unsent(error: Error) -> Self {
        Self { maybe_executed: false, ..Self::sent(error) }
    }

    pub(super) fn sent(error: Error) -> Self {
        let class = class(&error);
        let read_only = error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION);
        let closes = class == ErrorClass::ConnectionLost || error.code().is_none();
        Self { class, maybe_executed: !read_only, closes, error: store_error(error) }
    }

    /// It is not sent again: a caller waits for one timeout, not for several.
    pub(super) fn timeout(limit: Duration) -> Self {
        let (class, error) = (ErrorClass::Other, timed_out(limit));
        Self { class, maybe_executed: true, closes: true, error }
    }
}

fn class(error: &Error) -> ErrorClass {
    let Some(state) = error.code() else {
        let io = |cause: &(dyn std::error::Error + 'static)| cause.is::<std::io::Error>();
        let lost = error.is_closed() || std::error::Error::source(error).is_some_and(io);
        return if lost { ErrorClass::ConnectionLost } else { ErrorClass::Other };
    };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::FOREIGN_KEY_VIOLATION
        | SqlState::UNIQUE_VIOLATION => ErrorClass::Conflict,
        // The first is "cached plan must not change result type", which has no own code.
        SqlState::FEATURE_NOT_SUPPORTED
        | SqlState::INVALID_SQL_STATEMENT_NAME
        | SqlState::DUPLICATE_PSTATEMENT => ErrorClass::StalePlan,
        SqlState::READ_ONLY_SQL_TRANSACTION | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            ErrorClass::ConnectionLost
        }
        _ if state.code().starts_with("57P") || state.code().starts_with("08") => {
            ErrorClass::ConnectionLost
        }
        _ => ErrorClass::Other,
    }
}

/// What the store's caller gets for an error of the driver.
pub(super) fn store_error(error: Error) -> StoreError {
    let passing = match class(&error) {
        ErrorClass::Conflict | ErrorClass::ConnectionLost => true,
        ErrorClass::StalePlan => false,
        // No resources, cancelled by `statement_timeout`, or a lock that is not available.
        ErrorClass::Other => error.code().is_some_and(|state| {
            let canceled = [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE];
            state.code().starts_with("53") || canceled.contains(state)
        }),
    };
    let cause = Box::new(error);
    if passing { StoreError::Unavailable(cause) } else { StoreError::Broken(cause) }
}

/// No answer for too long.
pub(super) fn timed_out(limit: Duration) -> StoreError {
    StoreError::Unavailable(format!("the database did not answer for {limit:?}").into())
}

/// The attempts at one statement.
pub(super) struct Retry<'a> {
    statement: &'a Statement,
    attempt: u32,
    /// When this attempt began.
    pub(super) began: Instant,
    /// What is left of the time to wait for connections.
    wait_left: Duration,
}

impl<'a> Retry<'a> {
    pub(super) fn new(statement: &'a Statement) -> Self {
        Self { statement, attempt: 1, began: Instant::now(), wait_left: POOL_WAIT }
    }

    /// A connection from `get`, which is called again while it fails and time is left: the
    /// database may be restarting, or other servers may have all its connections for a moment.
    pub(super) async fn connection<T, E, F>(&mut self, get: impl Fn() -> F) -> Result<T, StoreError>
    where
        E: std::error::Error + Send + Sync + 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.began = Instant::now();
        let mut last = None;
        let getting = async {
            for round in 1.. {
                match get().await {
                    Ok(connection) => return Some(connection),
                    Err(error) => last = Some(StoreError::Unavailable(Box::new(error))),
                }
                pause(round).await;
            }
            None
        };
        let outcome = timeout(self.wait_left, getting).await;
        self.wait_left = self.wait_left.saturating_sub(self.began.elapsed());
        outcome.ok().flatten().ok_or_else(|| last.unwrap_or_else(|| timed_out(POOL_WAIT)))
    }

    /// Returns after a pause if the statement is to be sent again, and else the error.
    pub(super) async fn after(&mut self, failure: Failure) -> Result<(), StoreError> {
        let Statement { name, effect, .. } = *self.statement;
        let retryable = match failure.class {
            ErrorClass::Conflict | ErrorClass::StalePlan => true,
            ErrorClass::ConnectionLost => {
                !failure.maybe_executed || effect != Effect::NonIdempotent
            }
            ErrorClass::Other => false,
        };
        if !retryable || self.attempt == STATEMENT_ATTEMPTS {
            return Err(failure.error);
        }
        let (attempt, class) = (self.attempt, failure.class);
        tracing::debug!(statement = name, attempt, ?class, "a statement is sent again");
        pause(attempt).await;
        self.attempt += 1;
        Ok(())
    }
}

/// Exponential, with jitter.
async fn pause(attempt: u32) {
    let limit = RETRY_PAUSE_MIN.saturating_mul(1 << attempt.min(10)).min(RETRY_PAUSE_MAX);
    tokio::time::sleep(limit.mul_f64(rand::random_range(0.5..1.0))).await;
}
