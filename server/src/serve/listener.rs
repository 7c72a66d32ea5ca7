//! Accepts connections, limits their number, and drains them at shutdown.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::api::Readiness;
use crate::limits;
use crate::serve::connection::{HeadBudget, serve_connection};
use crate::serve::connection_count::ConnectionCount;

pub(crate) use crate::serve::connection::ConnectionTimeouts;
pub use crate::serve::connection::HttpService;

/// Limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Concurrent connections. Further ones wait in the system's queue.
    pub connections_max: usize,
    /// Concurrent connections of one address. Further ones are closed; zero is no limit.
    pub connections_per_address: usize,
    /// Between the request to stop, from which on `/readyz` answers 503, and the end of
    /// accepting: time for a balancer to notice. A server to which none is connected does not
    /// wait.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that.
    pub drain_timeout: Duration,
    /// When connections are closed that make no progress.
    pub timeouts: ConnectionTimeouts,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: limits::CONNECTIONS_MAX,
            connections_per_address: 0,
            drain_delay: limits::DRAIN_DELAY,
            drain_timeout: limits::DRAIN_TIMEOUT,
            timeouts: ConnectionTimeouts::default(),
        }
    }
}

impl Limits {
    /// Raises the process's soft limit of file descriptors to the hard one, and lowers
    /// `connections_max` to what it allows.
    #[must_use]
    pub fn within_descriptors(self) -> Self {
        match rlimit::increase_nofile_limit(u64::MAX) {
            Ok(descriptors) => self.within(descriptors),
            Err(error) => {
                tracing::warn!(%error, "the limit of file descriptors is not known");
                self
            }
        }
    }

    fn within(self, descriptors: u64) -> Self {
        let available = descriptors.saturating_sub(limits::DESCRIPTORS_RESERVED).max(1);
        let configured = self.connections_max;
        let connections_max = usize::try_from(available).unwrap_or(usize::MAX).min(configured);
        if connections_max < configured {
            let text =
                "fewer connections than configured: the limit of file descriptors is too low";
            tracing::warn!(connections_max, configured, descriptors, "{text}");
        }
        Self { connections_max, ..self }
    }
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    All,
    /// The drain timeout ran out, and this many connections were cut.
    Cut(usize),
}

/// Serves HTTP/1.1 and HTTP/2 (with prior knowledge) until `stop` is ready, then drains: lets
/// requests in flight end.
pub async fn serve(
    listener: TcpListener,
    service: impl HttpService,
    limits: Limits,
    count: ConnectionCount,
    readiness: Readiness,
    stop: impl Future<Output = ()>,
) -> Drained {
    let permits = Arc::new(Semaphore::new(limits.connections_max));
    let builder = Arc::new(protocol());
    let heads = HeadBudget::default();
    let (drain, draining) = watch::channel(());
    let mut connections = JoinSet::new();

    let mut stop = pin!(async {
        stop.await;
        readiness.stop();
        if !count.is_quiet() {
            let seconds = limits.drain_delay.as_secs();
            tracing::info!(seconds, "serving for the drain delay, while /readyz answers 503");
            sleep(limits.drain_delay).await;
        }
    });
    loop {
        let (stream, permit) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let address = stream.peer_addr().ok().map(|address| address.ip());
        let Some(counted) = count.begin(address, limits.connections_per_address) else {
            continue;
        };
        let (builder, service) = (builder.clone(), service.clone());
        let (heads, draining) = (heads.clone(), draining.clone());
        connections.spawn(async move {
            serve_connection(stream, builder, service, limits.timeouts, heads, draining).await;
            drop((permit, counted));
        });
    }
    // From here on the system refuses connections, so that clients try another server.
    drop(listener);
    drop(drain);
    let drained =
        timeout(limits.drain_timeout, async { while connections.join_next().await.is_some() {} });
    match drained.await {
        Ok(()) => Drained::All,
        Err(_) => Drained::Cut(connections.len()),
    }
}

fn protocol() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `serve_connection` has timeouts for heads and idle connections of its own.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(limits::HEAD_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::STREAMS_MAX)
        .initial_stream_window_size(limits::STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::CONNECTION_WINDOW_BYTES)
        .keep_alive_interval(limits::PING_INTERVAL)
        .keep_alive_timeout(limits::PING_TIMEOUT);
    builder
}

/// The next connection and its permit. A failure to accept is retried, never returned: a
/// server that stops accepting when descriptors run out would not recover.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // `None` only after the semaphore was closed, which never happens.
    let permit = permits.clone().acquire_owned().await.ok();
    let mut pause = limits::ACCEPT_RETRY_MIN;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) if is_peer_failure(&error) => {}
            Err(error) => {
                tracing::warn!(%error, ?pause, "no connection could be accepted; trying again");
                sleep(pause).await;
                pause = (pause * 2).min(limits::ACCEPT_RETRY_MAX);
            }
        }
    }
}

/// The connection broke before it was accepted. The next one need not.
fn is_peer_failure(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_max_stays_below_the_descriptor_limit() {
        let connections_max = |descriptors| Limits::default().within(descriptors).connections_max;
        assert_eq!(connections_max(1_024), 768);
        assert_eq!(connections_max(64), 1);
        assert_eq!(connections_max(u64::MAX), limits::CONNECTIONS_MAX);
    }
}
