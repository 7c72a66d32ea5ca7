//! Sending statements: the one place that takes a connection, prepares, sends, and retries
//! where that is safe.
//!
//! It knows no table. A statement of a caller returns no row if the caller's key is revoked,
//! and at least one otherwise; the methods `…_of_caller` make [`StoreError::KeyRevoked`] of it.
//! Every method fails with [`StoreError::Unavailable`] or [`StoreError::Broken`].

use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use jiff::Timestamp;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;

#[cfg(test)]
pub(super) use super::client::Effect;
use super::client::{Busy, DbClient};
pub(super) use super::client::{Params, Statement};
use super::connect::{Connector, Pool, Pooled, SharedClients, pool};
use super::retry::{ErrorClass, Failure, Retry, store_error, timed_out};
use super::stream::{RowCursor, StreamPermits, begin, start};
use super::url::DatabaseUrl;
use crate::clock::Clock;
use crate::domain::AccountId;
use crate::limits::{POOL_WAIT, SHARED_CLIENTS_MAX, SHARED_CLIENTS_PART, STATEMENT_GRACE};
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&PING];

static PING: Statement = Statement::read_only("ping", "SELECT 1");

/// The database.
#[derive(Clone)]
pub(super) struct Db {
    pool: Pool,
    shared: SharedClients,
    clock: Clock,
    /// For one statement: the server itself ends it after `statement_timeout`.
    pub(super) limit: Duration,
    pub(super) streams: StreamPermits,
}

impl Db {
    pub(super) fn new(
        connector: &Connector,
        url: &DatabaseUrl,
        clock: Clock,
    ) -> Result<Self, deadpool::managed::BuildError> {
        let shared = (url.connections / SHARED_CLIENTS_PART).clamp(1, SHARED_CLIENTS_MAX);
        let own = url.connections.saturating_sub(shared).max(1);
        let limit = match url.statement_timeout.is_zero() {
            true => Duration::MAX,
            false => url.statement_timeout.saturating_add(STATEMENT_GRACE),
        };
        Ok(Self {
            pool: pool(connector.clone(), own)?,
            shared: SharedClients::new(connector.clone(), shared),
            clock,
            limit,
            streams: StreamPermits::new(own / 2),
        })
    }

    /// The time of a statement, as a parameter for `coalesce($n, clock_timestamp())`: `None`
    /// for the database's own, which all servers share, unless a test moves the clock.
    pub(super) fn now(&self) -> Option<Timestamp> {
        match &self.clock {
            Clock::System => None,
            clock @ Clock::Manual(_) => Some(clock.now()),
        }
    }

    /// A connection that nothing else uses.
    async fn own(&self, retry: &mut Retry<'_>) -> Result<Pooled, StoreError> {
        retry.connection(|| self.pool.get()).await
    }

    /// A connection that nothing else uses, and that has just responded.
    #[cfg(test)]
    pub(super) async fn exclusive(&self) -> Result<Pooled, StoreError> {
        let mut retry = Retry::new(&PING);
        loop {
            let client = self.own(&mut retry).await?;
            match self.send(&client, &PING, &[], &Ok).await {
                Ok(_) => return Ok(client),
                Err(failure) => self.after(&client, failure, &mut retry).await?,
            }
        }
    }

    /// Opens a connection of each kind.
    pub(super) async fn warm_up(&self) -> Result<(), StoreError> {
        let mut retry = Retry::new(&PING);
        let _own = self.own(&mut retry).await?;
        retry.connection(|| self.shared.get()).await.map(drop)
    }

