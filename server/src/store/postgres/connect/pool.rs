//! Connections that are kept for the next step.
//!
//! What statements they have prepared is kept with them, for as long as they live.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, Pool as AnyPool, RecycleError, RecycleResult};
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

/// A pool of at most this many connections.
///
/// # Errors
/// None that is known of.
pub(super) fn pool(
    connector: Connector,
    connections: usize,
) -> Result<Pool, deadpool::managed::BuildError> {
    Pool::builder(Keeper(connector))
        .max_size(connections)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .build()
}

impl Manager for Keeper {
    type Type = ClientWrapper;
    type Error = NoConnection;

    async fn create(&self) -> Result<ClientWrapper, NoConnection> {
        // Apart, or every step would carry room for the making of a connection.
        let (client, driving) = Box::pin(self.0.connect()).await?;
        Ok(ClientWrapper::new(client, driving))
    }

    /// Costs nothing: whether it still works shows when it is used, and a step
    /// knows what to do if it does not.
    async fn recycle(
        &self,
        client: &mut ClientWrapper,
        _: &Metrics,
    ) -> RecycleResult<NoConnection> {
        match client.is_closed() {
            true => Err(RecycleError::message("closed")),
            false => Ok(()),
        }
    }
}
