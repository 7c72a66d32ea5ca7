//! Sending statements: the one place that takes a connection, prepares, sends,
//! and begins again where that is safe.
//!
//! It knows no table. A statement of a caller gives no row at all if the caller's
//! key is revoked, and at least one otherwise; that rule is read here. What a
//! failure means is told by [`fault`], what is done about it by [`attempts`].

mod attempts;
mod fault;
mod flow;
mod shared;
mod statement;

use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use jiff::Timestamp;
use tokio::time::timeout;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, RowStream};

use self::attempts::{Attempts, Line};
use self::fault::{Fault, Silence, told};
pub(super) use self::flow::Flow;
use self::shared::Shares;
#[cfg(test)]
pub(super) use self::statement::Effect;
pub(super) use self::statement::Statement;
#[cfg(test)]
use super::connect::Pooled;
use super::connect::{Kept, PATIENCE, Pool};
use crate::clock::Clock;
use crate::store::StoreError;

/// Values of a statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How much later than a statement should have ended by the server's own account
/// we stop waiting for a server that says nothing.
const GRACE: Duration = Duration::from_secs(5);

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&PING];

static PING: Statement = Statement::reading("ping", "SELECT 1");

/// The database.
#[derive(Clone, Debug)]
pub(super) struct Db {
    pool: Pool,
    shares: Shares,
    clock: Clock,
    /// For one statement.
    limit: Duration,
    flows: flow::Places,
}

impl Db {
    /// The server ends a statement after `statement_timeout` itself; never, if it is 0.
    pub(super) fn new(pool: Pool, clock: Clock, statement_timeout: Duration) -> Self {
        let limit = match statement_timeout.is_zero() {
            true => Duration::MAX,
            false => statement_timeout.saturating_add(GRACE),
        };
        let flows = flow::Places::of(&pool);
        let shares = Shares::of(pool.status().max_size);
        Self { pool, shares, clock, limit, flows }
    }

    /// The time for a step, as a parameter for `coalesce($n, clock_timestamp())`:
    /// the database's own, which all servers share, unless a test moves the clock.
    pub(super) fn now(&self) -> Option<Timestamp> {
        match &self.clock {
            Clock::System => None,
            clock @ Clock::Manual(_) => Some(clock.now()),
        }
    }

    /// A connection that nobody else uses meanwhile. It has just answered.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    #[cfg(test)]
    pub(super) async fn exclusive(&self) -> Result<Pooled, StoreError> {
        let mut attempts = self.attempts(&PING);
        loop {
            let client = attempts.own().await?;
            match self.within(send(&client, &PING, &[], Ok)).await {
                Ok(_) => return Ok(client),
                Err(fault) => attempts.after(Line::of(client), fault).await?,
            }
        }
    }

    /// Makes sure that the database answers, and soon.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        match timeout(PATIENCE, self.rows(&PING, &[])).await {
            Ok(outcome) => outcome.map(drop),
            Err(_) => Err(StoreError::Unavailable(Box::new(Silence(PATIENCE)))),
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

    /// What `read` makes of each row of a statement, as they come: whoever expects
    /// many rows has most of them read when the last is there.
    ///
    /// # Errors
    /// Those of `read`, [`StoreError::Unavailable`] or [`StoreError::Broken`].
    async fn records<T>(
        &self,
        statement: &Statement,
        params: Params<'_>,
        read: impl Fn(Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut attempts = self.attempts(statement);
        loop {
            let line = attempts.line().await?;
            let sending = send(&line, statement, params, &read);
            let outcome = match &line {
                Line::Own(_) => self.within(sending).await,
                Line::Shared(share) => share.while_it_moves(sending).await,
            };
            match outcome {
                Ok(records) => return records,
                Err(fault) => attempts.after(line, fault).await?,
            }
        }
    }

    fn attempts<'a>(&'a self, statement: &'a Statement) -> Attempts<'a> {
        Attempts::new(&self.pool, &self.shares, statement)
    }

    async fn within<T>(&self, sending: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let outcome = timeout(self.limit, sending).await;
        outcome.unwrap_or_else(|_| Err(Fault::silence(self.limit)))
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
}

/// The stream ends when the server is ready for the next statement and not before,
/// so rows that were all read are rows of a step that was carried out.
async fn send<T>(
    client: &Kept,
    statement: &Statement,
    params: Params<'_>,
    read: impl Fn(Row) -> Result<T, StoreError>,
) -> Result<Result<Vec<T>, StoreError>, Fault> {
    let mut rows = pin!(start(client, statement, params).await?);
    let mut records = Ok(Vec::new());
    while let Some(row) = rows.try_next().await.map_err(Fault::sent)? {
        if let Ok(sofar) = &mut records {
            match read(row) {
                Ok(record) => sofar.push(record),
                Err(error) => records = Err(error),
            }
        }
    }
    Ok(records)
}

async fn start(
    client: &Kept,
    statement: &Statement,
    params: Params<'_>,
) -> Result<RowStream, Fault> {
    let prepared = client.prepare_cached(statement.sql).await.map_err(Fault::unsent)?;
    client.query_raw(&prepared, params.iter().copied()).await.map_err(Fault::sent)
}

/// A value of a row, by its column's name or place.
///
/// # Errors
/// [`StoreError::Broken`] if the statement gives no such column.
pub(super) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    at: impl RowIndex + std::fmt::Display,
) -> Result<T, StoreError> {
    row.try_get(at).map_err(told)
}

#[cfg(test)]
mod tests;
