//! What a connection is doing, as its socket and its requests report it.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Version;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use tokio_util::either::Either;

use super::frames::Frames;
use super::{ListenerLimits, Socket};
use crate::limits::{UNREAD_BYTES, UNREAD_TIMEOUT_BEYOND_QUOTA};
use crate::quota::{Permit, Quota};

/// Fewer bytes than this are no progress: a peer that reads one at a time is stalled.
const PROGRESS_BYTES: usize = 16 * 1024;
/// Most control frames of HTTP/2 after a request, and between two checks of the connection.
const CONTROL_FRAMES_MAX: usize = 1_000;

pub(super) struct ConnectionActivity {
    requests_in_flight: usize,
    frames: Frames,
    /// Known since the first request.
    version: Option<Version>,
    /// When the head of the next request began to arrive.
    head_since: Option<Instant>,
    /// Since when bytes wait for the peer to read, and what the kernel may hold of them.
    blocked: Option<(Instant, Option<Permit>)>,
    unread: Quota,
    peer: IpAddr,
    /// The last begin or end of a request, or [`PROGRESS_BYTES`] read or written.
    last_progress: Instant,
    bytes: usize,
}

/// Why a connection ends that does not stall.
pub(super) const IDLE: &str = "it is idle";

impl ConnectionActivity {
    pub(super) fn new(unread: Quota, peer: IpAddr) -> Self {
        let now = Instant::now();
        Self {
            requests_in_flight: 0,
            frames: Frames::default(),
            version: None,
            head_since: Some(now),
            blocked: None,
            unread,
            peer,
            last_progress: now,
            bytes: 0,
        }
    }

    /// Why the connection has to end now, if it does. It is asked every second.
    pub(super) fn overdue(&mut self, limits: &ListenerLimits) -> Option<&'static str> {
        self.frames.reset();
        let (since, time, reason) = if let Some((since, permit)) = &self.blocked {
            let most = permit.as_ref().map_or(UNREAD_TIMEOUT_BEYOND_QUOTA, |_| Duration::MAX);
            (*since, limits.write_stall_timeout.min(most), "the peer does not read")
        } else if self.requests_in_flight > 0 {
            // Over HTTP/1 the body has a time limit, and nothing else is waited for.
            let since = if self.is_http2() { self.last_progress } else { Instant::now() };
            (since, limits.request_stall_timeout, "a request makes no progress")
        } else if let Some(since) = self.head_since {
            (since, limits.head_timeout, "a request head is too slow")
        } else {
            (self.last_progress, limits.idle_timeout, IDLE)
        };
        (since.elapsed() >= time).then_some(reason)
    }

    fn is_http2(&self) -> bool {
        self.version == Some(Version::HTTP_2)
    }

    fn progressed(&mut self) {
        (self.last_progress, self.bytes) = (Instant::now(), 0);
    }

    fn transferred(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= PROGRESS_BYTES {
            self.progressed();
        }
    }

    /// Takes bytes that the peer has sent. Frames of HTTP/2 need not belong to a request.
    fn read(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.transferred(bytes.len());
        if self.requests_in_flight == 0 && !self.is_http2() {
            self.head_since.get_or_insert_with(Instant::now);
        }
        match self.frames.read(bytes) {
            0..=CONTROL_FRAMES_MAX => Ok(()),
            _ => Err(io::Error::other("too many HTTP/2 control frames")),
        }
    }

    fn wrote(&mut self, outcome: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.blocked = None;
            self.transferred(*bytes);
            self.frames.wrote(*bytes);
        } else if outcome.is_pending() {
            let permit = || self.unread.of(self.peer).reserve(UNREAD_BYTES).ok();
            self.blocked.get_or_insert_with(|| (Instant::now(), permit()));
        }
    }
}

/// A request whose response has not been handed to hyper completely.
pub(super) struct InFlight(Arc<Mutex<ConnectionActivity>>);

impl InFlight {
    pub(super) fn begin(shared: &Arc<Mutex<ConnectionActivity>>, version: Version) -> Self {
        let mut activity = shared.lock();
        activity.requests_in_flight += 1;
        activity.version = Some(version);
        activity.head_since = None;
        activity.progressed();
        Self(shared.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut activity = self.0.lock();
        activity.requests_in_flight -= 1;
        activity.progressed();
    }
}

pub(super) struct TrackedStream {
    pub(super) stream: Socket,
    pub(super) activity: Arc<Mutex<ConnectionActivity>>,
}

/// Without a reset the kernel keeps what a peer does not read, also after the end of the process.
impl Drop for TrackedStream {
    fn drop(&mut self) {
        if let Either::Left(tcp) = &self.stream
            && self.activity.lock().blocked.is_some()
        {
            let _ = tcp.set_zero_linger();
        }
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
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.activity.lock().read(read)?;
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
        self.activity.lock().wrote(&outcome);
        outcome
    }

    /// Without vectored writes hyper copies each body into a buffer that no quota counts.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.activity.lock().wrote(&outcome);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// hyper does not read a refused head to its end. Closing a socket with unread bytes resets the
    /// connection, and the reset can overtake the response. So the rest is read and discarded,
    /// until the head is too slow.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, activity, .. } = &mut *self;
        ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        let mut piece = [0; 8 * 1024];
        while activity.lock().head_since.is_some() {
            let mut buffer = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_beyond_the_quota_has_less_time() {
        let unread = Quota::new("unread", "unread responses", 2 * UNREAD_BYTES, UNREAD_BYTES);
        let peer =
            |last| ConnectionActivity::new(unread.clone(), Ipv4Addr::new(127, 0, 0, last).into());
        let (mut first, mut second, mut other) = (peer(1), peer(1), peer(2));
        for stalled in [&mut first, &mut second, &mut other] {
            stalled.wrote(&Poll::Pending);
        }
        let is_overdue =
            |peer: &mut ConnectionActivity| peer.overdue(&ListenerLimits::default()).is_some();
        tokio::time::advance(UNREAD_TIMEOUT_BEYOND_QUOTA).await;
        let all = [&mut first, &mut second, &mut other];
        assert_eq!(all.map(is_overdue), [false, true, false]);
        second.wrote(&Poll::Ready(Ok(1)));
        assert!(!is_overdue(&mut second), "it has read something");
        drop(other);
        first.wrote(&Poll::Ready(Ok(1)));
        assert_eq!(unread.usage().used, 0);
    }
}
