//! Reads the body of a request, within limits of size and time.
//!
//! Only endpoints that need a body read it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, timeout, timeout_at};

pub use crate::limits::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use crate::limits::{DISCARD_BYTES_MAX, DISCARD_TIMEOUT, UPLOAD_RATE_MIN};

/// Why a body could not be read. Sizes are those of an upload slot, times are seconds.
#[derive(Debug, thiserror::Error)]
pub enum BodyReadError {
    #[error("the request needs one header `Content-Type: application/json`")]
    NotJson,
    #[error("the body has more than {BODY_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the body has more than the {0} bytes that were declared")]
    Longer(u64),
    #[error("the body has fewer than the {0} bytes that were declared")]
    Shorter(u64),
    #[error("the body did not arrive within {0} seconds")]
    TooSlow(u64),
    #[error("the body broke off")]
    Broken(#[source] hyper::Error),
}

/// Reads a JSON body (EN-02). One that is declared too large is not read at all.
pub(crate) async fn read_json(
    body: &mut Incoming,
    headers: &HeaderMap,
) -> Result<Bytes, BodyReadError> {
    if !declares_json(headers) {
        return Err(BodyReadError::NotJson);
    }
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(BodyReadError::TooLarge);
    }
    let read = async {
        let mut all = BytesMut::new();
        while let Some(bytes) = next_data(body).await? {
            if all.len() + bytes.len() > BODY_BYTES_MAX {
                return Err(BodyReadError::TooLarge);
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    };
    let read = timeout(Duration::from_secs(BODY_SECONDS_MAX), read).await;
    read.unwrap_or(Err(BodyReadError::TooSlow(BODY_SECONDS_MAX)))
}

/// Reads and discards the rest in the background, within limits. Closing a socket with
/// unread bytes resets the connection, and the client could lose the response.
pub(crate) fn discard(mut body: Incoming) {
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(timeout(DISCARD_TIMEOUT, async move {
        let mut left = DISCARD_BYTES_MAX;
        while let Ok(Some(bytes)) = next_data(&mut body).await {
            match left.checked_sub(bytes.len()) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    }));
}

/// A body that is read piece by piece and checked for its exact size.
pub(crate) struct ExactBody<'a> {
    body: &'a mut Incoming,
    size: u64,
    left: u64,
    seconds: u64,
    deadline: Instant,
}

impl<'a> ExactBody<'a> {
    /// Starts reading a body of exactly `size` bytes. If another size is declared, nothing is
    /// read.
    pub(crate) fn new(body: &'a mut Incoming, size: u64) -> Result<Self, BodyReadError> {
        match body.size_hint().exact() {
            Some(declared) if declared > size => Err(BodyReadError::Longer(size)),
            Some(declared) if declared < size => Err(BodyReadError::Shorter(size)),
            _ => {
                let seconds = BODY_SECONDS_MAX + size / UPLOAD_RATE_MIN;
                let deadline = Instant::now() + Duration::from_secs(seconds);
                Ok(Self { body, size, left: size, seconds, deadline })
            }
        }
    }

    /// The next piece; `None` after exactly the declared number of bytes.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, BodyReadError> {
        let next = timeout_at(self.deadline, next_data(self.body)).await;
        let Some(bytes) = next.map_err(|_| BodyReadError::TooSlow(self.seconds))?? else {
            return if self.left > 0 { Err(BodyReadError::Shorter(self.size)) } else { Ok(None) };
        };
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(BodyReadError::Longer(self.size))?;
        Ok(Some(bytes))
    }
}

/// The next data frame; trailers are skipped.
async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, BodyReadError> {
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame.map_err(BodyReadError::Broken)?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// The only `Content-Type`.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    Some(value.as_bytes().trim_ascii())
}

fn declares_json(headers: &HeaderMap) -> bool {
    let essence = content_type(headers).and_then(|value| value.split(|byte| *byte == b';').next());
    essence.is_some_and(|text| text.trim_ascii().eq_ignore_ascii_case(b"application/json"))
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
