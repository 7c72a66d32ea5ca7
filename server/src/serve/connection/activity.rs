//! What a connection is doing, as its socket and its requests report it.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Version;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::ListenerLimits;
use super::frames::Frames;
use crate::limits::{DISCARD_BYTES_MAX, HEAD_BYTES_FREE, HEAD_BYTES_MAX};
use crate::quota::{OverQuota, Permit, Quota};

/// Fewer bytes than this are no progress: a peer that reads one at a time is stalled.
const PROGRESS_BYTES: usize = 16 * 1024;

pub(super) struct ConnectionActivity {
    requests_in_flight: usize,
    is_http2: bool,
    /// When the head of the next request began to arrive, and how much of it has come.
    head_since: Option<Instant>,
    head_bytes: usize,
    /// What a head beyond [`HEAD_BYTES_FREE`] takes, of what its peer may have of this quota.
    head_memory: Option<Permit>,
    memory: Quota,
    peer: IpAddr,
    /// Bytes wait for the peer to read.
    is_blocked: bool,
    /// The last begin or end of a request, [`PROGRESS_BYTES`] read or written, or the first of the
    /// bytes that wait.
    last_progress: Instant,
}

/// Why a connection ends that does not stall.
pub(super) const IDLE: &str = "it is idle";

impl ConnectionActivity {
    pub(super) fn new(memory: Quota, peer: IpAddr) -> Self {
        let now = Instant::now();
        Self {
            requests_in_flight: 0,
            is_http2: false,
            head_since: Some(now),
            head_bytes: 0,
            head_memory: None,
            memory,
            peer,
            is_blocked: false,
            last_progress: now,
        }
    }

    /// When the connection has to end if nothing changes, and why.
    pub(super) fn end(&self, limits: &ListenerLimits) -> (Instant, &'static str) {
        let (since, time, reason) = if self.is_blocked {
            (self.last_progress, limits.write_stall_timeout, "the peer does not read")
        } else if self.requests_in_flight > 0 {
            // Over HTTP/1 the body has a time limit, and nothing else is waited for.
            let since = if self.is_http2 { self.last_progress } else { Instant::now() };
            (since, limits.request_stall_timeout, "a request makes no progress")
        } else if let Some(since) = self.head_since {
            (since, limits.head_timeout, "a request head is too slow")
        } else {
            (self.last_progress, limits.idle_timeout, IDLE)
        };
        (since + time, reason)
    }

    fn progressed(&mut self) {
        self.last_progress = Instant::now();
    }

    fn blocked(&mut self, is_blocked: bool) {
        if self.is_blocked != is_blocked {
            self.is_blocked = is_blocked;
            self.progressed();
        }
    }

    /// Takes bytes that the peer has sent. Frames of HTTP/2 need not belong to a request.
    fn read(&mut self, bytes: usize) -> Result<(), OverQuota> {
        if self.requests_in_flight > 0 || self.is_http2 {
            return Ok(());
        }
        self.head_since.get_or_insert_with(Instant::now);
        self.head_bytes += bytes;
        if self.head_bytes > HEAD_BYTES_FREE && self.head_memory.is_none() {
            let memory = self.memory.of(self.peer);
            self.head_memory = Some(memory.reserve(HEAD_BYTES_MAX - HEAD_BYTES_FREE)?);
        }
        Ok(())
    }
}

/// A request whose response has not been handed to hyper completely.
pub(super) struct InFlight(Arc<Mutex<ConnectionActivity>>);

impl InFlight {
    pub(super) fn begin(shared: &Arc<Mutex<ConnectionActivity>>, version: Version) -> Self {
        let mut activity = shared.lock();
        activity.requests_in_flight += 1;
        activity.is_http2 = version == Version::HTTP_2;
        (activity.head_since, activity.head_bytes, activity.head_memory) = (None, 0, None);
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
    stream: TcpStream,
    activity: Arc<Mutex<ConnectionActivity>>,
    /// Bytes read and written that are not noted as progress yet.
    bytes: usize,
    frames: Frames,
    /// Bytes that were read after the last one was written.
    discarded: usize,
}

impl TrackedStream {
    pub(super) fn new(stream: TcpStream, activity: Arc<Mutex<ConnectionActivity>>) -> Self {
        Self { stream, activity, bytes: 0, frames: Frames::new(), discarded: 0 }
    }

    fn transferred(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= PROGRESS_BYTES {
            self.bytes = 0;
            self.activity.lock().progressed();
        }
    }

    fn written(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.transferred(bytes);
            self.frames.wrote(bytes);
        } else if outcome.is_pending() {
            self.activity.lock().blocked(true);
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
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.transferred(read.len());
            self.activity.lock().read(read.len()).map_err(io::Error::other)?;
            if !self.frames.read(read) {
                return Poll::Ready(Err(io::Error::other("too many HTTP/2 control frames")));
            }
        }
        outcome
    }
}

/// Without vectored writes, so that hyper copies head and body of a response into one buffer: for
/// small responses that is faster.
impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.written(outcome)
    }

    /// hyper flushes once the socket has taken everything there is to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.activity.lock().blocked(false);
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// hyper does not read a refused head to its end. Closing a socket with unread bytes resets the
    /// connection, and the reset can overtake the response: the peer's writes fail, and a proxy drops
    /// what it has not passed on. So the rest is read and discarded, until the head is too slow.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, activity, discarded, .. } = &mut *self;
        ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        let mut piece = [0; 8 * 1024];
        while activity.lock().head_since.is_some() && *discarded < DISCARD_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
            match buffer.filled().len() {
                0 => break,
                bytes => *discarded += bytes,
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn the_large_heads_of_an_address_are_limited_and_small_ones_are_free() {
        let quota = Quota::new("memory", "the memory", 4 * HEAD_BYTES_MAX, 2 * HEAD_BYTES_MAX);
        let connection =
            |last| ConnectionActivity::new(quota.clone(), Ipv4Addr::new(127, 0, 0, last).into());
        let (mut one, mut two, mut next) = (connection(1), connection(1), connection(1));
        for head in [&mut one, &mut two] {
            head.read(HEAD_BYTES_FREE).unwrap();
            // What follows the largest head is the rest of an earlier body.
            (0..100).for_each(|_| head.read(1024 * 1024).unwrap());
        }
        next.read(HEAD_BYTES_FREE).unwrap();
        assert!(next.read(1).is_err());
        assert!(connection(2).read(HEAD_BYTES_MAX).is_ok(), "another address has its own share");
        let one = Arc::new(Mutex::new(one));
        drop(InFlight::begin(&one, Version::HTTP_11));
        next.read(1).unwrap();
        drop((two, next));
        assert_eq!(quota.usage().used, 0);
    }
}
