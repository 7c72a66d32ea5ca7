//! Reads the body of a request, within limits of size and time.
//!
//! Only endpoints that need a body read it. `validate` parses it, and `error` decides the
//! status of a failure.

pub(crate) mod exact;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

pub use crate::limits::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use crate::limits::{DISCARD_BYTES_MAX, DISCARD_TIMEOUT};

/// A request's body. It is read at most once.
#[derive(Debug)]
pub struct RequestBody {
    incoming: Incoming,
    ended: bool,
}

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyReadError {
    /// The header `Content-Type` is not JSON.
    #[error("the request needs one header `Content-Type: application/json`")]
    NotJson,
    /// It is, or is declared, larger than [`BODY_BYTES_MAX`].
    #[error("the body has more than {BODY_BYTES_MAX} bytes")]
    TooLarge,
    /// It is, or is declared, larger than its upload slot.
    #[error("the body has more than the {0} bytes that were declared")]
    Longer(u64),
    /// It is, or is declared, smaller than its upload slot.
    #[error("the body has fewer than the {0} bytes that were declared")]
    Shorter(u64),
    /// It took longer than this many seconds.
    #[error("the body did not arrive within {0} seconds")]
    TooSlow(u64),
    /// The connection or its framing broke.
    #[error("the body broke off")]
    Broken(#[source] hyper::Error),
}

impl RequestBody {
    /// A body that is not read yet.
    pub fn new(incoming: Incoming) -> Self {
        Self { ended: incoming.is_end_stream(), incoming }
    }

    /// Reads a JSON body (EN-02). A body in one frame is not copied.
    ///
    /// # Errors
    /// If the headers declare another type or too large a body, or the body is too large, too
    /// slow or incomplete.
    pub async fn read_json(&mut self, headers: &HeaderMap) -> Result<Bytes, BodyReadError> {
        if !declares_json(headers) {
            return Err(BodyReadError::NotJson);
        }
        if declared_bytes(headers) > BODY_BYTES_MAX as u64 {
            return Err(BodyReadError::TooLarge);
        }
        timeout(Duration::from_secs(BODY_SECONDS_MAX), self.read())
            .await
            .unwrap_or(Err(BodyReadError::TooSlow(BODY_SECONDS_MAX)))
    }

    /// Reads and discards the rest in the background, within limits. Closing a socket with
    /// unread bytes resets the connection, and the client could lose the response.
    pub fn discard(self) {
        if self.ended {
            return;
        }
        let mut incoming = self.incoming;
        tokio::spawn(timeout(DISCARD_TIMEOUT, async move {
            let mut left = DISCARD_BYTES_MAX;
            while let Some(Ok(frame)) = incoming.frame().await {
                match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
        }));
    }

    async fn read(&mut self) -> Result<Bytes, BodyReadError> {
        let first = self.next().await?.unwrap_or_default();
        let Some(second) = self.next().await? else {
            return Ok(first);
        };
        let mut all = BytesMut::with_capacity(first.len() + second.len());
        all.extend_from_slice(&first);
        all.extend_from_slice(&second);
        while let Some(bytes) = self.next().await? {
            if all.len() + bytes.len() > BODY_BYTES_MAX {
                return Err(BodyReadError::TooLarge);
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }

    /// The next data frame; trailers are skipped.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyReadError> {
        while let Some(frame) = self.incoming.frame().await {
            if let Ok(bytes) = frame.map_err(BodyReadError::Broken)?.into_data() {
                return Ok(Some(bytes));
            }
        }
        self.ended = true;
        Ok(None)
    }
}

fn declares_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let value = value.as_bytes();
    let essence = value.split(|byte| *byte == b';').next().unwrap_or(value);
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// `Content-Length`, or 0 without it. hyper has checked the form of the header.
fn declared_bytes(headers: &HeaderMap) -> u64 {
    headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn exactly_one_json_content_type_is_json() {
        let is_json = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            declares_json(&headers)
        };
        for json in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            " application/json ;a=b",
        ] {
            assert!(is_json(&[json]), "{json}");
        }
        for other in ["", "text/plain", "application/jsonx", "application/json-patch+json", ";"] {
            assert!(!is_json(&[other]), "{other}");
        }
        assert!(!is_json(&[]));
        assert!(!is_json(&["application/json", "application/json"]));
    }
}
