//! Streams of rows, and connections on which something may be running.

use std::ops::Deref;
use std::pin::Pin;

use futures::TryStreamExt;
use futures::future::{FutureExt, join};
use futures::stream::BoxStream;
use tokio_postgres::{Error, Row, RowStream};

use super::connect::DbClient;
use super::retry::{Params, Statement};

/// `statement_timeout` would count the time of a slow reader; each row has a limit instead.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 0";

/// A connection on which a statement may be running. Dropped meanwhile, as when a client hangs
/// up, it is abandoned: back in the pool, it would make its next user wait for the statement.
pub(super) struct Busy<C: Deref<Target = DbClient>> {
    pub(super) client: C,
    pub(super) running: bool,
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
pub(super) type Rows = BoxStream<'static, crate::store::Result<Row>>;

/// Starts a statement in a transaction of its own, and returns the first row too. Everything is
/// sent at once, so that it costs one round trip; the answers come in order.
pub(super) async fn begin(
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
