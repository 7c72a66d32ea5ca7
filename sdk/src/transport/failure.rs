//! What an error of reqwest says about the request.

use std::error::Error as _;

use crate::error::{Failure, FailureKind};

/// The URL is left out: its query may contain a signature.
pub(super) fn of_reqwest(error: reqwest::Error) -> Failure {
    let is_timeout = error.is_timeout();
    let kind = if error.is_builder() {
        FailureKind::InvalidUrl
    } else if is_connect(&error) {
        FailureKind::Connecting
    } else if is_not_processed(&error) {
        FailureKind::NotProcessed
    } else {
        FailureKind::Exchanging
    };
    let failure = Failure::new(kind, error.without_url());
    if is_timeout { failure.by_timeout() } else { failure }
}

/// `fetch` does not tell.
#[cfg(target_arch = "wasm32")]
const fn is_connect(_: &reqwest::Error) -> bool {
    false
}

#[cfg(not(target_arch = "wasm32"))]
fn is_connect(error: &reqwest::Error) -> bool {
    error.is_connect()
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
