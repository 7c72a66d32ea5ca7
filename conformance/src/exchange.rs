//! One request and its response as they were, with all secrets: cheap to keep, as most
//! are never shown. Text of it leaves only through [`RawExchange::redacted`].

mod bytes;
mod redacted;

use std::fmt;
use std::sync::Arc;

use ::bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

pub(crate) use self::bytes::{SentBytes, authority, host, unbracketed};
pub use self::redacted::Exchange;
use crate::secret::Secrets;

/// A request and its response, if there was one. A clone is the same exchange; its `Debug`
/// shows nothing of it.
#[derive(Clone)]
pub struct RawExchange {
    pub(crate) request: Arc<Request>,
    pub(crate) response: Option<Arc<Response>>,
}

/// A request.
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The address as a report may show it.
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    /// `None` also for a streamed body, which is not kept.
    pub(crate) body: Option<Bytes>,
    /// What was sent on a raw socket, in place of all other fields.
    pub(crate) bytes: Option<SentBytes>,
}

/// A response.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl RawExchange {
    /// What a report may show of it.
    pub(crate) fn redacted(&self, secrets: &Secrets) -> Exchange {
        Exchange::of(&self.request, self.response.as_deref(), secrets)
    }
}

impl fmt::Debug for RawExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawExchange")
    }
}
