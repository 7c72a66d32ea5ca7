//! Sockets: accepting connections, keeping them within limits, and letting them
//! end in peace.
//!
//! It takes a bound listener, a function that answers requests, and a future
//! that says when to stop. What a request means is for `app`.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::http::readiness::Readiness;
use crate::http::response::Reply;

/// How long the head of a request may take, and how long a connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a quiet HTTP/2 client is asked whether it is there, and how long it has.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Requests at once on one HTTP/2 connection.
const STREAMS_MAX: u32 = 200;
/// What a client may send of one body before it is read.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// The same for a connection: enough for all its bodies, so that those that have
/// to wait leave the others room.
const CONNECTION_WINDOW_BYTES: u32 = STREAMS_MAX * STREAM_WINDOW_BYTES;
/// The longest rest after a failed accept, for instance for want of descriptors.
const ACCEPT_REST_MAX: Duration = Duration::from_secs(1);

/// Limits of the socket side that an operator may set.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; more wait to be accepted.
    pub connections_max: usize,
    /// How long the server goes on as before once it was asked to stop, while
    /// `/readyz` says so already: time for a balancer to notice.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that.
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            drain_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(30),
        }
    }
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Every request in flight was answered.
    All,
    /// The time was up; so many connections were cut.
    Cut(usize),
}

/// Answers the requests of one listener.
pub trait Answer: Clone + Send + Sync + 'static {
    /// Answers one request.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Reply> + Send;
}

/// Serves HTTP/1.1 and HTTP/2 (with prior knowledge) until `stop` is ready, then
/// lets requests in flight end.
pub async fn serve(
    listener: TcpListener,
    answer: impl Answer,
    limits: Limits,
    readiness: Readiness,
    stop: impl Future<Output = ()>,
) -> Drained {
    let slots = Arc::new(Semaphore::new(limits.connections_max));
    let builder = Arc::new(protocol());
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();

    let mut stop = pin!(async {
        stop.await;
        readiness.stop();
        sleep(limits.drain_delay).await;
    });
    loop {
        let (stream, slot) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &slots) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let connection = connection(stream, builder.clone(), answer.clone(), graceful.watcher());
        connections.spawn(async move {
            connection.await;
            drop(slot);
        });
    }
    // Who comes now is refused by the system, and can try another server.
    drop(listener);
    let drained = timeout(limits.drain_timeout, async {
        graceful.shutdown().await;
        while connections.join_next().await.is_some() {}
    });
    match drained.await {
        Ok(()) => Drained::All,
        Err(_) => Drained::Cut(connections.len()),
    }
}

fn protocol() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// The next connection and its slot. Failures are waited out, never passed on:
/// a server that stops accepting because descriptors ran out does not come back.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so that there is always a slot in the end.
    let slot = slots.clone().acquire_owned().await.ok();
    let mut rest = Duration::from_millis(5);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, slot),
            Err(error) if is_of_the_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, ?rest, "no connection could be accepted; trying again");
                sleep(rest).await;
                rest = (rest * 2).min(ACCEPT_REST_MAX);
            }
        }
    }
}

/// The connection broke before it was accepted, which says nothing of the next.
fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// One connection until its end.
async fn connection(
    stream: TcpStream,
    builder: Arc<auto::Builder<TokioExecutor>>,
    answer: impl Answer,
    watcher: Watcher,
) {
    // Small answers go out at once; a failure to say so only costs time.
    let _ = stream.set_nodelay(true);
    let spoken = Arc::new(AtomicBool::new(false));
    let has_spoken = spoken.clone();
    let service = service_fn(move |request| {
        spoken.store(true, Ordering::Relaxed);
        let answer = answer.clone();
        async move { Ok::<_, Infallible>(answer.answer(request).await) }
    });
    let served = watcher.watch(builder.serve_connection(TokioIo::new(stream), service));
    let mut served = pin!(served);
    let ended = match timeout(HEAD_TIMEOUT, &mut served).await {
        Ok(ended) => ended,
        Err(_) if has_spoken.load(Ordering::Relaxed) => served.await,
        // hyper's own timer starts once it knows the protocol; a client that never
        // says enough to tell would stay for ever.
        Err(_) => return,
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection ended early");
    }
}
