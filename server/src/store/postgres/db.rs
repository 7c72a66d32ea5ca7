//! Sending statements: the one place that takes a connection, prepares, sends, and retries
//! where that is safe.
//!
//! A statement of a caller returns no row if the caller's key is revoked, and at least one
//! otherwise; the methods `…_of_caller` make [`StoreError::KeyRevoked`] of it. Every method fails
//! with [`StoreError::Unavailable`] or [`StoreError::Internal`].

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{BuildError, Pool, QueueMode};
use futures::future::{FutureExt, join};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use tokio::sync::RwLock;
use tokio_postgres::{Error, Row, RowStream};

use super::connect::{Connector, DbClient, Unreachable};
use super::permits::StreamPermits;
pub(super) use super::retry::{Params, Statement};
use super::retry::{Retry, store_error, within};
use crate::clock::Clock;
use crate::domain::AccountId;
use crate::limits::{SHARED_CLIENTS_MAX, SHARED_CLIENTS_PART, STATEMENT_GRACE};
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&PING];

static PING: Statement = Statement::read_only("ping", "SELECT 1");

/// `statement_timeout` would count the time of a slow reader; each row has a limit instead.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 0";

/// The database.
#[derive(Clone)]
pub(super) struct Db {
    /// Connections for one statement at a time.
    pool: Pool<Connector>,
    shared: Arc<[Slot]>,
    pub(super) clock: Clock,
    /// For one statement: the server itself ends it after `statement_timeout`.
    pub(super) limit: Duration,
    streams: StreamPermits,
}

/// A connection that many statements share without waiting for one another (pipelining), which
/// costs fewer wake-ups on both sides. Answers come in order, so these statements must be short
/// and wait for no locks; `statement_timeout` is the limit. Each that runs or waits for the
/// connection holds a reference. Written while connecting, so that a slot opens one at a time.
type Slot = Arc<RwLock<Option<Arc<DbClient>>>>;

impl Db {
    pub(super) fn new(connector: &Connector, clock: Clock) -> Result<Self, BuildError> {
        let connections = connector.url.connections;
        let shared = (connections / SHARED_CLIENTS_PART).clamp(1, SHARED_CLIENTS_MAX);
        let own = connections.saturating_sub(shared).max(1);
        // The connection that came back last is used next, so that few are busy, here and in
        // the database.
        let pool = Pool::builder(connector.clone()).max_size(own).queue_mode(QueueMode::Lifo);
        let limit = match connector.url.statement_timeout {
            Duration::ZERO => Duration::MAX,
            timeout => timeout.saturating_add(STATEMENT_GRACE),
        };
        let shared = std::iter::repeat_with(Slot::default).take(shared).collect();
        Ok(Self { pool: pool.build()?, shared, clock, limit, streams: StreamPermits::new(own / 2) })
    }

    /// The time of a statement, as a parameter for `coalesce($n, clock_timestamp())`: `None`
    /// for the database's own, which all servers share, unless a test moves the clock.
    pub(super) fn now(&self) -> Option<Timestamp> {
        match &self.clock {
            Clock::System => None,
            clock @ Clock::Manual(_) => Some(clock.now()),
        }
    }

    /// Opens a connection of each kind.
    pub(super) async fn warm_up(&self) -> Result<()> {
        let mut retry = Retry::new(&PING);
        let _own = retry.connection(|| self.pool.get()).await?;
        retry.connection(|| self.shared_client()).await.map(drop)
    }

    /// Checks that the database responds.
    pub(super) async fn check(&self) -> Result<()> {
        self.rows(&PING, &[]).await.map(drop)
    }

    /// All rows of a statement, when the server has committed.
    pub(super) async fn rows(&self, statement: &Statement, params: Params<'_>) -> Result<Vec<Row>> {
        let mut retry = Retry::new(statement);
        loop {
            let (own, shared);
            let client: &DbClient = if statement.shared {
                shared = retry.connection(|| self.shared_client()).await?;
                &shared.0
            } else {
                own = retry.connection(|| self.pool.get()).await?;
                &own
            };
            let sending = async {
                let prepared = client.prepared(statement.name, statement.sql).await;
                let prepared = prepared.map_err(|error| (error, false))?;
                client.query(&prepared, params).await.map_err(|error| (error, true))
            };
            // On a shared connection a statement whose caller is dropped runs on: it is short,
            // and cancelling could hit the statement of another caller.
            let mut busy = Busy { client, running: !statement.shared };
            let outcome = within(self.limit, sending).await;
            busy.running = outcome.is_err();
            match outcome? {
                Ok(rows) => return Ok(rows),
                Err((error, sent)) => retry.after(client, error, sent).await?,
            }
            self.pool.retain(|client, _| client.is_usable());
        }
    }

