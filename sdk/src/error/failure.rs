//! A failure of a transport, and what it says about the request.

use super::Cause;

/// Why no response, or only a part of one, was received.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) is_timeout: bool,
    #[source]
    source: Cause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    InvalidUrl,
    Connecting,
    /// There was a connection, and the server certainly did not process the request.
    NotProcessed,
    /// The request may have been processed.
    Exchanging,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, source: impl Into<Cause>) -> Self {
        Self { kind, is_timeout: false, source: source.into() }
    }

    /// There was no connection, so the request was not sent.
    pub fn connecting(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Connecting, source)
    }

    /// The server certainly did not process the request, for example after `REFUSED_STREAM` of
    /// HTTP/2. Any request is retried.
    pub fn not_processed(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::NotProcessed, source)
    }

    /// The connection failed after the request was, or may have been, sent.
    pub fn exchanging(source: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Exchanging, source)
    }

    /// Marks a timeout of the transport.
    #[must_use]
    pub const fn by_timeout(mut self) -> Self {
        self.is_timeout = true;
        self
    }

    const fn text(&self) -> &'static str {
        match (self.kind, self.is_timeout) {
            (FailureKind::InvalidUrl, _) => "the URL is invalid",
            (FailureKind::Connecting, false) => "cannot connect",
            (FailureKind::Connecting, true) => "connecting timed out",
            (FailureKind::NotProcessed, _) => "the server did not process the request",
            (FailureKind::Exchanging, false) => "connection closed",
            (FailureKind::Exchanging, true) => "timed out",
        }
    }
}
