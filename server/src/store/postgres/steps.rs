//! Statements that are one transaction.

use std::time::Duration;

use futures::future::{join_all, join3};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use super::connect::DbClient;
use super::db::{Db, share};
use super::retry::{Params, Retry, Statement};
use super::transaction::Busy;
use crate::domain::Caller;
use crate::limits::STATEMENT_GRACE;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LOCK_ACCOUNT];

/// In a transaction before a statement that adds one of what an account has a limited number of.
/// A reference to the account, as from a new vault, does not wait for it.
pub(super) static LOCK_ACCOUNT: Statement =
    Statement::idempotent("accounts.lock", "SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE");

/// A statement of a transaction with its parameters.
pub(super) type Step<'a> = (&'static Statement, Params<'a>);

impl Db {
    /// The first row of the last of a caller's statements, which are one transaction.
    pub(super) async fn row_of_steps(&self, caller: &Caller, steps: &[Step<'_>]) -> Result<Row> {
        let _permit = share(&self.quotas.steps, caller.account, 1).await?;
        let row = self.transaction(None, steps).await?.into_iter().next();
        row.ok_or(StoreError::KeyRevoked)
    }

    /// The same of a long write, which has a time limit and a share of the connections of its own.
    ///
    /// # Errors
    /// Also [`StoreError::TooLarge`] if it takes too long.
    pub(super) async fn long_row_of_steps(
        &self,
        caller: &Caller,
        steps: &[Step<'_>],
    ) -> Result<Row> {
        let _permit = share(&self.quotas.long_writes, caller.account, 1).await?;
        let row = self.transaction(Some(self.long_limit), steps).await?.into_iter().next();
        row.ok_or(StoreError::KeyRevoked)
    }

    /// The rows of the last of several statements, which are one transaction. With a limit, it may
    /// take that long.
    pub(super) async fn transaction(
        &self,
        long: Option<Duration>,
        steps: &[Step<'_>],
    ) -> Result<Vec<Row>> {
        let Some((last, _)) = steps.last() else { return Ok(Vec::new()) };
        let (mut retry, limit) = match long {
            None => (Retry::new(last), self.limit),
            Some(long) => (Retry::long(last, long), long + STATEMENT_GRACE),
        };
        loop {
            let client = retry.connection(|| self.pool.get()).await?;
            let mut busy = Busy { client, running: true };
            let writing = in_transaction(&busy.client, long, steps);
            let outcome = retry.answer(limit, writing).await?;
            busy.running = false;
            match outcome {
                Ok(rows) => return Ok(rows),
                Err(error) if long.is_some() && error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    return Err(StoreError::TooLarge);
                }
                Err(error) => retry.after(&busy.client, error, true).await?,
            }
        }
    }
}

/// Runs statements in one transaction and returns the rows of the last one. Everything is sent at
/// once, so that it costs one round trip. Each statement sees what was committed before it began,
/// so what the first one locks does not change under the next ones. `limit` replaces
/// `statement_timeout`.
pub(super) async fn in_transaction(
    client: &DbClient,
    limit: Option<Duration>,
    steps: &[Step<'_>],
) -> Result<Vec<Row>, Error> {
    let mut prepared = Vec::with_capacity(steps.len());
    for (statement, _) in steps {
        prepared.push(client.prepared(statement.name, statement.sql).await?);
    }
    let begin = match limit {
        None => "BEGIN".to_owned(),
        Some(limit) => format!("BEGIN; SET LOCAL statement_timeout = {}", limit.as_millis()),
    };
    let queries = prepared.iter().zip(steps).map(|(one, (_, params))| client.query(one, params));
    // After a statement that fails, the others are refused, and the commit is a rollback.
    let (begun, answers, committed) =
        join3(client.batch_execute(&begin), join_all(queries), client.batch_execute("COMMIT"))
            .await;
    begun?;
    let mut last = Vec::new();
    for answer in answers {
        last = answer?;
    }
    committed?;
    Ok(last)
}
