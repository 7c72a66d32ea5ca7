//! The body of a response: bytes in memory, or a stream of them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use hyper::body::{Body, Frame, SizeHint};

/// A streamed body failed. The connection is cut, so that the response does not look complete.
#[derive(Debug, thiserror::Error)]
#[error("the response could not be continued")]
pub struct ResponseBodyError;

/// The body of a response.
pub struct ResponseBody(Kind);

enum Kind {
    Full(Bytes),
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes, ResponseBodyError>> + Send>>),
}

impl ResponseBody {
    /// Bytes in memory.
    pub fn full(bytes: Bytes) -> Self {
        Self(Kind::Full(bytes))
    }

    /// Bytes that are produced while they are sent.
    pub fn stream(
        bytes: impl Stream<Item = Result<Bytes, ResponseBodyError>> + Send + 'static,
    ) -> Self {
        Self(Kind::Stream(Box::pin(bytes)))
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ResponseBodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseBodyError>>> {
        match &mut self.get_mut().0 {
            Kind::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Stream(stream) => stream
                .as_mut()
                .poll_next(context)
                .map(|next| next.map(|item| item.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Full(bytes) => write!(f, "ResponseBody({} bytes)", bytes.len()),
            Kind::Stream(_) => f.write_str("ResponseBody(streamed)"),
        }
    }
}
