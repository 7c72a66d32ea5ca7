//! Reading a request's body, within limits of size and time.
//!
//! Only endpoints that want a body read one. What the bytes mean is for
//! `validate`; which status a refusal gets is for `error`.

pub mod exact;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

/// The most bytes a JSON body may have.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long the whole of a JSON body may take to arrive, in seconds; a large
/// upload has more.
pub const BODY_SECONDS_MAX: u64 = 30;

/// How long an unwanted body is still read, and how much of it.
const LINGER: Duration = Duration::from_secs(3);
const LINGER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A request's body, to be read at most once.
#[derive(Debug)]
pub struct RequestBody {
    incoming: Incoming,
    ended: bool,
}

/// Why a body was not taken.
#[derive(Debug, thiserror::Error)]
pub enum BodyRefusal {
    /// The header does not announce JSON.
    #[error("the request needs one header `Content-Type: application/json`")]
    NotJson,
    /// It has, or announces, more than [`BODY_BYTES_MAX`].
    #[error("the body has more than {BODY_BYTES_MAX} bytes")]
    TooLarge,
    /// It has, or announces, more than the bytes that were agreed.
    #[error("the body has more than the {0} bytes that were declared")]
    Longer(u64),
    /// It has, or announces, fewer than the bytes that were agreed.
    #[error("the body has fewer than the {0} bytes that were declared")]
    Shorter(u64),
    /// It took longer than so many seconds.
    #[error("the body did not arrive within {0} seconds")]
    TooSlow(u64),
    /// The connection or its framing broke.
    #[error("the body broke off")]
    Broken(#[source] hyper::Error),
}

impl RequestBody {
    /// Nothing is read yet.
    pub fn new(incoming: Incoming) -> Self {
        Self { ended: incoming.is_end_stream(), incoming }
    }

    /// Reads the bytes of a JSON body (EN-02). A body in one piece is not copied.
    ///
    /// # Errors
    /// If the headers announce something else than JSON or too much of it, and if
    /// what comes is too large, too slow or broken.
    pub async fn read_json(&mut self, headers: &HeaderMap) -> Result<Bytes, BodyRefusal> {
        if !announces_json(headers) {
            return Err(BodyRefusal::NotJson);
        }
        if announced_bytes(headers) > BODY_BYTES_MAX as u64 {
            return Err(BodyRefusal::TooLarge);
        }
        timeout(Duration::from_secs(BODY_SECONDS_MAX), self.read())
            .await
            .unwrap_or(Err(BodyRefusal::TooSlow(BODY_SECONDS_MAX)))
    }

    /// Lets the client finish sending what nobody wants, in the background and
    /// within limits. A socket closed on unread bytes resets the connection, and
    /// the client may then lose the answer that said why.
    pub fn linger(self) {
        if self.ended {
            return;
        }
        let mut incoming = self.incoming;
        tokio::spawn(timeout(LINGER, async move {
            let mut left = LINGER_BYTES_MAX;
            while let Some(Ok(frame)) = incoming.frame().await {
                match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
        }));
    }

    async fn read(&mut self) -> Result<Bytes, BodyRefusal> {
        let first = self.next().await?.unwrap_or_default();
        let Some(second) = self.next().await? else {
            return Ok(first);
        };
        let mut all = BytesMut::with_capacity(first.len() + second.len());
        all.extend_from_slice(&first);
        all.extend_from_slice(&second);
        while let Some(bytes) = self.next().await? {
            if all.len() + bytes.len() > BODY_BYTES_MAX {
                return Err(BodyRefusal::TooLarge);
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }

    /// The next piece of data; trailers are passed over.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyRefusal> {
        while let Some(frame) = self.incoming.frame().await {
            if let Ok(bytes) = frame.map_err(BodyRefusal::Broken)?.into_data() {
                return Ok(Some(bytes));
            }
        }
        self.ended = true;
        Ok(None)
    }
}

fn announces_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let value = value.as_bytes();
    let essence = value.split(|byte| *byte == b';').next().unwrap_or(value);
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// 0 where nothing is announced; hyper has checked the header's form.
fn announced_bytes(headers: &HeaderMap) -> u64 {
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
    fn only_one_json_content_type_announces_json() {
        let announces = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            announces_json(&headers)
        };
        for json in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            " application/json ;a=b",
        ] {
            assert!(announces(&[json]), "{json}");
        }
        for other in ["", "text/plain", "application/jsonx", "application/json-patch+json", ";"] {
            assert!(!announces(&[other]), "{other}");
        }
        assert!(!announces(&[]));
        assert!(!announces(&["application/json", "application/json"]));
    }
}
