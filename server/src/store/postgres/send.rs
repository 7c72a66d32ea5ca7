//! Sending statements: the one place that takes a connection, prepares, sends, and retries
//! where that is safe.
//!
//! A statement of a caller returns no row if the key is revoked, and at least one otherwise. Every
//! method fails also with [`StoreError::Unavailable`], [`StoreError::Internal`] and, if the
//! statement may have been carried out, [`StoreError::OutcomeUnknown`].

use std::time::Duration;

use futures::future::{join_all, join3};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::connect::DbClient;
use super::db::{Db, permit};
use super::retry::Retry;
use super::rows::KEY_IS_VALID;
use super::statement::Statement;
use crate::domain::Caller;
use crate::limits::STATEMENT_GRACE;
use crate::quota::Client;
use crate::store::{Result, StoreError};

statements! {
    pub(super) read_only PING "ping" "SELECT 1";
    /// In a transaction before a statement that adds one of what an account has a limited number of.
    /// Not a lock on the row of the account: on Citus, where that is on all nodes, it would lock the
    /// rows of all accounts.
    pub(super) idempotent LOCK_ACCOUNT "accounts.lock"
        "SELECT pg_advisory_xact_lock($1) WHERE {KEY_IS_VALID}";
}

/// For whom a statement is sent.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    Server,
    /// A search for a key or a session, which anybody can cause.
    LookUp,
    /// Account and key come before the other parameters.
    Caller(&'a Caller),
    /// The same, for a statement that returns this many rows at most.
    List(&'a Caller, usize),
}

/// Values of a statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Values of parameters that are computed.
pub(super) type Values<'a> = Vec<Box<dyn ToSql + Sync + Send + 'a>>;

/// A statement of a transaction with its parameters.
pub(super) type Step<'a> = (&'a Statement, Params<'a>);

pub(super) fn refs<'a>(values: &'a Values<'_>) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| &**value as _).collect()
}

/// The parameters of a caller's statement: the account, the key, and then its own.
fn of_caller<'a>(caller: &'a Caller, params: Params<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
    [&[&caller.account.0 as _, &caller.key.0 as _], params].concat()
}

impl Db {
    /// All rows of a statement, when the server has committed.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`] if it is a caller's and returns no row.
    pub(super) async fn rows(
        &self,
        by: By<'_>,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>> {
        let _permit = match by {
            By::LookUp => Some(permit(&self.look_ups, Client::Server, 1).await?),
            // A pipelined one waits for nothing.
            By::Caller(by) if !statement.shared => Some(permit(&self.steps, by.account, 1).await?),
            By::List(by, rows_max) => Some(permit(&self.list_rows, by.account, rows_max).await?),
            By::Server | By::Caller(_) => None,
        };
        let (params, is_callers) = match by {
            By::Caller(caller) | By::List(caller, _) => (of_caller(caller, params), true),
            By::Server | By::LookUp => (params.to_vec(), false),
        };
        let mut retry = Retry::new(statement, None);
        loop {
            let (own, shared);
            let client: &DbClient = if statement.shared {
                shared = retry.connection(|| self.shared_client()).await?;
                &shared.0
            } else {
                own = retry.connection(|| self.pool.get()).await?;
                &own
            };
            let mut sent = false;
            let sending = async {
                let prepared = client.prepared(statement).await?;
                sent = true;
                client.query(&prepared, &params).await
            };
            match retry.answer(client, self.limit, sending).await? {
                Ok(rows) if is_callers && rows.is_empty() => return Err(StoreError::KeyRevoked),
                Ok(rows) => return Ok(rows),
                Err(error) => retry.after(client, error, sent).await?,
            }
            self.pool.retain(|client, _| client.is_usable());
        }
    }

    /// The first row of a caller's statement.
    pub(super) async fn row_of_caller(
        &self,
        caller: &Caller,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Row> {
        let rows = self.rows(By::Caller(caller), statement, params).await?;
        rows.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

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
        let quota = if long.is_none() { &self.steps } else { &self.long_writes };
        let _permit = permit(quota, caller.account, 1).await?;
        let params: Vec<_> = steps.iter().map(|(_, own)| of_caller(caller, own)).collect();
        let steps = steps.iter().zip(&params).map(|((statement, _), all)| (*statement, &all[..]));
        let last = self.transaction(long, &steps.collect::<Vec<_>>()).await?;
        last.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    /// The rows of the last of several statements, which are one transaction. It runs again after a
    /// conflict. All is sent at once, so that it costs one round trip. Each statement sees what was
    /// committed before it began, so what the first one locks does not change under the next ones.
    pub(super) async fn transaction(
        &self,
        long: Option<Duration>,
        steps: &[Step<'_>],
    ) -> Result<Vec<Row>> {
        let whole = Statement {
            name: steps.last().map_or("", |(last, _)| last.name),
            sql: "",
            idempotent: steps.iter().all(|(statement, _)| statement.idempotent),
            shared: false,
            writes: steps.iter().any(|(statement, _)| statement.writes),
        };
        let set = |long: Duration| {
            format!("BEGIN; SET LOCAL statement_timeout = {}", long.as_millis().max(1))
        };
        let begin = long.map_or_else(|| "BEGIN".to_owned(), set);
        let limit = long.map_or(self.limit, |long| long + STATEMENT_GRACE);
        let mut retry = Retry::new(&whole, long);
        loop {
            let client = retry.connection(|| self.pool.get()).await?;
            let mut sent = false;
            let sending = async {
                let mut prepared = Vec::with_capacity(steps.len());
                for (statement, _) in steps {
                    prepared.push(client.prepared(statement).await?);
                }
                sent = true;
                let queries = prepared.iter().zip(steps);
                let queries = queries.map(|(one, (_, params))| client.query(one, params));
                // After a statement that fails, the others are refused, and the commit is a rollback.
                let (begun, answers, ended) = join3(
                    client.batch_execute(&begin),
                    join_all(queries),
                    client.batch_execute("COMMIT"),
                )
                .await;
                begun?;
                let last = answers.into_iter().collect::<Result<Vec<_>, _>>()?.pop();
                ended.map(|()| last.unwrap_or_default())
            };
            match retry.answer(&client, limit, sending).await? {
                Ok(rows) => return Ok(rows),
                Err(error) if long.is_some() && error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    return Err(StoreError::TooLarge);
                }
                Err(error) => retry.after(&client, error, sent).await?,
            }
            self.pool.retain(|client, _| client.is_usable());
        }
    }
}
