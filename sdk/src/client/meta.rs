//! The response beside the value.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::reply::{Reply, request_id};

/// A value with its response; returned by `send_with_meta` of every call, such as
/// [`Call`](crate::request::Call::send_with_meta).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithMeta<T> {
    /// The decoded value.
    pub value: T,
    /// The response.
    pub meta: Meta,
}

/// Status, headers and body of a response. `Debug` does not show the body.
#[derive(Clone)]
pub struct Meta {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    attempts: u32,
}

impl Meta {
    pub(super) fn of(reply: &Reply) -> Self {
        Self {
            status: reply.status,
            headers: reply.headers.clone(),
            body: reply.body.clone(),
            attempts: reply.attempts,
        }
    }

    /// The status, which is a success.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// All headers, for example those of a rate limit.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.headers)
    }

    /// The body, including fields that this version does not know.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// How many times the call was sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("status", &self.status)
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
