//! From an address to a connection, TLS included.
//!
//! The check of where it goes stands here, between the resolving of a name and
//! the connecting, so that there is no way around it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};
use tower_service::Service;

use super::{BoxError, Reach, address};

/// For resolving, connecting and the TLS handshake together.
const LIMIT: Duration = Duration::from_secs(10);

/// Makes connections, for hyper's client.
#[derive(Clone)]
pub(super) struct Dialer(HttpsConnector<Tcp>);

/// Makes bare connections.
#[derive(Clone, Copy)]
struct Tcp {
    reach: Reach,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("{0} is not a public address")]
    NotPublic(String),
    #[error("the name {0} has no address")]
    NoAddress(String),
    #[error("the name {0} cannot be resolved")]
    Unresolved(String, #[source] io::Error),
    #[error("{0} cannot be connected to")]
    Unreachable(String, #[source] io::Error),
    #[error("no connection within {} s", LIMIT.as_secs())]
    TimedOut,
}

type Dialing<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

impl Dialer {
    pub(super) fn new(reach: Reach, tls: &Arc<ClientConfig>) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(ClientConfig::clone(tls))
            .https_or_http()
            .enable_http1()
            .wrap_connector(Tcp { reach });
        Self(connector)
    }
}

impl Service<Uri> for Dialer {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Dialing<Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let dialing = self.0.call(to);
        Box::pin(async {
            timeout(LIMIT, dialing).await.unwrap_or_else(|_| Err(DialError::TimedOut.into()))
        })
    }
}

impl Service<Uri> for Tcp {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Dialing<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let reach = self.reach;
        Box::pin(async move {
            let host = to.host().unwrap_or_default();
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let default_port = if to.scheme_str() == Some("https") { 443 } else { 80 };
            let port = to.port_u16().unwrap_or(default_port);
            let addresses: Vec<_> = lookup_host((bare, port))
                .await
                .map_err(|error| DialError::Unresolved(host.to_owned(), error))?
                .collect();
            let stream = first_of(allowed(host, &addresses, reach)?)
                .await
                .map_err(|error| DialError::Unreachable(host.to_owned(), error))?;
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// The addresses of a host that may be connected to.
fn allowed(
    host: &str,
    addresses: &[SocketAddr],
    reach: Reach,
) -> Result<Vec<SocketAddr>, DialError> {
    let may = |of: &SocketAddr| reach == Reach::Anywhere || address::is_public(of.ip());
    let allowed: Vec<_> = addresses.iter().copied().filter(may).collect();
    match (allowed.is_empty(), addresses.is_empty()) {
        (false, _) => Ok(allowed),
        (true, true) => Err(DialError::NoAddress(host.to_owned())),
        (true, false) => Err(DialError::NotPublic(host.to_owned())),
    }
}

/// Tries addresses one after the other, each for its share of the time left.
async fn first_of(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let end = Instant::now() + LIMIT;
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    for (left, address) in (1..=count).rev().zip(addresses) {
        let share = end.saturating_duration_since(Instant::now()) / left;
        match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
