//! What came with an answer beside the value.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::reply::{Reply, request_id};

/// A value with the answer it was read from; made by
/// [`send_with_meta`](crate::call::Call::send_with_meta).
///
/// It can be used as the value itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithMeta<T> {
    /// What the answer says.
    pub value: T,
    /// The answer.
    pub meta: Meta,
}

impl<T> Deref for WithMeta<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// An answer beside what was read from it. `Debug` does not show its body.
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

    /// The status; one of success.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// All headers, those of a rate limit for example.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// What the service calls the request in its own logs (`x-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.headers)
    }

    /// The body as it came, with fields that this version does not know.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// How often the call was sent.
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
