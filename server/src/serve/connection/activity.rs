//! What a connection is doing, as its socket and its requests report it.

use std::io::{self, IoSlice};
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
use crate::limits;
use crate::quota::{OverQuota, Permit, Quota};

pub(super) struct ConnectionActivity {
    requests_in_flight: usize,
    is_http2: bool,
    /// When the head of the next request began to arrive.
    head_since: Option<Instant>,
    /// Since when the socket has taken too few of the bytes that wait.
    blocked_since: Option<Instant>,
    /// The last begin or end of a request, or [`limits::PROGRESS_BYTES`] read or written.
    last_progress: Instant,
    head: HeadMemory,
}

/// The memory of a request head that is arriving, beyond [`limits::HEAD_BYTES_FREE`].
pub(in crate::serve) struct HeadMemory {
    quota: Quota,
    peer: IpAddr,
    bytes: usize,
    permit: Option<Permit>,
}

impl HeadMemory {
    pub(in crate::serve) fn new(quota: Quota, peer: IpAddr) -> Self {
        Self { quota, peer, bytes: 0, permit: None }
    }

    fn read(&mut self, bytes: usize) -> Result<(), OverQuota> {
        self.bytes += bytes;
        // What follows the largest head is the rest of an earlier body, which is discarded.
        let counted =
            self.bytes.min(limits::HEAD_BYTES_MAX).saturating_sub(limits::HEAD_BYTES_FREE);
        match &mut self.permit {
            _ if counted == 0 => {}
            Some(permit) => permit.grow_to(counted)?,
            none => *none = Some(self.quota.of(self.peer).reserve(counted)?),
        }
        Ok(())
    }

    fn complete(&mut self) {
        (self.bytes, self.permit) = (0, None);
    }
}

/// What to do with a connection.
pub(super) enum Next {
    CheckAt(Instant),
    /// It is idle.
    Close,
    /// It stalls.
    Abort(&'static str),
}

impl ConnectionActivity {
    pub(super) fn new(head: HeadMemory) -> Self {
        let now = Instant::now();
        Self {
            requests_in_flight: 0,
            is_http2: false,
            head_since: Some(now),
            blocked_since: None,
            last_progress: now,
            head,
        }
    }

    pub(super) fn next(&self, now: Instant, limits: &ListenerLimits) -> Next {
        let next_check = now + limits.check_interval();
        let (deadline, end) = if let Some(since) = self.blocked_since {
            (since + limits.write_stall_timeout, Next::Abort("the peer does not read"))
        } else if self.requests_in_flight > 0 {
            if !self.is_http2 {
                return Next::CheckAt(next_check);
            }
            let end = Next::Abort("a request makes no progress");
            (self.last_progress + limits.request_stall_timeout, end)
        } else if let Some(since) = self.head_since {
            (since + limits.head_timeout, Next::Abort("a request head is too slow"))
        } else {
            (self.last_progress + limits.idle_timeout, Next::Close)
        };
        if deadline <= now { end } else { Next::CheckAt(deadline.min(next_check)) }
    }

    fn progressed(&mut self) {
        self.last_progress = Instant::now();
        self.blocked_since = self.blocked_since.map(|_| self.last_progress);
    }
}

/// A request whose response has not been handed to hyper completely.
pub(super) struct InFlight(Arc<Mutex<ConnectionActivity>>);

impl InFlight {
    pub(super) fn begin(shared: &Arc<Mutex<ConnectionActivity>>, version: Version) -> Self {
        let mut activity = shared.lock();
        activity.requests_in_flight += 1;
        activity.is_http2 = version == Version::HTTP_2;
        activity.head_since = None;
        activity.head.complete();
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

/// A socket that reports what it reads and writes.
pub(super) struct TrackedStream {
    stream: TcpStream,
    activity: Arc<Mutex<ConnectionActivity>>,
    /// Bytes read and written that are not noted as progress yet.
    bytes: usize,
    frames: Frames,
    /// Bytes that were read after the last one was written.
    discarded: Option<usize>,
}

impl TrackedStream {
    pub(super) fn new(stream: TcpStream, activity: Arc<Mutex<ConnectionActivity>>) -> Self {
        Self { stream, activity, bytes: 0, frames: Frames::new(), discarded: None }
    }

    fn transferred(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= limits::PROGRESS_BYTES {
            self.bytes = 0;
            self.activity.lock().progressed();
        }
    }

    fn written(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Pending => {
                self.activity.lock().blocked_since.get_or_insert_with(Instant::now);
            }
            Poll::Ready(Ok(bytes)) => {
                self.transferred(bytes);
                self.frames.wrote(bytes);
            }
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
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.transferred(read.len());
            let mut activity = self.activity.lock();
            // HTTP/2 frames need not belong to a request.
            if activity.requests_in_flight == 0 && !activity.is_http2 {
                activity.head_since.get_or_insert_with(Instant::now);
                activity.head.read(read.len()).map_err(io::Error::other)?;
            }
            drop(activity);
            if !self.frames.read(read) {
                return Poll::Ready(Err(io::Error::other("too many HTTP/2 control frames")));
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

    /// hyper does not read a refused head to its end. Closing a socket with unread bytes resets the
    /// connection, and the reset can overtake the response: the peer's writes fail, and a proxy drops
    /// what it has not passed on. So the rest is read and discarded, until the head is too slow.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, activity, discarded, .. } = &mut *self;
        let mut stream = Pin::new(stream);
        if discarded.is_none() {
            ready!(stream.as_mut().poll_shutdown(context))?;
        }
        let discarded = discarded.get_or_insert(0);
        let mut piece = [0; 8 * 1024];
        while activity.lock().head_since.is_some() && *discarded < limits::DISCARD_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut piece);
            ready!(stream.as_mut().poll_read(context, &mut buffer))?;
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

    fn head(quota: &Quota, last: u8) -> HeadMemory {
        HeadMemory::new(quota.clone(), Ipv4Addr::new(127, 0, 0, last).into())
    }

    #[test]
    fn the_large_heads_of_an_address_are_limited_and_small_ones_are_free() {
        let quota = Quota::new("memory", "the memory", 256 * 1024, 128 * 1024);
        let mut heads = Vec::new();
        for _ in 0..2 {
            let mut one = head(&quota, 1);
            one.read(limits::HEAD_BYTES_FREE).unwrap();
            one.read(64 * 1024).unwrap();
            heads.push(one);
        }
        let mut next = head(&quota, 1);
        next.read(limits::HEAD_BYTES_FREE).unwrap();
        assert!(next.read(1).is_err());
        assert!(head(&quota, 1).read(100).is_ok(), "a small head is free");
        assert!(head(&quota, 2).read(64 * 1024).is_ok(), "another address has a share of its own");
        next.complete();
        heads[0].complete();
        next.read(64 * 1024 + limits::HEAD_BYTES_FREE).unwrap();
        drop((heads, next));
        assert_eq!(quota.usage().used, 0);
        // The rest of a refused body follows the head.
        let mut refused = head(&quota, 3);
        for _ in 0..100 {
            refused.read(1024 * 1024).unwrap();
        }
        assert!(quota.usage().used < limits::HEAD_BYTES_MAX);
    }
}
