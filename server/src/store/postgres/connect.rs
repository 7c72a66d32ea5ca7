//! Opening a connection to the first host that accepts it.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::client::DbClient;
use super::url::DatabaseUrl;
use crate::store::Cause;

/// Opens connections. Cheap to clone.
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

#[cfg(test)]
mod tests;
