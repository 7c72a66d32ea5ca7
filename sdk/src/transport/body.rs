//! The body of a request or a response, in memory or as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected};

use super::failure::of_reqwest;
use crate::error::Failure;
use crate::macros::debug;

/// The body of a request or a response.
pub struct Body(Kind);

enum Kind {
    Reqwest(reqwest::Body),
    Other(BoxBody<Bytes, Failure>),
}

impl Body {
    /// A body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Reqwest(bytes.into().into()))
    }

    /// A body that is sent or received in chunks.
    pub fn new(
        body: impl http_body::Body<Data = Bytes, Error = Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Other(BoxBody::new(body)))
    }

    /// All bytes of the body.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        BodyExt::collect(self).await.map(Collected::to_bytes)
    }

    pub(super) const fn received(body: reqwest::Body) -> Self {
        Self(Kind::Reqwest(body))
    }

    /// The length of what was not read yet, if it is known.
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

    pub(super) fn into_reqwest(self) -> reqwest::Body {
        match self.0 {
            Kind::Reqwest(body) => body,
            Kind::Other(body) => reqwest::Body::wrap(body),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match &mut self.0 {
            Kind::Reqwest(body) => Pin::new(body).poll_frame(cx).map_err(of_reqwest),
            Kind::Other(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Reqwest(body) => body.is_end_stream(),
            Kind::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Reqwest(body) => body.size_hint(),
            Kind::Other(body) => body.size_hint(),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::full(Bytes::new())
    }
}

debug!(Body);
