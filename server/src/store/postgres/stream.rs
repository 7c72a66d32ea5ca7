//! Rows that are read as they come, by a reader that may be slow.
//!
//! They come on a connection of their own. PostgreSQL sends no further than the buffers between
//! us hold, so nothing is gathered here; but the connection is taken until the last row, and so
//! streams are limited, also for each account.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use futures::future::{FutureExt, join};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{Row, RowStream};

use super::client::{Busy, DbClient, Params, Statement};
use super::connect::Pooled;
use super::retry::{Failure, store_error, timed_out};
use crate::domain::AccountId;
use crate::limits::{STREAM_WAIT, STREAMS_PER_ACCOUNT};
use crate::store::StoreError;

/// `statement_timeout` would count the time of a slow reader; each row has a limit instead.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 0";
const END: &str = "COMMIT";

/// How many streams there may be at once. Whoever waits longest is next.
#[derive(Clone)]
pub(super) struct StreamPermits {
    all: Arc<Semaphore>,
    /// Of accounts that have a stream or wait for one.
    accounts: Arc<Mutex<HashMap<i64, Arc<Semaphore>>>>,
}

/// A stream of an account, counted while this lives.
pub(super) type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl StreamPermits {
    pub(super) fn new(streams: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(streams.max(1))), accounts: Arc::default() }
    }

    pub(super) async fn acquire(&self, account: AccountId) -> Result<Permits, StoreError> {
        let own = self.account(account);
        // The account's first: who waits for that keeps no one else waiting.
        let acquiring = async {
            Some((own.acquire_owned().await.ok()?, self.all.clone().acquire_owned().await.ok()?))
        };
        let permits = timeout(STREAM_WAIT, acquiring).await.ok().flatten();
        let cause = "too many vaults are being read at once";
        permits.ok_or_else(|| StoreError::Unavailable(cause.into()))
    }

    fn account(&self, account: AccountId) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|_, permits| Arc::strong_count(permits) > 1);
        let permits = accounts.entry(account.0);
        permits.or_insert_with(|| Arc::new(Semaphore::new(STREAMS_PER_ACCOUNT))).clone()
    }
}

/// The rows of a statement, one by one. While rows are still to come, its connection is busy.
pub(super) struct RowCursor {
    pub(super) client: Busy<Pooled>,
    pub(super) rows: Pin<Box<RowStream>>,
    /// For a row.
    pub(super) limit: Duration,
    pub(super) _permits: Permits,
}

impl RowCursor {
    /// The next row, or none after the last. No row follows an error.
    pub(super) async fn next(&mut self) -> Result<Option<Row>, StoreError> {
        if !self.client.running {
            return Ok(None);
        }
        let row = timeout(self.limit, self.rows.try_next()).await;
        let row = row.map_err(|_| timed_out(self.limit))?.map_err(store_error)?;
        self.client.running = row.is_some();
        Ok(row)
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

/// Starts a statement in a transaction of its own, and returns the first row too. Everything is
/// sent at once, so that it costs one round trip; the answers come in order.
pub(super) async fn begin(
    client: &DbClient,
    statement: &Statement,
    params: Params<'_>,
) -> Result<(Pin<Box<RowStream>>, Option<Row>), Failure> {
    client.prepared(statement).await.map_err(Failure::unsent)?;
    let (begun, rows) = join(client.batch_execute(BEGIN), start(client, statement, params)).await;
    // It is sent when it is polled first; nothing depends on its answer.
    let _ = client.batch_execute(END).now_or_never();
    begun.map_err(Failure::sent)?;
    let mut rows = Box::pin(rows?);
    let first = rows.try_next().await.map_err(Failure::sent)?;
    Ok((rows, first))
}
