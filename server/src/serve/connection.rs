//! One connection: serves it with hyper, and closes it when the peer is idle, sends a
//! request head too slowly, or does not read its responses.
//!
//! hyper's own timers cannot tell an idle connection from a slow head, count a PING as activity,
//! and never end a write. So the socket and the requests report to one [`Activity`],
//! and a single timer per connection reads it.

mod activity;
mod frames;

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub(super) use self::activity::HeadMemory;
use self::activity::{InFlight, Next, SharedActivity, TrackedStream};
use crate::http::body;
use crate::http::connection::Connection;
use crate::http::response::{Response, ResponseBody, ResponseBodyError};
use crate::limits;
use crate::store::time_budget;

/// Handles the requests of one listener.
pub trait HttpService: Clone + Send + Sync + 'static {
    /// Handles one request, whose head had arrived when it `began`.
    fn handle(
        &self,
        parts: &Parts,
        body: &mut Incoming,
        began: Instant,
        connection: &Connection,
    ) -> impl Future<Output = Response> + Send;
}

/// How long a connection may go without progress, by what it is waiting for; `limits` says why.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimeouts {
    /// From the first byte of a request head, or the start of the connection, to its last.
    pub head: Duration,
    pub idle: Duration,
    /// While response bytes wait for the peer to read.
    pub write_stall: Duration,
    /// While an HTTP/2 request is in flight: the peer may hold back its body or the flow
    /// control window.
    pub request_stall: Duration,
    /// After the peer was notified that the connection is closing.
    pub close: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self {
            head: limits::HEAD_TIMEOUT,
            idle: limits::IDLE_TIMEOUT,
            write_stall: limits::WRITE_STALL_TIMEOUT,
            request_stall: limits::REQUEST_STALL_TIMEOUT,
            close: limits::CLOSE_TIMEOUT,
        }
    }
}

impl ConnectionTimeouts {
    /// Whatever begins right after a check has its deadline after the next one.
    fn check_interval(&self) -> Duration {
        self.head.min(self.idle).min(self.write_stall).min(self.request_stall)
    }
}

/// Serves one connection until it ends, is idle for too long, or stalls. When `drain` closes,
/// requests in flight are completed and the connection is closed.
pub(super) async fn serve_connection(
    stream: TcpStream,
    connection: Connection,
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: impl HttpService,
    timeouts: ConnectionTimeouts,
    head: HeadMemory,
    mut drain: watch::Receiver<()>,
) {
    // Small responses go out at once. A failure only costs time.
    let _ = stream.set_nodelay(true);
    let shared = Arc::new((service, connection));
    let activity = SharedActivity::new(head);
    let requests = activity.clone();
    let answer = service_fn(move |request: Request<Incoming>| {
        let (parts, mut request_body) = request.into_parts();
        let is_http1 = parts.version < Version::HTTP_2;
        let poll_at_once = is_http1 && request_body.is_end_stream();
        let (in_flight, began) = requests.begin_request(parts.version);
        let shared = shared.clone();
        let response = Box::pin(async move {
            let (service, connection) = &*shared;
            let response = {
                let response = pin!(service.handle(&parts, &mut request_body, began, connection));
                time_budget::of_request(response).await
            };
            if is_http1 {
                body::discard(request_body);
            }
            Ok::<_, Infallible>(response.map(|body| tracked(body, in_flight)))
        });
        // hyper's next step is to read on, and it allocates another buffer of 8 KiB if this request,
        // which refers to the first one, still exists.
        started(response, poll_at_once)
    });
    let stream = TrackedStream::new(stream, activity.clone());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let mut check = pin!(sleep_until(Instant::now() + timeouts.check_interval()));
    let (mut draining, mut closing) = (false, false);
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
                continue;
            }
            () = check.as_mut() => {}
        }
        // Not in the head of `match`: dropping the connection takes the lock too.
        let next = activity.lock().next(Instant::now(), &timeouts);
        match next {
            Next::CheckAt(time) => check.as_mut().reset(time),
            Next::Close if !closing => {
                closing = true;
                connection.as_mut().graceful_shutdown();
                check.as_mut().reset(Instant::now() + timeouts.close);
            }
            Next::Close => return,
            Next::Abort(reason) => {
                tracing::debug!(reason, "a connection is cut");
                return;
            }
        }
    }
}

/// The same future, which was polled already if `at_once`. If it was not ready, the next poll, which
/// must follow, gives it a waker.
fn started<T>(
    mut future: Pin<Box<impl Future<Output = T>>>,
    at_once: bool,
) -> impl Future<Output = T> {
    let mut context = Context::from_waker(Waker::noop());
    let first = at_once.then(|| future.as_mut().poll(&mut context));
    async move {
        match first {
            Some(Poll::Ready(output)) => output,
            _ => future.await,
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
