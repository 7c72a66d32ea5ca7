//! Accepts connections, limits their number, and drains them at shutdown.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::api::memory_quotas;
use crate::limits;
use crate::quota::{Permit, Quota};
use crate::serve::connection::{HeadMemory, serve_connection};

pub use crate::serve::connection::{HttpService, ListenerLimits};

impl ListenerLimits {
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

    /// How many connections one address may have.
    fn per_address(&self) -> usize {
        match self.connections_per_address {
            Some(0) => self.connections_max,
            Some(number) => number,
            None => self.connections_max.div_ceil(2),
        }
    }
}

/// What the clients of a listener share.
#[derive(Clone, Debug)]
pub struct ListenerQuotas {
    pub(crate) connections: Quota,
    /// For large request heads.
    pub(crate) memory: Quota,
}

impl Default for ListenerQuotas {
    fn default() -> Self {
        Self {
            connections: Quota::new("connections", "the connections", 1, 1),
            memory: memory_quotas(limits::MEMORY_BUDGET_MIB << 20).1,
        }
    }
}

/// Serves HTTP/1.1 and HTTP/2 (with prior knowledge) until `stop` is ready, then drains: lets
/// requests in flight end. Returns how many connections were cut because the drain timeout ran out.
pub async fn serve(
    listener: TcpListener,
    service: impl HttpService,
    limits: ListenerLimits,
    quotas: ListenerQuotas,
    stop: impl Future<Output = ()>,
) -> usize {
    let ListenerQuotas { connections, memory } = quotas;
    connections.resize(limits.connections_max, limits.per_address());
    let builder = Arc::new(protocol());
    let (drain, draining) = watch::channel(());
    let (mut tasks, last) = (JoinSet::new(), Mutex::new(None::<Instant>));

    let mut stop = pin!(async {
        stop.await;
        let is_quiet = last.lock().is_none_or(|last| last.elapsed() > limits::DRAIN_QUIET);
        if connections.usage().used > 0 || !is_quiet {
            let seconds = limits.drain_delay.as_secs();
            tracing::info!(seconds, "serving for the drain delay, while /readyz answers 503");
            sleep(limits.drain_delay).await;
        }
    });
    loop {
        let (stream, peer, permit) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        while tasks.try_join_next().is_some() {}
        *last.lock() = Some(Instant::now());
        let Some(permit) = permit else { continue };
        let (builder, service, draining) = (builder.clone(), service.clone(), draining.clone());
        let heads = HeadMemory::new(memory.clone(), peer);
        tasks.spawn(async move {
            serve_connection(stream, peer, builder, service, limits, heads, draining).await;
            drop(permit);
        });
    }
    // From here on the system refuses connections, so that clients try another server.
    drop(listener);
    drop(drain);
    let all = async { while tasks.join_next().await.is_some() {} };
    // What has not ended in time is cut.
    let _ = timeout(limits.drain_timeout, all).await;
    tasks.len()
}

fn protocol() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `serve_connection` has timeouts for heads and idle connections of its own.
    builder.http1().header_read_timeout(None).max_buf_size(limits::HEAD_BYTES_MAX);
    builder
        .http2()
        .max_concurrent_streams(limits::STREAMS_MAX)
        .initial_stream_window_size(limits::STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::STREAMS_MAX * limits::STREAM_WINDOW_BYTES);
    builder
}

/// The next connection, and its permit unless its address has too many. A failure to accept is
/// retried, never returned: a server that stops accepting when descriptors run out would not
/// recover.
async fn accept(
    listener: &TcpListener,
    connections: &Quota,
) -> (TcpStream, IpAddr, Option<Permit>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // While there are as many as there may be, the next ones wait in the system's queue.
                let permit = connections.acquire_share(peer.ip()).await;
                return (stream, peer.ip(), permit.ok());
            }
            Err(error) if is_peer_failure(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection could be accepted; trying again");
                sleep(limits::ACCEPT_RETRY_PAUSE).await;
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
        let connections_max =
            |descriptors| ListenerLimits::default().within(descriptors).connections_max;
        assert_eq!(connections_max(1_024), 768);
        assert_eq!(connections_max(64), 1);
        assert_eq!(connections_max(u64::MAX), limits::CONNECTIONS_MAX);
    }
}
