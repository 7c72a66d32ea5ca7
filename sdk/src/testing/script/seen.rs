//! What a script was asked.

use std::fmt;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Uri};
use serde_json::Value;

use crate::transport::Body;

/// Where the API begins, by the rules (`EN-01`).
const ROOT: &str = "/api/v1";

/// A request that a [`Script`](super::Script) was asked to answer.
///
/// `Display` is one line, such as `GET /prompts?limit=2`. The API key and the token of an
/// upload are nowhere in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeenRequest {
    /// The method.
    pub method: Method,
    /// The path after the base URL, such as `/prompts/7`; of an address outside of the API
    /// the whole of it, without its query.
    pub path: String,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
    /// The headers but for `Authorization`.
    pub headers: HeaderMap,
    /// Whether it had an `Authorization` header: the API key, or the token of an upload.
    pub authorized: bool,
    /// The body; empty if there was none, or if the call was given up before all of it had
    /// come.
    pub body: Bytes,
}

impl SeenRequest {
    pub(super) fn of(request: &Request<Body>) -> Self {
        let mut headers = request.headers().clone();
        let authorized = headers.remove(AUTHORIZATION).is_some();
        let uri = request.uri();
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query = query.into_owned().collect();
        let (method, path) = (request.method().clone(), path(uri));
        Self { method, path, query, headers, authorized, body: Bytes::new() }
    }

    /// The value of a query parameter, if it is there.
    #[must_use]
    pub fn query_value(&self, name: &str) -> Option<&str> {
        self.query.iter().find_map(|(found, value)| (found == name).then_some(value.as_str()))
    }

    /// The value of a header, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; `null` if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The API is known by its root, so that a client may have any base URL.
fn path(uri: &Uri) -> String {
    match uri.path().strip_prefix(ROOT) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        _ => {
            let scheme = uri.scheme_str().unwrap_or_default();
            let host = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
            format!("{scheme}://{host}{}", uri.path())
        }
    }
}

impl fmt::Display for SeenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (at, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}
