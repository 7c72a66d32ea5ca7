//! The pool of connections, for statements that need one of their own.

use deadpool::managed::{self, Manager, Metrics, Object, QueueMode, RecycleError, RecycleResult};

use super::client::DbClient;
use super::connect::{Connector, Unreachable};

/// Connections for one statement at a time.
pub(super) type Pool = managed::Pool<PoolManager>;

/// A connection that goes back to the pool when it is dropped.
pub(super) type Pooled = Object<PoolManager>;

/// Opens and checks connections for the pool.
#[derive(Debug)]
pub(super) struct PoolManager(Connector);

/// A pool of at most this many connections. The connection that came back last is used next, so
/// that few are busy, here and in the database.
///
/// # Errors
/// None that is known.
pub(super) fn pool(connector: Connector, connections: usize) -> Result<Pool, managed::BuildError> {
    let pool = Pool::builder(PoolManager(connector)).max_size(connections);
    pool.queue_mode(QueueMode::Lifo).build()
}

impl Manager for PoolManager {
    type Type = DbClient;
    type Error = Unreachable;

    async fn create(&self) -> Result<DbClient, Unreachable> {
        self.0.connect().await
    }

    /// Sends nothing: whether the connection still works shows when it is used, and a statement
    /// is retried if it does not.
    async fn recycle(&self, client: &mut DbClient, _: &Metrics) -> RecycleResult<Unreachable> {
        if client.is_usable() { Ok(()) } else { Err(RecycleError::message("closed")) }
    }
}
