//! The response of a call beside its value.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::macros::debug;
use crate::send::reply::{Reply, request_id};

/// A response with a success status, not decoded. `Debug` does not show its body.
pub struct RawResponse(Reply);

impl RawResponse {
    pub(crate) const fn new(reply: Reply) -> Self {
        Self(reply)
    }

    /// The status, which is a success.
    pub const fn status(&self) -> StatusCode {
        self.0.status
    }

    /// All headers, for example those of a rate limit.
    pub const fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.0.headers)
    }

    /// The body as it was received.
    pub const fn body(&self) -> &Bytes {
        &self.0.body
    }

    /// How many times the call was sent.
    pub const fn attempts(&self) -> u32 {
        self.0.history.attempts
    }

    /// The `data` of the envelope.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.data()
    }

    /// The whole body as JSON.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.0.whole()
    }
}

impl Clone for RawResponse {
    fn clone(&self) -> Self {
        Self(self.0.detached())
    }
}

debug!(
    RawResponse,
    |it| status = it.status(),
    request_id = it.request_id(),
    bytes = it.body().len()
);

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