    /// The shared client with the fewest statements, connected if it is not; another one if no
    /// host accepts a connection.
    async fn shared_client(&self) -> Result<(Arc<DbClient>, Slot), Unreachable> {
        let usable = |slot: &Slot, client: &Option<Arc<DbClient>>| {
            let client = client.as_ref().filter(|client| client.is_usable())?;
            Some((client.clone(), slot.clone()))
        };
        let least = self.shared.iter().min_by_key(|slot| Arc::strong_count(slot));
        let slot = least.unwrap_or(&self.shared[0]).clone();
        if let Some(found) = usable(&slot, &*slot.read().await) {
            return Ok(found);
        }
        let mut client = slot.write().await;
        if let Some(found) = usable(&slot, &client) {
            return Ok(found);
        }
        match self.pool.manager().connect().await {
            Ok(new) => Ok((client.insert(Arc::new(new)).clone(), slot.clone())),
            Err(error) => {
                let other = |slot| usable(slot, &*slot.try_read().ok()?);
                self.shared.iter().find_map(other).ok_or(error)
            }
        }
    }

    /// The rows of a caller's statement; at least one.
    pub(super) async fn rows_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>> {
        let rows = self.rows(statement, params).await?;
        if rows.is_empty() { Err(StoreError::KeyRevoked) } else { Ok(rows) }
    }

    /// The first row of a caller's statement.
    pub(super) async fn row_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Row> {
        self.rows(statement, params).await?.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    /// The first row of a caller's statement, and a stream of all others. Fails also if no
    /// stream permit is free in time.
    pub(super) async fn stream_of_caller(
        &self,
        account: AccountId,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<(Row, Rows)> {
        let permits = self.streams.acquire(account).await?;
        let (mut retry, limit) = (Retry::new(statement), self.limit);
        loop {
            // After a failure too it is abandoned: parts of the transaction may still be to come.
            let client = retry.connection(|| self.pool.get()).await?;
            let mut client = Busy { client, running: true };
            match within(limit, begin(&client.client, statement, params)).await? {
                Ok((rows, first)) => {
                    client.running = first.is_some();
                    let first = first.ok_or(StoreError::KeyRevoked)?;
                    let open = (client, rows, permits);
                    let rest = stream::try_unfold(open, move |mut open| async move {
                        let row = within(limit, open.1.try_next()).await?.map_err(store_error)?;
                        open.0.running = row.is_some();
                        Ok(row.map(|row| (row, open)))
                    });
                    return Ok((first, rest.boxed()));
                }
                Err(error) => retry.after(&client.client, error, true).await?,
            }
        }
    }
}

/// A connection on which a statement may be running. Dropped meanwhile, as when a client hangs
/// up, it is abandoned: back in the pool, it would make its next user wait for the statement.
struct Busy<C: Deref<Target = DbClient>> {
    client: C,
    running: bool,
}

impl<C: Deref<Target = DbClient>> Drop for Busy<C> {
    fn drop(&mut self) {
        if self.running {
            self.client.abandon();
        }
    }
}

/// Rows of a statement, read as they come by a reader that may be slow. PostgreSQL sends no more
/// than the buffers between us hold.
pub(super) type Rows = BoxStream<'static, Result<Row>>;

/// Starts a statement in a transaction of its own, and returns the first row too. Everything is
/// sent at once, so that it costs one round trip; the answers come in order.
async fn begin(
    client: &DbClient,
    statement: &Statement,
    params: Params<'_>,
) -> Result<(Pin<Box<RowStream>>, Option<Row>), Error> {
    let prepared = client.prepared(statement.name, statement.sql).await?;
    let rows = client.query_raw(&prepared, params.iter().copied());
    let (begun, rows) = join(client.batch_execute(BEGIN), rows).await;
    // It is sent when it is polled first; nothing depends on its answer.
    let _ = client.batch_execute("COMMIT").now_or_never();
    begun?;
    let mut rows = Box::pin(rows?);
    let first = rows.try_next().await?;
    Ok((rows, first))
}

#[cfg(test)]
mod tests;