    /// Checks that the database responds in time.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        let answer = timeout(POOL_WAIT, self.rows(&PING, &[])).await;
        answer.unwrap_or_else(|_| Err(timed_out(POOL_WAIT))).map(drop)
    }

    /// All rows of a statement.
    pub(super) async fn rows(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.records(statement, params, Ok).await
    }

    /// The rows of a caller's statement; at least one.
    pub(super) async fn rows_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.records_of_caller(statement, params, Ok).await
    }

    /// As [`Db::rows_of_caller`], each row read as it comes. Fails also as `read` does.
    pub(super) async fn records_of_caller<T>(
        &self,
        statement: &Statement,
        params: Params<'_>,
        read: impl Fn(Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let records = self.records(statement, params, read).await?;
        if records.is_empty() { Err(StoreError::KeyRevoked) } else { Ok(records) }
    }

    /// The first row of a caller's statement.
    pub(super) async fn row_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Row, StoreError> {
        let rows = self.rows(statement, params).await?;
        rows.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    /// The first row of a caller's statement, and a cursor for all others. Fails also if no
    /// stream permit is free in time.
    pub(super) async fn cursor_of_caller(
        &self,
        account: AccountId,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<(Row, RowCursor), StoreError> {
        let permits = self.streams.acquire(account).await?;
        let (mut retry, limit) = (Retry::new(statement), self.limit);
        loop {
            // After a failure too it is abandoned: parts of the transaction may still be to come.
            let mut client = Busy { client: self.own(&mut retry).await?, running: true };
            let begun = timeout(limit, begin(&client.client, statement, params)).await;
            match begun.unwrap_or_else(|_| Err(Failure::timeout(limit))) {
                Ok((rows, first)) => {
                    client.running = first.is_some();
                    let cursor = RowCursor { client, rows, limit, _permits: permits };
                    return first.map(|first| (first, cursor)).ok_or(StoreError::KeyRevoked);
                }
                Err(failure) => self.after(&client.client, failure, &mut retry).await?,
            }
        }
    }

    async fn records<T>(
        &self,
        statement: &Statement,
        params: Params<'_>,
        read: impl Fn(Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut retry = Retry::new(statement);
        loop {
            let (own, shared);
            let client: &DbClient = if statement.shared {
                shared = retry.connection(|| self.shared.get()).await?;
                &shared.0
            } else {
                own = self.own(&mut retry).await?;
                &own
            };
            match self.send(client, statement, params, &read).await {
                Ok(records) => return records,
                Err(failure) => self.after(client, failure, &mut retry).await?,
            }
        }
    }

    /// Sends a statement and reads its rows to the end: the stream ends when the server has
    /// committed, and not before.
    async fn send<T>(
        &self,
        client: &DbClient,
        statement: &Statement,
        params: Params<'_>,
        read: &impl Fn(Row) -> Result<T, StoreError>,
    ) -> Result<Result<Vec<T>, StoreError>, Failure> {
        let sending = async {
            let mut rows = pin!(start(client, statement, params).await?);
            let mut records = Ok(Vec::new());
            while let Some(row) = rows.try_next().await.map_err(Failure::sent)? {
                if let Ok(list) = &mut records {
                    match read(row) {
                        Ok(record) => list.push(record),
                        Err(error) => records = Err(error),
                    }
                }
            }
            Ok(records)
        };
        // On a shared connection a statement whose caller is dropped runs on: it is short, and
        // cancelling could hit the statement of another caller.
        let mut busy = Busy { client, running: !statement.shared };
        let outcome = timeout(self.limit, sending).await;
        busy.running = outcome.is_err();
        outcome.unwrap_or_else(|_| Err(Failure::timeout(self.limit)))
    }

    /// Leaves the connection in a state in which it can be used again, or closes it. Returns
    /// after a pause if the statement is to be sent again, and else the error.
    async fn after(
        &self,
        client: &DbClient,
        failure: Failure,
        retry: &mut Retry<'_>,
    ) -> Result<(), StoreError> {
        if failure.closes {
            client.close();
        }
        match failure.class {
            ErrorClass::StalePlan => client.forget_statements(),
            // What broke one connection broke all that were open then.
            ErrorClass::ConnectionLost => {
                self.pool.retain(|client, _| client.is_usable() && client.created > retry.began);
                self.shared.discard_opened_before(retry.began);
            }
            ErrorClass::Conflict | ErrorClass::Other => {}
        }
        retry.after(failure).await
    }
}

/// A value of a row, by its column's name or index; [`StoreError::Broken`] if the statement
/// returns no such column.
pub(super) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    at: impl RowIndex + std::fmt::Display,
) -> Result<T, StoreError> {
    row.try_get(at).map_err(store_error)
}

#[cfg(test)]
mod tests;
