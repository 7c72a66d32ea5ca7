//! A stream as an iterator: each step blocks until the stream has made it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;

use super::Blocking;

/// The steps of a stream.
pub(super) struct Steps<S> {
    /// Taken only to change it, and at the end.
    stream: Option<S>,
    mode: Blocking,
}

impl<S> Steps<S> {
    pub(super) const fn new(stream: S, mode: Blocking) -> Self {
        Self { stream: Some(stream), mode }
    }

    pub(super) const fn stream(&self) -> Option<&S> {
        self.stream.as_ref()
    }

    pub(super) const fn stream_mut(&mut self) -> Option<&mut S> {
        self.stream.as_mut()
    }

    pub(super) fn with(mut self, change: impl FnOnce(S) -> S) -> Self {
        self.stream = self.stream.take().map(change);
        self
    }
}

impl<S: Stream<Item: Send> + Send + Unpin> Steps<S> {
    pub(super) fn next(&mut self) -> Option<S::Item> {
        let stream = self.stream.as_mut()?;
        let Blocking(runtime) = &self.mode;
        runtime.block_on(poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)))
    }
}

impl<S> Drop for Steps<S> {
    fn drop(&mut self) {
        // A call may be on its way in it.
        self.mode.0.discard(self.stream.take());
    }
}

impl<S: fmt::Debug> fmt::Debug for Steps<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}
