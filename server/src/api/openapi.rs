//! `GET /api/v1/openapi.json`: the document `server/openapi.yaml`, without envelope (S-54, S-79).

use std::sync::LazyLock;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::files::matches_etag;
use super::{Api, HandlerResult, Request};
use crate::domain::{ModelNamespace, PublicUrl};
use crate::http::response::{self, ResponseBody};

pub(crate) const PATH: &str = "/api/v1/openapi.json";

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the file is part of the program and tested")]
    yaml_serde::from_str(include_str!("../../openapi.yaml")).expect("openapi.yaml is valid YAML")
});

/// The document for this public URL, which is relative if there is none, and prefix of models.
pub fn document(public: Option<&PublicUrl>, model_namespace: &ModelNamespace) -> Value {
    let mut document = DOCUMENT.clone();
    if let (Some(public), Some(url)) = (public, document.pointer_mut("/servers/0/url")) {
        *url = Value::from(public.url().as_str().trim_end_matches('/'));
    }
    let pattern = document.pointer_mut("/components/schemas/ModelId/pattern");
    if let Some(Value::String(pattern)) = pattern {
        *pattern = pattern.replacen("local", &model_namespace.as_str().replace('.', r"\."), 1);
    }
    document
}

/// The document as response body, with its entity tag. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Document {
    json: Bytes,
    etag: String,
}

impl Document {
    #[must_use]
    pub fn new(document: &Value) -> Self {
        let json = Bytes::from(document.to_string());
        let etag = format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(&json)[..16]));
        Self { json, etag }
    }
}

pub(crate) async fn get(api: &Api, request: Request<'_>) -> HandlerResult {
    let Document { json, etag } = &api.openapi;
    let reply = http::Response::builder().header(ETAG, etag).header(CACHE_CONTROL, "no-cache");
    let reply = reply.header(VARY, "accept-encoding");
    if matches_etag(&request.parts.headers, etag) {
        return Ok(reply.status(StatusCode::NOT_MODIFIED).body(response::no_body())?);
    }
    let body = ResponseBody::Left(json.clone().into());
    Ok(reply.header(CONTENT_TYPE, "application/json").body(body)?)
}

#[cfg(test)]
mod tests;
