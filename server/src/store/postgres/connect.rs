//! The connections of a store: opening one, the pool, and the shared clients.
//!
//! A pool holds connections for statements that need one of their own. A few shared clients
//! send many short statements without waiting for one another (pipelining), which costs fewer
//! wake-ups on both sides. A connection answers in the order of its statements, so only short
//! statements that wait for no locks may be sent over a shared one; `statement_timeout` is the
//! limit.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadpool::managed::{self, Manager, Metrics, QueueMode, RecycleError, RecycleResult};
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::client::DbClient;
use super::url::DatabaseUrl;
use crate::store::Cause;

/// Connections for one statement at a time.
pub(super) type Pool = managed::Pool<Connector>;

/// A connection that goes back to the pool when it is dropped.
pub(super) type Pooled = managed::Object<Connector>;

/// Opens connections, to the first host that accepts one. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connector {
    url: Arc<DatabaseUrl>,
    tls: MakeRustlsConnect,
    /// The host to begin with: the one that accepted a connection last, so that a host that is
    /// down costs its timeout once and not for every connection.
    first: Arc<AtomicUsize>,
}

/// No host accepted a connection: one line, each host with its reason.
#[derive(Debug, thiserror::Error)]
#[error("no connection to the database: {0}")]
pub struct Unreachable(String);

impl Connector {
    /// Fails if TLS cannot be set up as the address asks.
    pub(super) fn new(url: &DatabaseUrl) -> Result<Self, Cause> {
        let tls = url.tls.connector()?;
        Ok(Self { url: Arc::new(url.clone()), tls, first: Arc::default() })
    }

    pub(super) async fn connect(&self) -> Result<DbClient, Unreachable> {
        self.connect_and_listen(Arc::default()).await
    }

    /// A connection whose notifications are passed on.
    pub(super) async fn connect_and_listen(
        &self,
        notified: Arc<Notify>,
    ) -> Result<DbClient, Unreachable> {
        let DatabaseUrl { hosts, connect_timeout, .. } = &*self.url;
        let limit = if connect_timeout.is_zero() { Duration::MAX } else { *connect_timeout };
        let start = self.first.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for index in (start..start + hosts.len()).map(|index| index % hosts.len()) {
            // Also for a caller that stops waiting, and tries again.
            self.first.store((index + 1) % hosts.len(), Ordering::Relaxed);
            // A large future that is seldom needed.
            let connecting = Box::pin(self.connect_host(index, notified.clone()));
            let host = &hosts[index].0;
            match timeout(limit, connecting).await {
                Ok(Ok(client)) => {
                    self.first.store(index, Ordering::Relaxed);
                    return Ok(client);
                }
                Ok(Err(error)) => reasons.push(format!("{host}: {}", cause(&error))),
                Err(_) => reasons.push(format!("{host} did not answer for {} s", limit.as_secs())),
            }
        }
        Err(Unreachable(reasons.join("; ")))
    }

    async fn connect_host(&self, index: usize, notified: Arc<Notify>) -> Result<DbClient, Error> {
        let (client, connection) = self.url.hosts[index].1.connect(self.tls.clone()).await?;
        let client = DbClient::new(client, self.tls.clone(), drive(connection, notified));
        client.batch_execute(&self.url.session()).await?;
        Ok(client)
    }
}

/// Moves bytes until the connection ends.
async fn drive(
    mut connection: Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
    notified: Arc<Notify>,
) {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(_)) => notified.notify_one(),
            Ok(_) => {}
            Err(error) => {
                let error = cause(&error);
                return tracing::debug!(error, "a connection to the database broke");
            }
        }
    }
}

/// The innermost cause of an error of the driver: what the server or the system says.
pub(super) fn cause(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

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

#[cfg(test)]
mod tests;
