//! `/api/v1/openapi.json`: the service described by itself. What the document says is
//! for the room `openapi`; here it is bytes with a tag.
//!
//! It stands outside of the envelope, since programs that read OpenAPI look for the
//! document itself (S-79).

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::header::{CACHE_CONTROL, ETAG};
use http::{HeaderValue, StatusCode};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::assets::matches_etag;
use super::{Api, Visit};
use crate::http::error::ApiError;
use crate::http::response::{self, Reply};

/// Where the document is.
pub const PATH: &str = "/api/v1/openapi.json";

/// The document as it goes out. Clones share it.
#[derive(Clone, Debug)]
pub struct Document {
    json: Bytes,
    tag: HeaderValue,
}

impl Document {
    /// Writes a document, once for all requests.
    #[must_use]
    pub fn new(document: &Value) -> Self {
        let json = Bytes::from(document.to_string());
        let digest = HEXLOWER.encode(&Sha256::digest(&json)[..16]);
        let tag = HeaderValue::from_str(&format!("\"{digest}\""));
        // Hexadecimal digits always fit.
        Self { json, tag: tag.unwrap_or_else(|_| HeaderValue::from_static("\"none\"")) }
    }
}

/// `GET /openapi.json` (S-54).
///
/// # Errors
/// None: it was written when the server started.
pub fn get(api: &Api, visit: &Visit<'_>) -> Result<Reply, ApiError> {
    let Document { json, tag } = &api.openapi;
    let has_it = tag.to_str().is_ok_and(|tag| matches_etag(&visit.parts.headers, tag));
    let mut reply = match has_it {
        true => response::empty(StatusCode::NOT_MODIFIED),
        false => response::written(json.clone()),
    };
    let headers = reply.headers_mut();
    headers.insert(ETAG, tag.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::BASE_PATH;

    #[test]
    fn the_document_is_at_the_root_of_the_api() {
        assert_eq!(PATH, format!("{BASE_PATH}/openapi.json"));
    }
}
