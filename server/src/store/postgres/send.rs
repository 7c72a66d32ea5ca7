//! Sending statements: the one place that takes a connection, prepares, sends, and retries.
//!
//! A statement of a caller returns no row if the key is revoked, and at least one otherwise.

use std::time::Duration;

use futures::future::{join_all, join3};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::connect::DbClient;
use super::db::{Db, permit};
use super::errors::is_of_statement;
use super::retry::Retry;
use super::rows::{KEY_IS_VALID, column, one};
use super::statement::Statement;
use crate::domain::Caller;
use crate::limits::{CLOCKS_DIFFER_MAX, STATEMENT_GRACE};
use crate::quota::Client;
use crate::store::{Result, StoreError};

statements! {
    pub(super) read_only PING "ping" "SELECT clock_timestamp() AS now";
    /// Ids from a sequence; that nobody may use them does no harm.
    read_only IDS "ids"
        "SELECT ARRAY(SELECT nextval($1::text::regclass) FROM generate_series(1, $2::bigint))";
    /// Before a statement that adds one of what an account has a limited number of. Not a lock on
    /// the row of the account, which on Citus would lock those of all accounts.
    pub(super) idempotent LOCK_ACCOUNT "accounts.lock"
        "SELECT pg_advisory_xact_lock($1) WHERE {KEY_IS_VALID}";
}

#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    Server,
    /// A search for a key or a session, which anybody can cause.
    LookUp,
    /// Account and key come before the other parameters.
    Caller(&'a Caller),
    /// The same, for a statement that returns this many rows at most.
    List(&'a Caller, usize),
    /// The same, for a long write, which may take so long.
    LongWrite(&'a Caller, Duration),
}

pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) type Values<'a> = Vec<Box<dyn ToSql + Sync + Send + 'a>>;

pub(super) type Step<'a> = (&'a Statement, Params<'a>);

pub(super) fn refs<'a>(values: &'a Values<'_>) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| &**value as _).collect()
}

impl Db {
    /// The rows of the last of these statements that has any, after the commit. Several are one transaction in
    /// one round trip, which runs again after a conflict. Each statement sees what was committed
    /// before it began, so what the first one locks does not change under the next ones.
    ///
    /// Fails with [`StoreError::KeyRevoked`] if they are a caller's and return no row, and with
    /// [`StoreError::TooLarge`] if a long write takes too long.
    pub(super) async fn rows(&self, by: By<'_>, steps: &[Step<'_>]) -> Result<Vec<Row>> {
        let (caller, long) = match by {
            By::Caller(caller) | By::List(caller, _) => (Some(caller), None),
            By::LongWrite(caller, long) => (Some(caller), Some(long)),
            By::Server | By::LookUp => (None, None),
        };
        let whole = Statement {
            name: steps.last().map_or("", |(last, _)| last.name),
            sql: "",
            idempotent: steps.iter().all(|(statement, _)| statement.idempotent),
            shared: matches!(steps, [(alone, _)] if alone.shared) && long.is_none(),
            writes: steps.iter().any(|(statement, _)| statement.writes),
        };
        let _permit = match by {
            By::LookUp => Some(permit(&self.look_ups, Client::Server, 1).await?),
            // A pipelined one waits for nothing.
            By::Caller(by) if !whole.shared => Some(permit(&self.steps, by.account, 1).await?),
            By::List(by, rows_max) => Some(permit(&self.list_rows, by.account, rows_max).await?),
            By::LongWrite(by, _) => Some(permit(&self.long_writes, by.account, 1).await?),
            By::Server | By::Caller(_) => None,
        };
        let params: Vec<_> = steps.iter().map(|(_, own)| of_caller(caller, own)).collect();
        let limit = long.map_or(self.limit, |long| long + STATEMENT_GRACE);
        let mut retry = Retry::new(&whole, long);
        loop {
            let (own, shared);
            let client: &DbClient = if whole.shared {
                shared = retry.connection(|| self.shared_client()).await?;
                &shared.0
            } else {
                own = retry.connection(|| self.pool.get()).await?;
                &own
            };
            let mut sent = false;
            let sending = async {
                if let ([(alone, _)], [params], None) = (steps, &params[..], long) {
                    let prepared = client.prepared(alone).await?;
                    sent = true;
                    return client.query(&prepared, params).await;
                }
                let mut prepared = Vec::with_capacity(steps.len());
                for (statement, _) in steps {
                    prepared.push(client.prepared(statement).await?);
                }
                sent = true;
                let begin = begin(long);
                let queries = prepared.iter().zip(&params);
                let queries = queries.map(|(one, params)| client.query(one, params));
                // After a statement that fails, the commit is a rollback.
                let (begin, end) = (client.batch_execute(&begin), client.batch_execute("COMMIT"));
                let all = Box::pin(join3(begin, join_all(queries), end));
                let (begun, answers, ended) = all.await;
                begun?;
                let answers = answers.into_iter().collect::<Result<Vec<_>, _>>();
                // Then the commit was a rollback.
                sent = !answers.as_ref().is_err_and(is_of_statement);
                let last = answers?.into_iter().rev().find(|rows| !rows.is_empty());
                ended.map(|()| last.unwrap_or_default())
            };
            match retry.answer(client, limit, sending).await? {
                Ok(rows) if caller.is_some() && rows.is_empty() => {
                    return Err(StoreError::KeyRevoked);
                }
                Ok(rows) => return Ok(rows),
                Err(error) if long.is_some() && error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    return Err(StoreError::TooLarge);
                }
                Err(error) => retry.after(client, error, sent).await?,
            }
            self.pool.retain(|client, _| client.is_usable());
        }
    }

    /// Whether this clock is the database's: servers compare the times at which leases end.
    pub(super) async fn has_same_clock(&self) -> Result<bool> {
        let before = self.now() - CLOCKS_DIFFER_MAX;
        let rows = self.rows(By::Server, &[(&PING, &[])]).await?;
        let database: Timestamp = rows.first().map_or(Ok(before), |row| column(row, "now"))?;
        Ok((before..self.now() + CLOCKS_DIFFER_MAX).contains(&database))
    }

    pub(super) async fn new_ids(&self, sequence: &str, count: i64) -> Result<Vec<i64>> {
        let rows = self.rows(By::Server, &[(&IDS, &[&sequence, &count])]).await?;
        column(one(&rows)?, 0)
    }

    pub(super) async fn row_of_caller(
        &self,
        caller: &Caller,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Row> {
        let rows = self.rows(By::Caller(caller), &[(statement, params)]).await?;
        rows.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    pub(super) async fn row_of_steps(&self, by: By<'_>, steps: &[Step<'_>]) -> Result<Row> {
        self.rows(by, steps).await?.into_iter().next().ok_or(StoreError::KeyRevoked)
    }
}

/// The parameters of a statement: its own, and of a caller's before them the account and the key.
fn of_caller<'a>(caller: Option<&'a Caller>, own: Params<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
    let first = caller.map(|caller| [&caller.account.0 as _, &caller.key.0 as _]);
    first.into_iter().flatten().chain(own.iter().copied()).collect()
}

fn begin(long: Option<Duration>) -> String {
    let set =
        |long: Duration| format!("; SET LOCAL statement_timeout = {}", long.as_millis().max(1));
    format!("BEGIN{}", long.map(set).unwrap_or_default())
}
