//! Rows that are read as they come, by somebody who may take long over them.
//!
//! They come on a connection of their own. PostgreSQL sends no further than the
//! buffers between us hold, so that nothing is gathered here; but the connection
//! is taken until the last row, and only some of all may be.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::Object;
use futures::TryStreamExt;
use futures::future::{FutureExt, join};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{Row, RowStream};

use super::fault::{Fault, told};
use super::{Db, Line, Params, Statement};
use crate::store::StoreError;
use crate::store::postgres::connect::{Pool, Pooled};

/// How long a flow waits for one before it to end.
const WAIT: Duration = Duration::from_secs(5);

/// A statement's time is that of its reader too, so it has no limit of its own here:
/// each row has one.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 0";
const END: &str = "COMMIT";

/// How many flows there may be at once. Whoever waits longest is next.
#[derive(Clone, Debug)]
pub(super) struct Places(Arc<Semaphore>);

impl Places {
    /// Half of a pool's connections, so that slow readers leave the rest to
    /// everybody else.
    pub(super) fn of(pool: &Pool) -> Self {
        Self(Arc::new(Semaphore::new((pool.status().max_size / 2).max(1))))
    }

    async fn take(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        match timeout(WAIT, Arc::clone(&self.0).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(closed)) => Err(StoreError::Broken(closed.into())),
            Err(late) => Err(StoreError::Unavailable(late.into())),
        }
    }
}

/// The rows of a statement, one by one.
pub(in crate::store::postgres) struct Flow {
    /// There until this is dropped.
    client: Option<Pooled>,
    rows: Pin<Box<RowStream>>,
    ended: bool,
    /// For a row.
    limit: Duration,
    _place: OwnedSemaphorePermit,
}

impl Db {
    /// The first row of a caller's statement, and all others.
    ///
    /// # Errors
    /// [`StoreError::KeyRevoked`], [`StoreError::Unavailable`], also if too many
    /// flows last too long, and [`StoreError::Broken`].
    pub(in crate::store::postgres) async fn flow_of_caller(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<(Row, Flow), StoreError> {
        let place = self.flows.take().await?;
        let mut attempts = self.attempts(statement);
        let (client, rows, first) = loop {
            let client = attempts.own().await?;
            match self.within(begin(&client, statement, params)).await {
                Ok((rows, first)) => break (client, rows, first),
                Err(fault) => attempts.after(Line::of(client), fault).await?,
            }
        };
        let ended = first.is_none();
        let limit = self.limit;
        let flow = Flow { client: Some(client), rows, ended, limit, _place: place };
        first.map(|first| (first, flow)).ok_or(StoreError::KeyRevoked)
    }
}

/// All is sent in one go, so that it costs one round trip; what each is answered
/// comes in the order they were sent.
async fn begin(
    client: &Pooled,
    statement: &Statement,
    params: Params<'_>,
) -> Result<(Pin<Box<RowStream>>, Option<Row>), Fault> {
    let prepared = client.prepare_cached(statement.sql).await.map_err(Fault::unsent)?;
    let querying = client.query_raw(&prepared, params.iter().copied());
    let (begun, rows) = join(client.batch_execute(BEGIN), querying).await;
    // It is sent when it is first looked at; what becomes of it nobody needs to know.
    let _ = client.batch_execute(END).now_or_never();
    begun.map_err(Fault::sent)?;
    let mut rows = Box::pin(rows.map_err(Fault::sent)?);
    let first = rows.try_next().await.map_err(Fault::sent)?;
    Ok((rows, first))
}

impl Flow {
    /// The next row, or none after the last.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`]; no row follows.
    pub(in crate::store::postgres) async fn next(&mut self) -> Result<Option<Row>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let waiting = timeout(self.limit, self.rows.try_next()).await;
        let row = waiting.map_err(|_| Fault::silence(self.limit).told())?.map_err(told)?;
        self.ended = row.is_none();
        Ok(row)
    }
}

impl Drop for Flow {
    /// A connection with rows still to come is closed: back in the pool, its next
    /// user would have to wait for all of them.
    fn drop(&mut self) {
        if let Some(client) = self.client.take()
            && !self.ended
        {
            drop(Object::take(client));
        }
    }
}
