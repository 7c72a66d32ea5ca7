//! The body of a request or a response.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full};

use crate::error::Failure;
use crate::macros::debug;

/// The body of a request or a response.
pub struct Body(BoxBody<Bytes, Failure>);

impl Body {
    /// A body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::new(Full::new(bytes.into()).map_err(|never| match never {}))
    }

    /// A body that is sent or received in chunks.
    pub fn new(
        body: impl http_body::Body<Data = Bytes, Error = Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(BoxBody::new(body))
    }

    /// All bytes of the body.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        BodyExt::collect(self).await.map(Collected::to_bytes)
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.size_hint().exact()
    }

    /// The next chunk; `None` at the end. Trailers are ignored.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.frame().await.transpose()? {
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::full(Bytes::new())
    }
}

debug!(Body);
