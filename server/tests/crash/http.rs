//! A client that tells what it knows of each request: the answer, that the request
//! never left, or that nobody knows.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use tokio::time::timeout;

/// No request may take longer, whatever happens.
const LIMIT: Duration = Duration::from_secs(30);
/// Shorter than the servers keep idle connections.
const IDLE: Duration = Duration::from_secs(4);

/// Sends requests.
#[derive(Clone)]
pub(crate) struct Http(Client<HttpConnector, Full<Bytes>>);

/// What is known of a request.
#[derive(Debug)]
pub(crate) enum Got {
    Answer(Answer),
    /// No connection was made.
    NotSent,
    /// It may have been carried out.
    Unknown(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Got {
    /// The answer of a server that is well.
    pub(crate) fn answer(self) -> Answer {
        match self {
            Self::Answer(answer) => answer,
            Self::NotSent => panic!("nobody listens"),
            Self::Unknown(why) => panic!("no answer came: {why}"),
        }
    }
}

impl Answer {
    /// The body; `Null` if it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    pub(crate) fn data(&self) -> Value {
        self.json()["data"].take()
    }

    /// For a message.
    pub(crate) fn shown(&self) -> String {
        let body: String = String::from_utf8_lossy(&self.bytes).chars().take(400).collect();
        format!("{} {body}", self.status)
    }
}

impl Http {
    pub(crate) fn new() -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .retry_canceled_requests(false)
            .build_http();
        Self(client)
    }

    /// Sends JSON, or nothing, to a path below the API's root.
    pub(crate) async fn call(
        &self,
        address: &str,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Got {
        let body = body.map(Value::to_string).unwrap_or_default();
        let url = format!("http://{address}/api/v1{path}");
        self.send(method, &url, key, "application/json", body.into()).await
    }

    /// Asks for what is open to everyone.
    pub(crate) async fn get(&self, url: &str) -> Got {
        self.send(Method::GET, url, "none", "text/plain", Bytes::new()).await
    }

    /// Sends anything anywhere.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &str,
        token: &str,
        content_type: &str,
        body: Bytes,
    ) -> Got {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", content_type)
            .body(Full::new(body))
            .unwrap();
        match timeout(LIMIT, self.answer(request)).await {
            Ok(got) => got,
            Err(_) => panic!("no answer from {url} within {LIMIT:?}"),
        }
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Got {
        let answer = match self.0.request(request).await {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => return Got::NotSent,
            Err(error) => return Got::Unknown(format!("{error:?}")),
        };
        let (head, body) = answer.into_parts();
        match body.collect().await {
            Ok(body) => {
                let (status, headers) = (head.status.as_u16(), head.headers);
                Got::Answer(Answer { status, headers, bytes: body.to_bytes() })
            }
            Err(error) => Got::Unknown(format!("{error:?}")),
        }
    }
}
