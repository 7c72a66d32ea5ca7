//! Statements, what a failed one means, and whether it is sent again.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::connect::DbClient;
use crate::limits::{POOL_WAIT, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN, STATEMENT_ATTEMPTS};
use crate::store::StoreError;

/// Values of a statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// One SQL statement: prepared once per connection, named in logs, and listed in the `ALL` of
/// its module for the test of all query plans.
#[derive(Debug)]
pub(super) struct Statement {
    /// Such as `prompts.create`; each statement has its own.
    pub(super) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(super) sql: &'static str,
    /// Whether it may be sent again if it may have been executed.
    pub(super) idempotent: bool,
    /// Whether it goes over a connection that others use at the same time.
    pub(super) shared: bool,
}

impl Statement {
    /// A short read, which changes nothing and takes no row locks.
    pub(super) const fn read_only(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, idempotent: true, shared: true }
    }

    pub(super) const fn idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, idempotent: true, shared: false }
    }

    pub(super) const fn non_idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, idempotent: false, shared: false }
    }

    /// A short write that waits for no lock that another statement may hold for long.
    pub(super) const fn pipelined(self) -> Self {
        Self { shared: true, ..self }
    }
}

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorClass {
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

/// The class of an error, and whether the database is unavailable for the moment.
fn classify(error: &Error) -> (ErrorClass, bool) {
    let Some(state) = error.code() else {
        let io = |cause: &(dyn std::error::Error + 'static)| cause.is::<std::io::Error>();
        let lost = error.is_closed() || std::error::Error::source(error).is_some_and(io);
        return if lost { (ErrorClass::ConnectionLost, true) } else { (ErrorClass::Other, false) };
    };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::FOREIGN_KEY_VIOLATION
        | SqlState::UNIQUE_VIOLATION => (ErrorClass::Conflict, true),
        // The first is "cached plan must not change result type", which has no own code.
        SqlState::FEATURE_NOT_SUPPORTED
        | SqlState::INVALID_SQL_STATEMENT_NAME
        | SqlState::DUPLICATE_PSTATEMENT => (ErrorClass::StalePlan, false),
        SqlState::READ_ONLY_SQL_TRANSACTION | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            (ErrorClass::ConnectionLost, true)
        }
        // `statement_timeout` cancels with the first code.
        SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => (ErrorClass::Other, true),
        _ if state.code().starts_with("57P") || state.code().starts_with("08") => {
            (ErrorClass::ConnectionLost, true)
        }
        // Class 53: the server is out of memory, disk space or connections.
        _ => (ErrorClass::Other, state.code().starts_with("53")),
    }
}

/// What the store's caller gets for an error of the driver.
pub(super) fn store_error(error: Error) -> StoreError {
    let (_, unavailable) = classify(&error);
    let cause = Box::new(error);
    if unavailable { StoreError::Unavailable(cause) } else { StoreError::Internal(cause) }
}

/// Waits for an answer, but not for too long.
pub(super) async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = T>,
) -> Result<T, StoreError> {
    let silent = || format!("the database did not answer for {limit:?}").into();
    timeout(limit, answer).await.map_err(|_| StoreError::Unavailable(silent()))
}

/// The attempts at one statement.
pub(super) struct Retry<'a> {
    statement: &'a Statement,
    attempt: u32,
    /// What is left of the time to wait for connections.
    wait_left: Duration,
}

impl<'a> Retry<'a> {
    pub(super) fn new(statement: &'a Statement) -> Self {
        Self { statement, attempt: 1, wait_left: POOL_WAIT }
    }

    /// A connection from `get`, which is called again while it fails and time is left: the
    /// database may be restarting, or other servers may have all its connections for a moment.
    pub(super) async fn connection<T, E, F>(&mut self, get: impl Fn() -> F) -> Result<T, StoreError>
    where
        E: std::error::Error + Send + Sync + 'static,
        F: Future<Output = Result<T, E>>,
    {
        let (began, mut round, mut last) = (Instant::now(), 0, None);
        let getting = async {
            loop {
                match get().await {
                    Ok(connection) => return connection,
                    Err(error) => last = Some(StoreError::Unavailable(Box::new(error))),
                }
                round += 1;
                pause(round).await;
            }
        };
        let outcome = within(self.wait_left, getting).await;
        self.wait_left = self.wait_left.saturating_sub(began.elapsed());
        outcome.map_err(|silent| last.unwrap_or(silent))
    }

    /// Leaves the connection in a state in which it can be used again, or unusable. Returns after
    /// a pause if the statement is to be sent again, and else the error. `sent` says whether it
    /// may have reached the server.
    pub(super) async fn after(
        &mut self,
        client: &DbClient,
        error: Error,
        sent: bool,
    ) -> Result<(), StoreError> {
        let (Statement { name, idempotent, .. }, attempt) = (self.statement, self.attempt);
        let (class, _) = classify(&error);
        let retryable = match class {
            ErrorClass::Conflict => true,
            ErrorClass::StalePlan => {
                client.statements.write().clear();
                true
            }
            ErrorClass::ConnectionLost => {
                client.end_epoch();
                let refused = error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION);
                *idempotent || refused || !sent
            }
            ErrorClass::Other => false,
        };
        if error.code().is_none() {
            // The driver failed and not the server: nothing more can be sent.
            client.close();
        }
        if !retryable || attempt == STATEMENT_ATTEMPTS {
            return Err(store_error(error));
        }
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
