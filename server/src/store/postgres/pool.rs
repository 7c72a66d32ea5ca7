//! The connections of a store.
//!
//! A pool holds connections for statements that need one of their own. A few shared clients
//! send many short statements without waiting for one another (pipelining), which costs fewer
//! wake-ups on both sides. A connection answers in the order of its statements, so only short
//! statements that wait for no locks may be sent over a shared one; `statement_timeout` is the
//! limit.

use std::sync::Arc;
use std::time::Instant;

use deadpool::managed::{self, Manager, Metrics, QueueMode, RecycleError, RecycleResult};
use tokio::sync::Mutex;

use super::client::DbClient;
use super::connect::{Connector, Unreachable};

/// Connections for one statement at a time.
pub(super) type Pool = managed::Pool<Connector>;

/// A connection that goes back to the pool when it is dropped.
pub(super) type Pooled = managed::Object<Connector>;

/// A pool of at most this many connections. The connection that came back last is used next, so
/// that few are busy, here and in the database.
pub(super) fn pool(connector: Connector, size: usize) -> Result<Pool, managed::BuildError> {
    Pool::builder(connector).max_size(size).queue_mode(QueueMode::Lifo).build()
}

impl Manager for Connector {
    type Type = DbClient;
    type Error = Unreachable;

    async fn create(&self) -> Result<DbClient, Unreachable> {
        self.connect().await
    }

    /// Sends nothing: whether the connection still works shows when it is used, and a statement
    /// is retried if it does not.
    async fn recycle(&self, client: &mut DbClient, _: &Metrics) -> RecycleResult<Unreachable> {
        if client.is_usable() { Ok(()) } else { Err(RecycleError::message("closed")) }
    }
}

/// Connections for many statements at a time. Cheap to clone.
#[derive(Clone)]
pub(super) struct SharedClients {
    connector: Connector,
    slots: Arc<[Slot]>,
}

#[derive(Default)]
struct Slot {
    /// Counted by its references: one for each statement that runs or waits for the connection.
    users: Arc<()>,
    /// Locked while connecting, so that a slot opens one connection at a time.
    client: Mutex<Option<Arc<DbClient>>>,
}

/// A shared client, and the reference that counts its use.
pub(super) type SharedClient = (Arc<DbClient>, Arc<()>);

impl SharedClients {
    pub(super) fn new(connector: Connector, size: usize) -> Self {
        Self { connector, slots: std::iter::repeat_with(Slot::default).take(size).collect() }
    }

    /// The client with the fewest statements, connected if it is not; another one if no host
    /// accepts a connection.
    pub(super) async fn get(&self) -> Result<SharedClient, Unreachable> {
        let least =
            (0..self.slots.len()).min_by_key(|at| Arc::strong_count(&self.slots[*at].users));
        let slot = &self.slots[least.unwrap_or(0)];
        let user = slot.users.clone();
        let mut current = slot.client.lock().await;
        if let Some(client) = current.as_ref().filter(|client| client.is_usable()) {
            return Ok((client.clone(), user));
        }
        match self.connector.connect().await {
            Ok(client) => Ok((current.insert(Arc::new(client)).clone(), user)),
            Err(error) => {
                drop(current);
                self.slots.iter().find_map(Slot::connected).ok_or(error)
            }
        }
    }

    /// Forgets connections that were opened before `moment`: what broke one broke all.
    pub(super) fn discard_opened_before(&self, moment: Instant) {
        for slot in &*self.slots {
            // A slot that is locked is connecting.
            if let Ok(mut client) = slot.client.try_lock() {
                client.take_if(|client| client.created < moment);
            }
        }
    }
}

impl Slot {
    fn connected(&self) -> Option<SharedClient> {
        let client = self.client.try_lock().ok()?.clone().filter(|client| client.is_usable())?;
        Some((client, self.users.clone()))
    }
}
