//! Failures of a transport, and what they say about the request.

use std::error::Error as _;

use crate::error::Cause;

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
    pub(super) fn new(kind: FailureKind, source: impl Into<Cause>) -> Self {
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

    /// The URL is left out: its query may contain a signature.
    pub(super) fn of_reqwest(error: reqwest::Error) -> Self {
        let is_timeout = error.is_timeout();
        let kind = if error.is_builder() {
            FailureKind::InvalidUrl
        } else if error.is_connect() {
            FailureKind::Connecting
        } else if is_not_processed(&error) {
            FailureKind::NotProcessed
        } else {
            FailureKind::Exchanging
        };
        Self { is_timeout, ..Self::new(kind, error.without_url()) }
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

/// Whether the server said by HTTP/2 that it did not process the request: `REFUSED_STREAM`, or a
/// `GOAWAY` without an error, which fails only requests after the last one it names (RFC 9113, 6.8
/// and 8.7).
///
/// By the texts of the crate `h2`: any crate of the program may have switched HTTP/2 on, also in
/// another version of it. If the texts change, the outcome of such a request is unknown.
fn is_not_processed(error: &reqwest::Error) -> bool {
    const REFUSED: &str = "stream error received: refused stream before processing";
    const GONE: &str = "connection error received: not a result of an error";
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let mut texts = causes.map(ToString::to_string);
    texts.any(|text| text.starts_with(REFUSED) || text.starts_with(GONE))
}
