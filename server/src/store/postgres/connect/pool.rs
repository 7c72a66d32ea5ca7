//! Connections that are kept for the next step.
//!
//! What statements they have prepared is kept with them, for as long as they live.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{
    Manager, Metrics, Object, Pool as AnyPool, QueueMode, RecycleError, RecycleResult,
};
use deadpool_postgres::ClientWrapper;

use super::connector::{Connector, NoConnection};

/// How long a step waits for a connection, whatever for.
pub(in crate::store::postgres) const PATIENCE: Duration = Duration::from_secs(4);

/// Connections, some of them idle.
pub(in crate::store::postgres) type Pool = AnyPool<Keeper>;

/// A connection that goes back when it is dropped.
pub(in crate::store::postgres) type Pooled = Object<Keeper>;

/// Why there is no connection.
pub(in crate::store::postgres) type PoolError = deadpool::managed::PoolError<NoConnection>;

/// Makes connections for the pool and looks them over.
#[derive(Debug)]
pub(in crate::store::postgres) struct Keeper(Connector);

/// A connection, and whether it has had its last statement.
#[derive(Debug)]
pub(in crate::store::postgres) struct Kept {
    client: ClientWrapper,
    spent: AtomicBool,
}

/// A pool of at most this many connections. The one that came back last is the next
/// to go out, so that a few are busy, here and in the database, and not all in turn.
///
/// # Errors
/// None that is known of.
pub(super) fn pool(
    connector: Connector,
    connections: usize,
) -> Result<Pool, deadpool::managed::BuildError> {
    Pool::builder(Keeper(connector))
        .max_size(connections)
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .build()
}

impl Kept {
    /// Nobody gets it from the pool any more.
    pub(in crate::store::postgres) fn spend(&self) {
        self.spent.store(true, Ordering::Relaxed);
    }

    pub(in crate::store::postgres) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }
}

impl Deref for Kept {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        &mut self.client
    }
}

impl Manager for Keeper {
    type Type = Kept;
    type Error = NoConnection;

    async fn create(&self) -> Result<Kept, NoConnection> {
        // Apart, or every step would carry room for the making of a connection.
        let (client, driving) = Box::pin(self.0.connect()).await?;
        let client = ClientWrapper::new(client, driving);
        Ok(Kept { client, spent: AtomicBool::new(false) })
    }

    /// Costs nothing: whether it still works shows when it is used, and a step
    /// knows what to do if it does not.
    async fn recycle(&self, kept: &mut Kept, _: &Metrics) -> RecycleResult<NoConnection> {
        match kept.is_closed() || kept.is_spent() {
            true => Err(RecycleError::message("closed")),
            false => Ok(()),
        }
    }
}
