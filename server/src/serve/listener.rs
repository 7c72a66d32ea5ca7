//! Accepts connections, limits their number, and drains them at shutdown.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::either::Either;

use crate::limits;
use crate::quota::{Permit, Quota};
pub(crate) use crate::serve::connection::Listener;
use crate::serve::connection::{Socket, serve_connection};

pub use crate::serve::connection::{HttpService, ListenerLimits};

impl ListenerLimits {
    /// Raises the soft limit of file descriptors, and lowers `connections_max` to it.
    #[must_use]
    pub fn within_descriptors(self) -> Self {
        rlimit::increase_nofile_limit(u64::MAX).map_or(self, |descriptors| self.within(descriptors))
    }

    fn within(self, descriptors: u64) -> Self {
        // Others are for the database, files, S3, and a connection and a file for each worker.
        let available = descriptors.saturating_sub(256).max(1);
        let configured = self.connections_max;
        let connections_max = configured.min(usize::try_from(available).unwrap_or(usize::MAX));
        if connections_max < configured {
            let text =
                "fewer connections than configured: the limit of file descriptors is too low";
            tracing::warn!(connections_max, configured, descriptors, "{text}");
        }
        Self { connections_max, ..self }
    }
}

#[derive(Clone, Debug)]
pub struct ListenerQuotas {
    pub(crate) connections: Quota,
    /// What the kernel holds of responses that are not read.
    pub(crate) unread: Quota,
}

impl Default for ListenerQuotas {
    fn default() -> Self {
        Self {
            connections: Quota::new("connections", "the connections", 1, 1),
            unread: Quota::new(
                "unread_responses",
                "the memory for unread responses",
                limits::UNREAD_BYTES_MAX,
                limits::UNREAD_BYTES_MAX / limits::MEMORY_SHARE_DIVISOR,
            ),
        }
    }
}

/// Serves HTTP/1.1 and HTTP/2 (with prior knowledge) until `stop` is ready, then lets requests in
/// flight end. Returns how many connections were cut because the drain timeout ran out.
pub async fn serve(
    listener: Listener,
    service: impl HttpService,
    limits: ListenerLimits,
    quotas: ListenerQuotas,
    stop: impl Future<Output = ()>,
) -> usize {
    let ListenerQuotas { connections, unread } = quotas;
    let all = limits.connections_max;
    let share = limits.connections_per_address.unwrap_or(all.div_ceil(2));
    connections.resize(all, if share == 0 { all } else { share });
    if share == 0 {
        unread.resize(limits::UNREAD_BYTES_MAX, usize::MAX);
    }
    bound_unsent_bytes(&listener, &limits);
    let builder = Arc::new(protocol());
    let (drain, draining) = watch::channel(());
    let (mut tasks, last) = (JoinSet::new(), Mutex::new(None::<Instant>));

    let mut stop = pin!(async {
        stop.await;
        let is_quiet = last.lock().is_none_or(|last| last.elapsed() > Duration::from_secs(30));
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
        let unread = unread.clone();
        tasks.spawn(async move {
            serve_connection(stream, peer, builder, service, limits, unread, draining).await;
            drop(permit);
        });
    }
    // From here on the system refuses connections, so that clients try another server.
    drop(listener);
    drop(drain);
    let all = async { while tasks.join_next().await.is_some() {} };
    let _ = timeout(limits.drain_timeout, all).await;
    tasks.len()
}

/// Bounds what the kernel takes of a response that is not read, and for how long it keeps that.
/// Bytes on their way are not bounded, so a download over a long distance stays fast.
fn bound_unsent_bytes(listener: &Listener, limits: &ListenerLimits) {
    #[cfg(target_os = "linux")]
    if let Either::Left(listener) = listener {
        let socket = socket2::SockRef::from(listener);
        let set = socket.set_tcp_notsent_lowat(64 * 1024);
        let set = set.and_then(|()| socket.set_tcp_user_timeout(Some(limits.write_stall_timeout)));
        if let Err(error) = set {
            tracing::warn!(%error, "the kernel's memory for unread responses cannot be bounded");
        }
    }
    let _ = (listener, limits);
}

fn protocol() -> auto::Builder<TokioExecutor> {
    /// Concurrent requests on one HTTP/2 connection, and the flow control window of each body.
    const STREAMS_MAX: u32 = 200;
    const WINDOW_BYTES: u32 = 128 * 1024;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `serve_connection` has timeouts for heads and idle connections of its own.
    // A client that ends its sending with its request is answered.
    // S-80 promises 64 KiB for a request head, and that an address of more is 414.
    builder.http1().header_read_timeout(None).half_close(true).max_buf_size(96 * 1024);
    builder
        .http2()
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(STREAMS_MAX * WINDOW_BYTES);
    builder
}

/// The next connection, and its permit unless its address has too many. A failure is retried: a
/// server that stops accepting when descriptors run out would not recover.
async fn accept(listener: &Listener, connections: &Quota) -> (Socket, IpAddr, Option<Permit>) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        let accepted = match listener {
            Either::Left(tcp) => {
                tcp.accept().await.map(|(one, peer)| (Either::Left(one), peer.ip()))
            }
            // All clients of a Unix socket have one address.
            Either::Right(local) => {
                let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
                local.accept().await.map(|(one, _)| (Either::Right(one), nowhere))
            }
        };
        match accepted {
            Ok((stream, peer)) => {
                // While there are as many as there may be, the next ones wait in the system.
                let permit =
                    connections.acquire_within(peer.into(), 1, Duration::ZERO, Duration::MAX).await;
                return (stream, peer, permit.ok());
            }
            // A connection that broke before it was accepted says nothing of the next one.
            Err(error) => match error.kind() {
                ConnectionAborted | ConnectionRefused | ConnectionReset => {}
                _ => {
                    tracing::warn!(%error, "no connection could be accepted; trying again");
                    sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
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
