//! A client that keeps its connections, and distinguishes requests that were not sent from requests
//! whose outcome is unknown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::client::{Connection, Response, request};

/// Idle connections by address.
#[derive(Clone, Default)]
pub(crate) struct Http(Arc<Mutex<BTreeMap<String, Vec<Connection>>>>);

#[derive(Debug)]
pub(crate) enum Outcome {
    Response(Response),
    /// No connection was made.
    NotSent,
    /// It was sent, but no complete response came.
    Unknown,
}

/// A request to the API as bytes; a body of `Null` is none.
pub(crate) fn json_request(key: &str, method: &str, path: &str, body: Value) -> String {
    let body = match body {
        Value::Null => None,
        body => Some(body.to_string()),
    };
    request(key, method, path, body.as_deref())
}

impl Http {
    /// The response of a server that must be available.
    pub(crate) async fn ask(&self, address: &str, request: impl AsRef<[u8]>) -> Response {
        match self.send(address, request).await {
            Outcome::Response(response) => response,
            outcome => panic!("no response: {outcome:?}"),
        }
    }

    /// Sends a request as bytes.
    pub(crate) async fn send(&self, address: &str, request: impl AsRef<[u8]>) -> Outcome {
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
