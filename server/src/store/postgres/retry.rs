//! Whether a statement that failed is sent again.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::Error;

use super::connect::DbClient;
use super::errors::{ErrorClass, classify, store_error};
use super::statement::Statement;
use crate::limits::{
    POOL_WAIT, REQUEST_DATABASE_TIMEOUT, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN, STATEMENT_ATTEMPTS,
};
use crate::store::{Cause, Result, StoreError, time_budget};

/// The failure of a statement that may have been executed.
pub(super) fn no_outcome(writes: bool, cause: Cause) -> StoreError {
    if writes { StoreError::OutcomeUnknown(cause) } else { StoreError::Unavailable(cause) }
}

/// Whether the server refused a statement, and so changed nothing, for what the statement says.
pub(super) fn was_refused(error: &StoreError) -> bool {
    let StoreError::Internal(cause) = error else { return false };
    cause.downcast_ref::<Error>().is_some_and(|error| error.code().is_some())
}

pub(super) fn silent(limit: Duration) -> Cause {
    format!("the database did not answer for {limit:?}").into()
}

pub(super) struct Retry<'a> {
    statement: &'a Statement,
    attempt: u32,
    /// Whether an attempt that writes may have been carried out, since its connection was lost.
    maybe_done: bool,
    /// What is left of the time to wait for connections.
    wait_left: Duration,
    began: Instant,
    /// For everything together.
    limit: Duration,
}

impl<'a> Retry<'a> {
    /// For a statement that may take `long`, or else what its request has left.
    pub(super) fn new(statement: &'a Statement, long: Option<Duration>) -> Self {
        let limit = long.map_or_else(time_budget::left, |long| long + REQUEST_DATABASE_TIMEOUT);
        let (wait_left, began) = (POOL_WAIT, Instant::now());
        Self { statement, attempt: 1, maybe_done: false, wait_left, began, limit }
    }

    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// A connection from `get`, which is called again while it fails, as while the database
    /// restarts.
    pub(super) async fn connection<T, E, F>(&mut self, get: impl Fn() -> F) -> Result<T>
    where
        E: Into<Cause>,
        F: Future<Output = Result<T, E>>,
    {
        let (began, mut round, mut last) = (Instant::now(), 0, None);
        let getting = async {
            loop {
                match get().await {
                    Ok(connection) => return connection,
                    Err(error) => last = Some(error.into()),
                }
                round += 1;
                pause(round).await;
            }
        };
        let limit = self.wait_left.min(self.left());
        let outcome = timeout(limit, getting).await;
        self.wait_left = self.wait_left.saturating_sub(began.elapsed());
        outcome.map_err(|_| no_outcome(self.maybe_done, last.unwrap_or_else(|| silent(limit))))
    }

    /// Waits for the answer, at most `limit`.
    ///
    /// Without an answer, also if the caller is dropped, the connection is abandoned: its next user
    /// would wait. On a shared one the statement runs on: to cancel it could hit that of another
    /// caller.
    pub(super) async fn answer<T>(
        &self,
        client: &DbClient,
        limit: Duration,
        answer: impl Future<Output = T>,
    ) -> Result<T> {
        let mut busy = Busy { client, running: !self.statement.shared };
        let limit = limit.min(self.left());
        let outcome = timeout(limit, answer).await;
        busy.running = outcome.is_err();
        outcome.map_err(|_| no_outcome(self.statement.writes, silent(limit)))
    }

    /// Leaves the connection usable or closed. Returns after a pause if the statement is to be sent
    /// again, and else the error. `sent` says whether it may have reached the server.
    pub(super) async fn after(
        &mut self,
        client: &DbClient,
        error: Error,
        sent: bool,
    ) -> Result<()> {
        let (Statement { name, idempotent, writes, .. }, attempt) = (self.statement, self.attempt);
        let class = classify(&error);
        let is_lost = matches!(class, ErrorClass::ConnectionLost | ErrorClass::NodeLost);
        self.maybe_done |= is_lost && sent && *writes;
        if matches!(class, ErrorClass::ConnectionLost | ErrorClass::OtherServer) {
            client.end_epoch();
        }
        if error.code().is_none() {
            // The driver failed and not the server: nothing more can be sent.
            client.close();
        }
        let retryable = match class {
            ErrorClass::Conflict | ErrorClass::OtherServer => true,
            ErrorClass::ConnectionLost | ErrorClass::NodeLost => *idempotent || !sent,
            ErrorClass::Unavailable | ErrorClass::Full | ErrorClass::Fault => false,
        };
        if !retryable || attempt == STATEMENT_ATTEMPTS {
            return Err(match self.maybe_done {
                true => StoreError::OutcomeUnknown(Box::new(error)),
                false => store_error(error),
            });
        }
        tracing::debug!(statement = name, attempt, ?class, "a statement is sent again");
        pause(attempt).await;
        self.attempt += 1;
        Ok(())
    }
}

/// A connection on which a statement may be running, until this is dropped.
struct Busy<'a> {
    client: &'a DbClient,
    running: bool,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if self.running {
            self.client.abandon();
        }
    }
}

impl Drop for Retry<'_> {
    fn drop(&mut self) {
        time_budget::spend(self.began.elapsed());
    }
}

async fn pause(attempt: u32) {
    let limit = RETRY_PAUSE_MIN.saturating_mul(1 << attempt.min(10)).min(RETRY_PAUSE_MAX);
    tokio::time::sleep(limit.mul_f64(rand::random_range(0.5..1.0))).await;
}
