//! Sending statements: the one place that takes a connection, prepares, sends, and retries
//! where that is safe.
//!
//! It knows no table. A statement of a caller returns no row if the caller's key is revoked,
//! and at least one otherwise; that rule is checked here.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use jiff::Timestamp;
use tokio::time::timeout;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, RowStream};

use super::client::DbClient;
use super::pool::{Pool, Pooled};
use super::retry::{ErrorClass, Failure, Retry, Timeout, store_error};
use super::shared::SharedClients;
#[cfg(test)]
pub(super) use super::statement::Effect;
pub(super) use super::statement::Statement;
use super::stream::StreamPermits;
use crate::clock::Clock;
use crate::limits::{POOL_WAIT, STATEMENT_GRACE};
use crate::store::StoreError;

/// Values of a statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&PING];

static PING: Statement = Statement::read_only("ping", "SELECT 1");

/// The database.
#[derive(Clone, Debug)]
pub(super) struct Db {
    pool: Pool,
    shared: SharedClients,
    clock: Clock,
    /// For one statement.
    pub(super) limit: Duration,
    pub(super) streams: StreamPermits,
}

impl Db {
    /// The server itself ends a statement after `statement_timeout`; never, if that is 0.
    pub(super) fn new(
        pool: Pool,
        shared: SharedClients,
        clock: Clock,
        statement_timeout: Duration,
    ) -> Self {
        let limit = match statement_timeout.is_zero() {
            true => Duration::MAX,
            false => statement_timeout.saturating_add(STATEMENT_GRACE),
        };
        let streams = StreamPermits::new(pool.status().max_size / 2);
        Self { pool, shared, clock, limit, streams }
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
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub(super) async fn own(&self, retry: &mut Retry<'_>) -> Result<Pooled, StoreError> {
        retry.connection(|| self.pool.get()).await
    }

    /// A connection that nothing else uses, and that has just answered.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    #[cfg(test)]
    pub(super) async fn exclusive(&self) -> Result<Pooled, StoreError> {
        let mut retry = Retry::new(&PING);
        loop {
            let (began, client) = (Instant::now(), self.own(&mut retry).await?);
            match self.send(&client, &PING, &[], &Ok).await {
                Ok(_) => return Ok(client),
                Err(failure) => self.clean_up(&client, &failure, began),
            }
        }
    }

    /// Opens a connection of each kind.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub(super) async fn warm_up(&self) -> Result<(), StoreError> {
        let mut retry = Retry::new(&PING);
        let own = self.own(&mut retry).await?;
        let shared = retry.connection(|| self.shared.get()).await?;
        drop((own, shared));
        Ok(())
    }

    /// Makes sure that the database answers, and soon.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        match timeout(POOL_WAIT, self.rows(&PING, &[])).await {
            Ok(outcome) => outcome.map(drop),
            Err(_) => Err(StoreError::Unavailable(Box::new(Timeout(POOL_WAIT)))),
        }
    }

    /// All rows of a statement.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub(super) async fn rows(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.records(statement, params, Ok).await
    }

    /// The rows of a caller's statement; at least one.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`], and those of [`Db::rows`].
    pub(super) async fn rows_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.records_of_caller(statement, params, Ok).await
    }

    /// As [`Db::rows_of_caller`], each row read as it comes.
    ///
    /// # Errors
    /// Those of `read`, and of [`Db::rows_of_caller`].
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
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`], and those of [`Db::rows`].
    pub(super) async fn row_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Row, StoreError> {
        let rows = self.rows(statement, params).await?;
        rows.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    async fn records<T>(
        &self,
        statement: &Statement,
        params: Params<'_>,
        read: impl Fn(Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut retry = Retry::new(statement);
        loop {
            let began = Instant::now();
            let (own, shared);
            let client: &DbClient = if statement.shared {
                shared = retry.connection(|| self.shared.get()).await?;
                &shared
            } else {
                own = self.own(&mut retry).await?;
                &own
            };
            match self.send(client, statement, params, &read).await {
                Ok(records) => return records,
                Err(failure) => {
                    self.clean_up(client, &failure, began);
                    retry.after(failure).await?;
                }
            }
        }
    }

    /// What broke one connection broke all that were open then.
    pub(super) fn clean_up(&self, client: &DbClient, failure: &Failure, began: Instant) {
        failure.clean_up(client);
        if failure.class == ErrorClass::ConnectionLost {
            self.pool.retain(|client, _| client.is_usable() && client.created > began);
            self.shared.discard_opened_before(began);
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
        let guard = (!statement.shared).then(|| client.abandon_on_drop());
        let outcome = timeout(self.limit, sending).await.unwrap_or_else(|_| {
            client.abandon();
            Err(Failure::timeout(self.limit))
        });
        if let Some(guard) = guard {
            guard.ended();
        }
        outcome
    }
}

/// Sends a statement, prepared if it is not on this connection.
pub(super) async fn start(
    client: &DbClient,
    statement: &Statement,
    params: Params<'_>,
) -> Result<RowStream, Failure> {
    let prepared = client.prepared(statement).await.map_err(Failure::unsent)?;
    client.query_raw(&prepared, params.iter().copied()).await.map_err(Failure::sent)
}

/// A value of a row, by its column's name or index.
///
/// # Errors
/// [`StoreError::Broken`] if the statement returns no such column.
pub(super) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    at: impl RowIndex + std::fmt::Display,
) -> Result<T, StoreError> {
    row.try_get(at).map_err(store_error)
}

#[cfg(test)]
mod tests;
