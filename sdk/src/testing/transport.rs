//! The script as a transport, and the requests that it records.

use std::fmt;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, Uri};
use serde_json::Value;

use super::Script;
use super::script::Source;
use crate::transport::{Body, Failure, Transport};

/// The path of the API on its host, by the specification.
const API_ROOT: &str = "/api/v1";

/// A request that a [`Script`] received.
///
/// `Display` is one line, such as `GET /prompts?limit=2`, without the API key and the token of an
/// upload.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeenRequest {
    /// The method.
    pub method: Method,
    /// The path after the base URL, such as `/prompts/7`; for a URL outside of the API all of it,
    /// without its query.
    pub path: String,
    /// The query parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The headers except `Authorization`.
    pub headers: HeaderMap,
    /// Whether the request had an `Authorization` header: the API key, or the token of an upload.
    pub authorized: bool,
    /// The body. Empty if there was none, or if the call was cancelled before all of it came.
    pub body: Bytes,
}

impl SeenRequest {
    fn of(request: &Request<Body>) -> Self {
        let mut headers = request.headers().clone();
        let authorized = headers.remove(AUTHORIZATION).is_some();
        let uri = request.uri();
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query = query.into_owned().collect();
        let (method, path) = (request.method().clone(), path(uri));
        Self { method, path, query, headers, authorized, body: Bytes::new() }
    }

    /// The value of a query parameter.
    #[must_use]
    pub fn query_value(&self, name: &str) -> Option<&str> {
        self.query.iter().find_map(|(found, value)| (found == name).then_some(value.as_str()))
    }

    /// The value of a header, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; `null` if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Any host may have the API, since the client may have any base URL.
fn path(uri: &Uri) -> String {
    match uri.path().strip_prefix(API_ROOT) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        _ => uri.to_string().split('?').next().unwrap_or_default().to_owned(),
    }
}

impl fmt::Display for SeenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (index, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl Transport for Script {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let script = self.clone();
        Box::pin(async move {
            let (number, source) = script.record(SeenRequest::of(&request));
            if !matches!(&source, Source::Once(answer) if answer.refuses_connection()) {
                let body = request.into_body().collect().await?;
                script.state().seen[number].body = body;
            }
            let answer = match source {
                Source::Once(answer) => answer,
                Source::Always(answer) => {
                    let seen = script.state().seen[number].clone();
                    answer(&seen)
                }
            };
            answer.send().await
        })
    }
}
