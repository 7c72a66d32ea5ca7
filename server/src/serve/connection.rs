//! One connection: serves it with hyper, and closes it when the peer is idle or slow.
//!
//! hyper's own timers cannot tell an idle connection from a slow head, count a PING as activity,
//! and never end a write. So the socket and the requests report to one [`ConnectionActivity`],
//! which a single timer per connection reads.

mod activity;
mod frames;

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
#[cfg(not(unix))]
use tokio::net::{TcpListener as LocalListener, TcpStream as LocalStream};
#[cfg(unix)]
use tokio::net::{UnixListener as LocalListener, UnixStream as LocalStream};
use tokio::sync::watch;
use tokio::time::{Instant, interval};
use tokio_util::either::Either;

use self::activity::{ConnectionActivity, IDLE, InFlight, TrackedStream};
use crate::http::body;
use crate::http::response::{Response, ResponseBody, ResponseBodyError};
use crate::limits::CONNECTIONS_MAX;
use crate::quota::Quota;
use crate::store::time_budget;

/// Of TCP, or of a Unix socket, whose clients have no address.
pub(crate) type Listener = Either<TcpListener, LocalListener>;
pub(crate) type Socket = Either<TcpStream, LocalStream>;

/// Handles the requests of one listener.
pub trait HttpService: Clone + Send + Sync + 'static {
    /// Handles one request of this peer, which may be a proxy.
    fn handle(
        &self,
        parts: &Parts,
        body: &mut Incoming,
        peer: IpAddr,
    ) -> impl Future<Output = Response> + Send;
}

/// Limits of a listener, and how long a connection may go without progress, by what it waits for.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// Concurrent connections. Further ones wait in the system's queue.
    pub connections_max: usize,
    /// Concurrent connections of one address. Further ones are closed. `None` is half of all, and
    /// zero is all: behind a proxy all clients have its address.
    pub connections_per_address: Option<usize>,
    /// Between the request to stop, from which on `/readyz` answers 503, and the end of accepting,
    /// for a balancer to notice. A server to which none is connected does not wait.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that, within the 30 seconds of Kubernetes.
    pub drain_timeout: Duration,
    /// A request head, from its first byte; also a new connection until its first request.
    pub head_timeout: Duration,
    /// Without a request. Longer than that of load balancers, which must close first.
    pub idle_timeout: Duration,
    /// Response bytes that wait for the peer to read 16 KiB.
    pub write_stall_timeout: Duration,
    /// An HTTP/2 request that transfers less than 16 KiB. Longer than any wait inside.
    pub request_stall_timeout: Duration,
    /// A connection after the server has started to close it.
    pub close_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            connections_per_address: None,
            drain_delay: Duration::from_secs(5),
            drain_timeout: Duration::from_secs(15),
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_stall_timeout: Duration::from_secs(30),
            request_stall_timeout: Duration::from_secs(120),
            close_timeout: Duration::from_secs(10),
        }
    }
}

/// Serves one connection until it ends or stalls. When `drain` closes, requests are completed.
pub(super) async fn serve_connection(
    stream: Socket,
    peer: IpAddr,
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: impl HttpService,
    limits: ListenerLimits,
    unread: Quota,
    mut drain: watch::Receiver<()>,
) {
    // Small responses go out at once. A failure only costs time.
    if let Either::Left(tcp) = &stream {
        let _ = tcp.set_nodelay(true);
    }
    let activity = Arc::new(Mutex::new(ConnectionActivity::new(unread, peer)));
    let requests = activity.clone();
    let answer = service_fn(move |request: Request<Incoming>| {
        let (parts, mut request_body) = request.into_parts();
        let in_flight = InFlight::begin(&requests, parts.version);
        let service = service.clone();
        // In a box, so that an idle connection has no memory for a request.
        Box::pin(async move {
            let response = service.handle(&parts, &mut request_body, peer);
            let response = time_budget::of_request(response).await;
            if parts.version < Version::HTTP_2 {
                body::discard(request_body);
            }
            Ok::<_, Infallible>(response.map(|body| tracked(body, in_flight)))
        })
    });
    let stream = TrackedStream { stream, activity: activity.clone() };
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let mut check = interval(Duration::from_secs(1));
    let (mut draining, mut closing_since) = (false, None::<Instant>);
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error, "a connection ended early");
                }
                return;
            }
            _ = drain.changed(), if !draining => {
                draining = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = check.tick() => {
                let Some(reason) = activity.lock().overdue(&limits) else { continue };
                let closes = closing_since.get_or_insert_with(Instant::now).elapsed();
                if reason != IDLE || closes > limits.close_timeout {
                    tracing::debug!(reason, "a connection is cut");
                    return;
                }
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Keeps the request in flight until hyper drops the body of its response.
fn tracked(
    body: ResponseBody,
    in_flight: InFlight,
) -> impl Body<Data = Bytes, Error = ResponseBodyError> + Send + 'static {
    body.map_err(move |_| {
        let _ = &in_flight;
        ResponseBodyError
    })
}

#[cfg(test)]
mod tests;
