//! Statements that are one transaction.

use std::sync::Arc;
use std::time::Duration;

use const_format::formatcp;
use deadpool::managed::Object;
use futures::future::{join_all, join3};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use super::connect::{Busy, Connector, DbClient};
use super::db::{Db, of_caller, permit};
use super::retry::{Params, Retry, Statement};
use super::rows::KEY_IS_VALID;
use crate::domain::Caller;
use crate::limits::STATEMENT_GRACE;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&LOCK_ACCOUNT];

/// In a transaction before a statement that adds one of what an account has a limited number of.
/// Not a lock on the row of the account: on Citus, where that is on all nodes, it would lock the
/// rows of all accounts.
pub(super) static LOCK_ACCOUNT: Statement = Statement::idempotent(
    "accounts.lock",
    formatcp!("SELECT pg_advisory_xact_lock($1) WHERE {KEY_IS_VALID}"),
);

/// A connection that a transaction has for itself.
pub(super) type OwnClient = Arc<Object<Connector>>;

/// A statement of a transaction with its parameters.
pub(super) type Step<'a> = (&'static Statement, Params<'a>);

impl Db {
    /// The first row of the last of a caller's statements, which are one transaction. The first
    /// parameters of each are the account and the key.
    ///
    /// With a limit it is a long write, which may take so long, and has a part of the connections
    /// of its own. It fails with [`StoreError::TooLarge`] if it takes longer.
    pub(super) async fn row_of_steps(
        &self,
        caller: &Caller,
        long: Option<Duration>,
        steps: &[Step<'_>],
    ) -> Result<Row> {
        let params: Vec<_> = steps.iter().map(|(_, own)| of_caller(caller, own)).collect();
        let steps = steps.iter().zip(&params).map(|((statement, _), all)| (*statement, &all[..]));
        let steps: &[Step<'_>] = &steps.collect::<Vec<_>>();
        let begin: &str = &begin(long);
        let sending =
            |client: OwnClient| async move { send(&client, begin, steps, "COMMIT").await };
        let last = self.run(Some(caller), long, steps, sending).await?.pop();
        last.and_then(|rows| rows.into_iter().next()).ok_or(StoreError::KeyRevoked)
    }

    /// The rows of the last of several statements, which are one transaction.
    pub(super) async fn transaction(&self, steps: &[Step<'_>]) -> Result<Vec<Row>> {
        let sending =
            |client: OwnClient| async move { send(&client, "BEGIN", steps, "COMMIT").await };
        Ok(self.run(None, None, steps, sending).await?.pop().unwrap_or_default())
    }

    /// Runs a transaction, which begins with these statements, and runs it again after a conflict.
    /// One of a caller waits until it may have a connection.
    pub(super) async fn run<T, F: Future<Output = Result<T, Error>>>(
        &self,
        caller: Option<&Caller>,
        long: Option<Duration>,
        steps: &[Step<'_>],
        transaction: impl Fn(OwnClient) -> F,
    ) -> Result<T> {
        let quota = if long.is_none() { &self.quotas.steps } else { &self.quotas.long_writes };
        let _permit = match caller {
            Some(caller) => Some(permit(quota, caller.account, 1).await?),
            None => None,
        };
        let whole = Statement {
            name: steps.last().map_or("", |(last, _)| last.name),
            sql: "",
            idempotent: steps.iter().all(|(statement, _)| statement.idempotent),
            shared: false,
            writes: steps.iter().any(|(statement, _)| statement.writes),
        };
        let mut retry = Retry::new(&whole, long);
        let limit = long.map_or(self.limit, |long| long + STATEMENT_GRACE);
        loop {
            let own = Arc::new(retry.connection(|| self.pool.get()).await?);
            let mut busy = Busy { client: &own, running: true };
            let outcome = retry.answer(limit, transaction(own.clone())).await?;
            busy.running = false;
            match outcome {
                Ok(done) => return Ok(done),
                Err(error) if long.is_some() && error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    return Err(StoreError::TooLarge);
                }
                Err(error) => retry.after(&own, error, true).await?,
            }
        }
    }
}

/// SQL that begins a transaction, with this limit for each statement in place of
/// `statement_timeout`.
pub(super) fn begin(limit: Option<Duration>) -> String {
    format!("BEGIN; {}", limit.map(limited).unwrap_or_default())
}

/// SQL that replaces `statement_timeout` by this limit in a transaction.
pub(super) fn limited(limit: Duration) -> String {
    format!("SET LOCAL statement_timeout = {}", limit.as_millis().max(1))
}

/// Sends `begin`, the statements and `end` at once, so that they cost one round trip, and returns
/// the rows of each statement. Each statement sees what was committed before it began, so what the
/// first one locks does not change under the next ones.
pub(super) async fn send(
    client: &DbClient,
    begin: &str,
    steps: &[Step<'_>],
    end: &str,
) -> Result<Vec<Vec<Row>>, Error> {
    let mut prepared = Vec::with_capacity(steps.len());
    for (statement, _) in steps {
        prepared.push(client.prepared(statement.name, statement.sql).await?);
    }
    let queries = prepared.iter().zip(steps).map(|(one, (_, params))| client.query(one, params));
    // After a statement that fails, the others are refused, and the commit is a rollback.
    let (begun, answers, ended) =
        join3(client.batch_execute(begin), join_all(queries), client.batch_execute(end)).await;
    begun?;
    let rows = answers.into_iter().collect::<Result<_, _>>()?;
    ended?;
    Ok(rows)
}
