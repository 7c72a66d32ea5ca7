//! Sending statements: the one place that takes a connection, prepares, sends,
//! and begins again where that is safe.
//!
//! It knows no table. A statement of a caller gives no row at all if the caller's
//! key is revoked, and at least one otherwise; that rule is read here. What a
//! failure means is told by [`fault`], what is done about it by [`attempts`].

mod attempts;
mod fault;
mod flow;
mod statement;

use std::time::Duration;

use futures::TryStreamExt;
use jiff::Timestamp;
use tokio::time::timeout;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, RowStream};

use self::attempts::Attempts;
use self::fault::{Fault, Silence, told};
pub(super) use self::flow::Flow;
pub(super) use self::statement::{Again, Statement};
use super::connect::{PATIENCE, Pool, Pooled};
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
        Self { pool, clock, limit, flows }
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
        let mut attempts = Attempts::new(&self.pool, &PING);
        loop {
            let client = attempts.connection().await?;
            match self.within(send(&client, &PING, &[])).await {
                Ok(_) => return Ok(client),
                Err(fault) => attempts.after(client, fault).await?,
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
        let mut attempts = Attempts::new(&self.pool, statement);
        loop {
            let client = attempts.connection().await?;
            match self.within(send(&client, statement, params)).await {
                Ok(rows) => return Ok(rows),
                Err(fault) => attempts.after(client, fault).await?,
            }
        }
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
        let rows = self.rows(statement, params).await?;
        if rows.is_empty() { Err(StoreError::KeyRevoked) } else { Ok(rows) }
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
async fn send(
    client: &Pooled,
    statement: &Statement,
    params: Params<'_>,
) -> Result<Vec<Row>, Fault> {
    start(client, statement, params).await?.try_collect().await.map_err(Fault::sent)
}

async fn start(
    client: &Pooled,
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
