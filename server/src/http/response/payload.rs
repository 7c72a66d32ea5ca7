//! The body of an answer: bytes at hand, or a stream of them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use hyper::body::{Body, Frame, SizeHint};

/// Why a streamed body broke off. The connection is cut then, since an end that
/// looks whole would be a lie.
#[derive(Debug, thiserror::Error)]
#[error("the answer could not be continued")]
pub struct PayloadError;

/// What an answer carries.
pub struct Payload(Kind);

enum Kind {
    Whole(Bytes),
    Streamed(Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>> + Send>>),
}

impl Payload {
    /// Bytes at hand.
    pub fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(bytes))
    }

    /// Bytes to come.
    pub fn streamed(
        bytes: impl Stream<Item = Result<Bytes, PayloadError>> + Send + 'static,
    ) -> Self {
        Self(Kind::Streamed(Box::pin(bytes)))
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = PayloadError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PayloadError>>> {
        match &mut self.get_mut().0 {
            Kind::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Streamed(stream) => stream
                .as_mut()
                .poll_next(context)
                .map(|next| next.map(|item| item.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Streamed(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Whole(bytes) => write!(f, "Payload({} bytes)", bytes.len()),
            Kind::Streamed(_) => f.write_str("Payload(streamed)"),
        }
    }
}
