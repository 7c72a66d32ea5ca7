//! One connection: serves it with hyper, and closes it when the peer is idle, sends a
//! request head too slowly, or does not read its responses.
//!
//! hyper's own timers cannot tell an idle connection from a slow head, count a PING as activity,
//! and never end a write. So the socket and the requests report to one [`Activity`],
//! and a single timer per connection reads it.

mod activity;
mod frames;

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub(super) use self::activity::HeadMemory;
use self::activity::{Activity, InFlight, Next, TrackedStream};
use crate::http::body;
use crate::http::response::{Response, ResponseBody, ResponseBodyError};
use crate::serve::listener::ListenerLimits;
use crate::store::time_budget;

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

/// Serves one connection until it ends, is idle for too long, or stalls. When `drain` closes,
/// requests in flight are completed and the connection is closed.
pub(super) async fn serve_connection(
    stream: TcpStream,
    peer: IpAddr,
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: impl HttpService,
    limits: ListenerLimits,
    head: HeadMemory,
    mut drain: watch::Receiver<()>,
) {
    // Small responses go out at once. A failure only costs time.
    let _ = stream.set_nodelay(true);
    let activity = Arc::new(Mutex::new(Activity::new(head)));
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
    let stream = TrackedStream::new(stream, activity.clone());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let mut check = pin!(sleep_until(Instant::now() + limits.check_interval()));
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
        let next = activity.lock().next(Instant::now(), &limits);
        match next {
            Next::CheckAt(time) => check.as_mut().reset(time),
            Next::Close if !closing => {
                closing = true;
                connection.as_mut().graceful_shutdown();
                check.as_mut().reset(Instant::now() + limits.close_timeout);
            }
            Next::Close => return,
            Next::Abort(reason) => {
                tracing::debug!(reason, "a connection is cut");
                return;
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
