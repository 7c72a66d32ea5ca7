//! Opening a connection to the first host that accepts it.

use std::fmt;
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
use super::tls::TlsError;
use super::url::DatabaseUrl;

/// Opens connections. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connector(Arc<Inner>);

struct Inner {
    url: DatabaseUrl,
    tls: MakeRustlsConnect,
    /// The host to begin with: the one that accepted a connection last, so that a host that is
    /// down costs its timeout once and not for every connection.
    first: AtomicUsize,
}

/// Why no host accepted a connection: one line, each host with its reason.
#[derive(Debug)]
pub struct Unreachable(Vec<(String, Reason)>);

#[derive(Debug)]
enum Reason {
    Timeout(Duration),
    Failed(Error),
}

impl Connector {
    /// # Errors
    /// If TLS cannot be set up as the address asks.
    pub(super) fn new(url: DatabaseUrl) -> Result<Self, TlsError> {
        let (tls, first) = (url.tls.connector()?, AtomicUsize::new(0));
        Ok(Self(Arc::new(Inner { url, tls, first })))
    }

    /// # Errors
    /// If no host accepts a connection.
    pub(super) async fn connect(&self) -> Result<DbClient, Unreachable> {
        self.connect_and_listen(Arc::default()).await
    }

    /// A connection whose notifications are passed on.
    ///
    /// # Errors
    /// If no host accepts a connection.
    pub(super) async fn connect_and_listen(
        &self,
        notified: Arc<Notify>,
    ) -> Result<DbClient, Unreachable> {
        let Inner { url: DatabaseUrl { hosts, connect_timeout, .. }, first, .. } = &*self.0;
        let start = first.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for index in (start..start + hosts.len()).map(|index| index % hosts.len()) {
            let name = &hosts[index].0;
            // Also for a caller that stops waiting, and tries again.
            first.store((index + 1) % hosts.len(), Ordering::Relaxed);
            // A large future that is seldom needed.
            let connecting = Box::pin(self.connect_host(index, notified.clone()));
            let limit = connect_timeout.unwrap_or(Duration::MAX);
            match timeout(limit, connecting).await {
                Ok(Ok(client)) => {
                    first.store(index, Ordering::Relaxed);
                    return Ok(client);
                }
                Ok(Err(error)) => reasons.push((name.clone(), Reason::Failed(error))),
                Err(_) => reasons.push((name.clone(), Reason::Timeout(limit))),
            }
        }
        Err(Unreachable(reasons))
    }

    async fn connect_host(&self, index: usize, notified: Arc<Notify>) -> Result<DbClient, Error> {
        let Inner { url, tls, .. } = &*self.0;
        let (client, connection) = url.hosts[index].1.connect(tls.clone()).await?;
        let driver = tokio::spawn(drive(connection, notified));
        let client = DbClient::new(client, tls.clone(), driver);
        client.batch_execute(&url.session).await?;
        Ok(client)
    }
}

/// Moves bytes until the connection ends.
async fn drive(
    mut connection: Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
    notified: Arc<Notify>,
) {
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => notified.notify_one(),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                let error = cause(&error);
                return tracing::debug!(error, "a connection to the database broke");
            }
            None => return,
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no connection to the database: ")?;
        for (index, (host, reason)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            match reason {
                Reason::Timeout(limit) => {
                    write!(f, "{separator}{host} did not answer for {} s", limit.as_secs())?;
                }
                Reason::Failed(error) => write!(f, "{separator}{host}: {}", cause(error))?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Unreachable {}

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

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connector").field(&self.0.url).finish()
    }
}

#[cfg(test)]
mod tests;
