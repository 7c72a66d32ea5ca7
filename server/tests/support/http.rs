//! A client that keeps its connections, and distinguishes requests that were not sent from requests
//! whose outcome is unknown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::client::{Connection, Response, request};

/// Idle connections by address.
#[derive(Clone, Default)]
pub(crate) struct Http(Arc<Mutex<BTreeMap<String, Vec<Connection>>>>);

/// A request to the API.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
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

impl Request {
    /// A body of `Null` is none.
    pub(crate) fn new(method: &str, path: impl Into<String>, body: Value) -> Self {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        Self { method: method.to_owned(), path: path.into(), body }
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

impl Http {
    pub(crate) async fn call(&self, address: &str, key: &str, sent: &Request) -> Outcome {
        self.send(address, request(key, &sent.method, &sent.path, Some(&sent.body))).await
    }

    /// Sends a GET request without a key.
    pub(crate) async fn get(&self, address: &str, path: &str) -> Outcome {
        self.send(address, format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await
    }

    /// Uploads an image to a path.
    pub(crate) async fn put(
        &self,
        address: &str,
        path: &str,
        token: &str,
        bytes: &[u8],
    ) -> Outcome {
        let length = bytes.len();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\n\
             content-type: image/png\r\ncontent-length: {length}\r\n\r\n"
        );
        self.send(address, [head.as_bytes(), bytes].concat()).await
    }

    async fn send(&self, address: &str, request: impl AsRef<[u8]>) -> Outcome {
        let idle = || self.0.lock().unwrap().get_mut(address)?.pop();
        let mut connection = match std::iter::from_fn(idle).find(Connection::is_open) {
            Some(connection) => connection,
            None => match Connection::try_open(address).await {
                Ok(connection) => connection,
                Err(_) => return Outcome::NotSent,
            },
        };
        connection.send(request).await;
        let Some(response) = connection.response().await else { return Outcome::Unknown };
        if response.header("connection") != Some("close") {
            self.0.lock().unwrap().entry(address.to_owned()).or_default().push(connection);
        }
        Outcome::Response(response)
    }
}
