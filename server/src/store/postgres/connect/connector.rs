//! Making one connection: the servers of an address in turn, until one lets us in.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::DatabaseUrl;
use super::security::{Security, SecurityError};
use super::server::Server;

/// The side of a connection that has to be driven.
type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Makes connections. Cheap to clone.
#[derive(Clone)]
pub(in crate::store::postgres) struct Connector(Arc<Parts>);

struct Parts {
    servers: Vec<Server>,
    shuffled: bool,
    security: Security,
    tls: MakeRustlsConnect,
    /// The server to begin with: the one that let us in last, so that one that is
    /// down costs its time limit once and not with every connection.
    first: AtomicUsize,
}

/// No server let us in.
#[derive(Debug)]
pub struct NoConnection(Vec<Refusal>);

#[derive(Debug)]
struct Refusal {
    server: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Silent(Duration),
    Said(Error),
}

impl Connector {
    /// # Errors
    /// If connections cannot be secured as the address asks.
    pub(in crate::store::postgres) fn new(url: &DatabaseUrl) -> Result<Self, SecurityError> {
        let tls = url.security.connector()?;
        let (servers, security) = (url.servers.clone(), url.security.clone());
        let first = AtomicUsize::new(0);
        Ok(Self(Arc::new(Parts { servers, shuffled: url.shuffled, security, tls, first })))
    }

    /// A connection that goes on by itself.
    ///
    /// # Errors
    /// If no server lets us in.
    pub(in crate::store::postgres) async fn connect(
        &self,
    ) -> Result<(Client, JoinHandle<()>), NoConnection> {
        let (client, wire) = self.dial().await?;
        let driving = tokio::spawn(async move {
            if let Err(error) = wire.await {
                tracing::debug!(error = %told(&error), "a connection to the database broke");
            }
        });
        Ok((client, driving))
    }

    /// A connection, and its other side for whoever wants to hear what comes
    /// without being asked for.
    ///
    /// # Errors
    /// If no server lets us in.
    pub(in crate::store::postgres) async fn dial(&self) -> Result<(Client, Wire), NoConnection> {
        let Parts { servers, shuffled, first, .. } = &*self.0;
        let start = match shuffled {
            true => rand::random_range(0..servers.len()),
            false => first.load(Ordering::Relaxed),
        };
        let mut refusals = Vec::new();
        for step in 0..servers.len() {
            let index = (start + step) % servers.len();
            let server = &servers[index];
            // Also for whoever loses patience with us meanwhile, and comes again.
            first.store((index + 1) % servers.len(), Ordering::Relaxed);
            // Large, and seldom needed.
            match Box::pin(self.enter_in_time(server)).await {
                Ok(connected) => {
                    first.store(index, Ordering::Relaxed);
                    return Ok(connected);
                }
                Err(reason) => refusals.push(Refusal { server: server.to_string(), reason }),
            }
        }
        Err(NoConnection(refusals))
    }

    async fn enter_in_time(&self, server: &Server) -> Result<(Client, Wire), Reason> {
        let entering = self.enter(server);
        match server.limit {
            None => entering.await.map_err(Reason::Said),
            Some(limit) => match timeout(limit, entering).await {
                Ok(outcome) => outcome.map_err(Reason::Said),
                Err(_) => Err(Reason::Silent(limit)),
            },
        }
    }

    async fn enter(&self, server: &Server) -> Result<(Client, Wire), Error> {
        let (last, tries) = match self.0.security.tries(server.local) {
            [tries @ .., last] => (*last, tries),
            [] => (SslMode::Require, &[][..]),
        };
        for mode in tries {
            match server.with(*mode).connect(self.0.tls.clone()).await {
                Err(error) if wants_other_security(&error) => {}
                outcome => return outcome,
            }
        }
        server.with(last).connect(self.0.tls.clone()).await
    }
}

/// Whether it may be for the TLS or the lack of it that we were not let in.
fn wants_other_security(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
        || causes(error).any(|cause| {
            let io = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            io.is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
        })
}

impl NoConnection {
    /// Whether a server has no connection left, so that it is worth to wait a moment.
    pub(in crate::store::postgres) fn is_crowded(&self) -> bool {
        let full = |reason: &Reason| match reason {
            Reason::Said(error) => error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS),
            Reason::Silent(_) => false,
        };
        self.0.iter().any(|refusal| full(&refusal.reason))
    }
}

impl fmt::Display for NoConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no connection to the database: ")?;
        for (place, Refusal { server, reason }) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "; " };
            match reason {
                Reason::Silent(limit) => {
                    write!(f, "{comma}{server} was silent for {} s", limit.as_secs())?;
                }
                Reason::Said(error) => write!(f, "{comma}{server}: {}", told(error))?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for NoConnection {}

/// What is behind an error of the driver, in one line: its own words, or those of
/// the server or the system, without what was said on the way.
fn told(error: &Error) -> String {
    let cause = causes(error).last().map(ToString::to_string);
    let cause = error.as_db_error().map(|error| error.message().to_owned()).or(cause);
    match cause {
        Some(cause) => cause,
        None => error.to_string(),
    }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |cause| cause.source())
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}
