//! The response of a call beside its value.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::send::reply::{Reply, request_id};

/// A response with a success status, not decoded. `Debug` does not show its body.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let response = client.get("/usage").await?;
/// println!("{} (request id {:?})", response.status(), response.request_id());
/// let whole: serde_json::Value = response.json()?;
/// assert_eq!(whole["data"]["prompts"], 12);
/// # Ok(()) }
/// ```
pub struct RawResponse(Reply);

impl RawResponse {
    pub(crate) const fn new(reply: Reply) -> Self {
        Self(reply)
    }

    /// The status, which is a success.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.0.status
    }

    /// All headers, for example those of a rate limit.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.0.headers)
    }

    /// The body as it was received.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.0.body
    }

    /// How many times the call was sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.0.history.attempts
    }

    /// The `data` of the envelope.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.data()
    }

    /// The whole body as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::is_decode`], naming the place that cannot be decoded.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.whole()
    }
}

impl Clone for RawResponse {
    fn clone(&self) -> Self {
        Self(self.0.detached())
    }
}

impl fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawResponse")
            .field("status", &self.status())
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts())
            .field("bytes", &self.body().len())
            .finish_non_exhaustive()
    }
}

/// A value with its response; returned by `send_with_meta` of every call, such as
/// [`Call`](crate::request::Call::send_with_meta).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithMeta<T> {
    /// The decoded value.
    pub value: T,
    /// The response.
    pub meta: RawResponse,
}
