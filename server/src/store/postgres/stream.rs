//! Rows that are read as they come, by a reader that may be slow.
//!
//! They come on a connection of their own. PostgreSQL sends no further than the buffers between
//! us hold, so nothing is gathered here; but the connection is taken until the last row, and so
//! streams are limited, also for each account.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::future::{FutureExt, join};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{Row, RowStream};

use super::client::DbClient;
use super::db::{Db, Params, Statement, start};
use super::pool::Pooled;
use super::retry::{Failure, Retry, Timeout, store_error};
use crate::domain::AccountId;
use crate::limits::{STREAM_WAIT, STREAMS_PER_ACCOUNT};
use crate::store::StoreError;

/// `statement_timeout` would count the time of a slow reader; each row has a limit instead.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 0";
const END: &str = "COMMIT";

/// How many streams there may be at once. Whoever waits longest is next.
#[derive(Clone, Debug)]
pub(super) struct StreamPermits {
    all: Arc<Semaphore>,
    /// Of accounts that have a stream or wait for one.
    accounts: Arc<Mutex<HashMap<i64, Arc<Semaphore>>>>,
}

/// A stream of an account, counted while this lives.
type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl StreamPermits {
    pub(super) fn new(streams: usize) -> Self {
        let all = Arc::new(Semaphore::new(streams.max(1)));
        Self { all, accounts: Arc::default() }
    }

    async fn acquire(&self, account: AccountId) -> Result<Permits, StoreError> {
        let own = self.account(account);
        // The account's first: who waits for that keeps no one else waiting.
        let acquiring =
            async { Ok((own.acquire_owned().await?, self.all.clone().acquire_owned().await?)) };
        match timeout(STREAM_WAIT, acquiring).await {
            Ok(permits) => permits
                .map_err(|closed: tokio::sync::AcquireError| StoreError::Broken(closed.into())),
            Err(_) => {
                let cause = "too many vaults are being read at once";
                Err(StoreError::Unavailable(cause.into()))
            }
        }
    }

    fn account(&self, account: AccountId) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|_, permits| Arc::strong_count(permits) > 1);
        let permits = accounts.entry(account.0);
        permits.or_insert_with(|| Arc::new(Semaphore::new(STREAMS_PER_ACCOUNT))).clone()
    }
}

/// The rows of a statement, one by one.
pub(super) struct RowCursor {
    client: Pooled,
    rows: Pin<Box<RowStream>>,
    ended: bool,
    /// For a row.
    limit: Duration,
    _permits: Permits,
}

impl Db {
    /// The first row of a caller's statement, and all others.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`], [`StoreError::Unavailable`], also if too many streams last
    /// too long, and [`StoreError::Broken`].
    pub(super) async fn cursor_of_caller(
        &self,
        account: AccountId,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<(Row, RowCursor), StoreError> {
        let permits = self.streams.acquire(account).await?;
        let mut retry = Retry::new(statement);
        let (client, (rows, first)) = loop {
            let (began, client) = (Instant::now(), self.own(&mut retry).await?);
            let guard = client.abandon_on_drop();
            let begun = timeout(self.limit, begin(&client, statement, params)).await;
            match begun.unwrap_or_else(|_| Err(Failure::timeout(self.limit))) {
                Ok(begun) => {
                    guard.ended();
                    break (client, begun);
                }
                Err(failure) => {
                    // Parts of the transaction may still be to come.
                    drop(guard);
                    self.clean_up(&client, &failure, began);
                    retry.after(failure).await?;
                }
            }
        };
        let (ended, limit) = (first.is_none(), self.limit);
        let cursor = RowCursor { client, rows, ended, limit, _permits: permits };
        first.map(|first| (first, cursor)).ok_or(StoreError::KeyRevoked)
    }
}

/// Everything is sent at once, so that it costs one round trip; the answers come in order.
async fn begin(
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

impl RowCursor {
    /// The next row, or none after the last.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`]; no row follows.
    pub(super) async fn next(&mut self) -> Result<Option<Row>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let row = timeout(self.limit, self.rows.try_next()).await;
        let row = row.map_err(|_| StoreError::Unavailable(Box::new(Timeout(self.limit))))?;
        let row = row.map_err(store_error)?;
        self.ended = row.is_none();
        Ok(row)
    }
}

impl Drop for RowCursor {
    /// With rows still to come, the connection's next user would have to wait for all of them.
    fn drop(&mut self) {
        if !self.ended {
            self.client.abandon();
        }
    }
}
