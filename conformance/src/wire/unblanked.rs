//! One request and its reply as they were, secrets and all: cheap to keep, as
//! most are never shown. The only way out is [`Unblanked::blanked`].

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use super::Exchange;
use super::raw::SentBytes;
use crate::secret::Secrets;

/// A request and its reply, if one came, to be blanked before they are shown.
/// A copy is the same exchange; its `Debug` says nothing.
#[derive(Clone)]
pub struct Unblanked {
    pub(super) sent: Arc<Sent>,
    pub(super) came: Option<Arc<Came>>,
}

/// A request.
pub(super) struct Sent {
    pub(super) method: Method,
    /// The address as a report may show it.
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    /// None also of a body in pieces, which are gone by then.
    pub(super) body: Option<Bytes>,
    /// What went over a raw socket, in place of all the others.
    pub(super) bytes: Option<SentBytes>,
}

/// A reply.
pub(super) struct Came {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Unblanked {
    /// What a report may show of it.
    pub(crate) fn blanked(&self, secrets: &Secrets) -> Exchange {
        Exchange::of(&self.sent, self.came.as_deref(), secrets)
    }
}

impl fmt::Debug for Unblanked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unblanked")
    }
}
