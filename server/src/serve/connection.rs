//! One connection: serves it with hyper, and closes it when the peer is idle, sends a
//! request head too slowly, or does not read its responses.
//!
//! hyper's own timers cannot tell an idle connection from a slow head, count a PING as a sign
//! of life, and never end a write. So the socket and the requests report to one [`Activity`],
//! and a single timer per connection reads it.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::http::response::{ResponseBody, ResponseBodyError};
use crate::limits;
use crate::serve::listener::HttpService;

/// How long a connection may go without progress, by what it is waiting for.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimeouts {
    /// From the first byte of a request head to its last. Also from the start of a
    /// connection to the end of its first head.
    pub head: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// While response bytes wait for the peer to read.
    pub write_stall: Duration,
    /// While an HTTP/2 request is in flight: the peer may hold back its body or the flow
    /// control window. Every wait of our own is shorter.
    pub request_stall: Duration,
    /// After the peer was told that the connection is closing.
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
/// requests in flight are answered and the connection is closed.
pub(super) async fn serve_connection(
    stream: TcpStream,
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: impl HttpService,
    timeouts: ConnectionTimeouts,
    mut drain: watch::Receiver<()>,
) {
    // Small responses go out at once. A failure only costs time.
    let _ = stream.set_nodelay(true);
    let activity = SharedActivity::new(Instant::now());
    let requests = activity.clone();
    let answer = service_fn(move |request: Request<Incoming>| {
        let in_flight = requests.begin_request(request.version());
        let service = service.clone();
        async move {
            let response = service.handle(request).await;
            Ok::<_, Infallible>(response.map(|body| TrackedBody { body, _in_flight: in_flight }))
        }
    });
    let stream = TrackedStream { stream, activity: activity.clone() };
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
            }
            () = check.as_mut() => {
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
    }
}

/// What a connection is doing, as its socket and its requests report it.
#[derive(Debug)]
struct Activity {
    requests_in_flight: usize,
    is_http2: bool,
    /// When the head of the next request began to arrive.
    head_since: Option<Instant>,
    /// Since when the socket has taken too few of the bytes that wait.
    blocked_since: Option<Instant>,
    /// The last begin or end of a request, or [`limits::PROGRESS_BYTES`] read or written.
    last_progress: Instant,
    /// Bytes read and written since then.
    bytes: usize,
}

/// What to do with a connection.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    CheckAt(Instant),
    /// It is idle.
    Close,
    /// It stalls.
    Abort(&'static str),
}

impl Activity {
    fn next(&self, now: Instant, timeouts: &ConnectionTimeouts) -> Next {
        let next_check = now + timeouts.check_interval();
        let (deadline, end) = if let Some(since) = self.blocked_since {
            (since + timeouts.write_stall, Next::Abort("the peer does not read"))
        } else if self.requests_in_flight > 0 {
            if !self.is_http2 {
                return Next::CheckAt(next_check);
            }
            let end = Next::Abort("a request makes no progress");
            (self.last_progress + timeouts.request_stall, end)
        } else if let Some(since) = self.head_since {
            (since + timeouts.head, Next::Abort("a request head is too slow"))
        } else {
            (self.last_progress + timeouts.idle, Next::Close)
        };
        if deadline <= now { end } else { Next::CheckAt(deadline.min(next_check)) }
    }

    fn transferred(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= limits::PROGRESS_BYTES {
            self.progressed();
        }
    }

    fn progressed(&mut self) {
        self.bytes = 0;
        self.last_progress = Instant::now();
        self.blocked_since = self.blocked_since.map(|_| self.last_progress);
    }
}

#[derive(Clone, Debug)]
struct SharedActivity(Arc<Mutex<Activity>>);

impl SharedActivity {
    fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Activity {
            requests_in_flight: 0,
            is_http2: false,
            head_since: Some(now),
            blocked_since: None,
            last_progress: now,
            bytes: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Activity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_request(&self, version: Version) -> InFlight {
        let mut activity = self.lock();
        activity.requests_in_flight += 1;
        activity.is_http2 = version == Version::HTTP_2;
        activity.head_since = None;
        activity.progressed();
        InFlight(self.clone())
    }
}

/// A request whose response has not been handed to hyper completely.
#[derive(Debug)]
struct InFlight(SharedActivity);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut activity = self.0.lock();
        activity.requests_in_flight -= 1;
        activity.progressed();
    }
}

/// A response body that keeps its request in flight.
struct TrackedBody {
    body: ResponseBody,
    _in_flight: InFlight,
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = ResponseBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseBodyError>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A socket that reports what it reads and writes.
struct TrackedStream {
    stream: TcpStream,
    activity: SharedActivity,
}

impl TrackedStream {
    fn written(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Pending => {
                self.activity.lock().blocked_since.get_or_insert_with(Instant::now);
            }
            Poll::Ready(Ok(bytes)) => self.activity.lock().transferred(*bytes),
            Poll::Ready(Err(_)) => {}
        }
        outcome
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            let mut activity = self.activity.lock();
            activity.transferred(bytes);
            // HTTP/2 frames need not belong to a request.
            if activity.requests_in_flight == 0 && !activity.is_http2 {
                activity.head_since.get_or_insert_with(Instant::now);
            }
        }
        outcome
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.written(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.written(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes once the socket has taken everything there is to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut activity = self.activity.lock();
        if activity.blocked_since.take().is_some() {
            activity.progressed();
        }
        drop(activity);
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
