//! An HTTP client that distinguishes requests that were not sent from requests whose
//! outcome is unknown.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use super::server::PUBLIC_URL;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Shorter than the idle timeout of the server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

#[derive(Clone)]
pub(crate) struct Http(pub(crate) Client);

/// A request to the API.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// JSON, or empty.
    pub(crate) body: String,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Response(Response),
    /// No connection was made.
    NotSent,
    /// It was sent, but no complete response came.
    Unknown,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Request {
    /// A body of `Null` is none.
    pub(crate) fn new(method: &str, path: impl Into<String>, body: Value) -> Self {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        Self::raw(method, path, body)
    }

    pub(crate) fn raw(method: &str, path: impl Into<String>, body: String) -> Self {
        Self { method: method.parse().unwrap(), path: path.into(), body }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path, Value::Null)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new("POST", path, body)
    }
}

impl Outcome {
    /// The response of a server that must be available.
    pub(crate) fn response(self) -> Response {
        match self {
            Self::Response(response) => response,
            outcome => panic!("no response: {outcome:?}"),
        }
    }
}

impl Response {
    /// The body, `Null` if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    pub(crate) fn data(&self) -> Value {
        self.json()["data"].take()
    }

    /// Status and body, for messages.
    pub(crate) fn summary(&self) -> String {
        let body: String = String::from_utf8_lossy(&self.bytes).chars().take(400).collect();
        format!("{} {body}", self.status)
    }

    /// Whether the body is the envelope of an error.
    pub(crate) fn is_error_envelope(&self) -> bool {
        let body = self.json();
        let error = body["error"].as_str().unwrap_or_default();
        body["data"].is_null() && !error.is_empty() && body["details"].is_object()
    }
}

impl Http {
    pub(crate) fn new() -> Self {
        Self::with_timeout(REQUEST_TIMEOUT)
    }

    pub(crate) fn with_timeout(timeout: Duration) -> Self {
        let client = Client::builder().no_proxy().retry(reqwest::retry::never());
        Self(client.timeout(timeout).pool_idle_timeout(IDLE_TIMEOUT).build().unwrap())
    }

    pub(crate) async fn call(&self, address: &str, key: &str, request: &Request) -> Outcome {
        let Request { method, path, body } = request;
        let url = format!("http://{address}/api/v1{path}");
        let builder = self.0.request(method.clone(), url).bearer_auth(key);
        let builder = match &**body {
            "" => builder,
            body => builder.header("content-type", "application/json").body(body.to_owned()),
        };
        send(builder).await
    }

    /// Sends a GET request without a key.
    pub(crate) async fn get(&self, address: &str, path: &str) -> Outcome {
        send(self.0.get(format!("http://{address}{path}"))).await
    }

    /// Reads an asset by its public address.
    pub(crate) async fn get_asset(&self, address: &str, url: &str) -> Response {
        self.get(address, url.strip_prefix(PUBLIC_URL).unwrap_or_default()).await.response()
    }
}

pub(crate) async fn send(request: RequestBuilder) -> Outcome {
    let exchange = async {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Outcome::Response(Response { status, headers, bytes: response.bytes().await? }))
    };
    exchange.await.unwrap_or_else(|error: reqwest::Error| {
        assert!(!error.is_timeout(), "no response in time: {error:?}");
        if error.is_connect() { Outcome::NotSent } else { Outcome::Unknown }
    })
}
