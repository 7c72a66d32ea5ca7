//! The body of requests and responses.

use std::fmt;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};

use super::Failure;

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
    ///
    /// # Errors
    ///
    /// That of the body, for example if an upload is cancelled.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        Ok(self.0.collect().await?.to_bytes())
    }

    /// The length, if it is known.
    pub(in crate::client) fn length(&self) -> Option<u64> {
        http_body::Body::size_hint(&self.0).exact()
    }

    /// The next chunk; `None` at the end.
    pub(in crate::client) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.0.frame().await {
            // Trailers are ignored.
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    pub(super) fn into_reqwest(self) -> reqwest::Body {
        reqwest::Body::wrap(self.0)
    }

    pub(super) fn of_reqwest(body: reqwest::Body) -> Self {
        Self::new(body.map_err(Failure::of_reqwest))
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::full(Bytes::new())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
