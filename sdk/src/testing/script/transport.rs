//! The script as a transport, and the requests that it records.

use std::fmt;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body::Frame;
use serde_json::Value;

use super::answer::{End, Outcome, ScriptedResponse};
use super::expectation::{Entry, Source};
use super::{Answer, Script, State};
use crate::transport::{Body, Failure, Transport};

/// The status of the answer to an unexpected request. It is not retried.
const UNEXPECTED: u16 = 501;

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
        for (index, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl Transport for Script {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let script = self.clone();
        Box::pin(async move { script.respond(request).await })
    }
}

impl Script {
    async fn respond(self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        let (number, source) = self.record(SeenRequest::of(&request));
        if let Source::Once(Answer { outcome: Outcome::NoConnection, delay }) = source {
            tokio::time::sleep(delay).await;
            return Err(Failure::connecting(scripted(io::ErrorKind::ConnectionRefused)));
        }
        let body = request.into_body().collect().await?;
        let seen = self.record_body(number, body);
        let Answer { outcome, delay } = match source {
            Source::Once(answer) => answer,
            Source::Always(answer) => answer(&seen),
        };
        tokio::time::sleep(delay).await;
        match outcome {
            Outcome::Response(response) => Ok(response.into_http()),
            Outcome::NoConnection => {
                Err(Failure::connecting(scripted(io::ErrorKind::ConnectionRefused)))
            }
            Outcome::Disconnect => {
                Err(Failure::exchanging(scripted(io::ErrorKind::ConnectionReset)))
            }
            Outcome::Never => pending().await,
            Outcome::Invalid(text) => {
                let text = format!("invalid answer to {seen}: {text}");
                self.state().mistakes.push(text.clone());
                Ok(unexpected(text))
            }
        }
    }

    /// Records a request and finds its answer.
    fn record(&self, request: SeenRequest) -> (usize, Source) {
        let mut state = self.state();
        let mut matching = state.entries.iter_mut().filter(|entry| entry.matches(&request));
        let source = matching.find_map(Entry::next_answer).unwrap_or_else(|| {
            let text = state.unexpected(&request);
            state.mistakes.push(text.clone());
            Source::Once(Answer::error(UNEXPECTED, text))
        });
        state.seen.push(request);
        (state.seen.len() - 1, source)
    }

    fn record_body(&self, number: usize, body: Bytes) -> SeenRequest {
        let request = &mut self.state().seen[number];
        request.body = body;
        request.clone()
    }
}

impl State {
    fn unexpected(&self, request: &SeenRequest) -> String {
        let expected = self.entries.iter().filter(|entry| entry.has_answer());
        let expected: Vec<_> = expected.map(ToString::to_string).collect();
        if expected.is_empty() {
            return format!("unexpected request {request}; none was expected");
        }
        format!("unexpected request {request}; expected: {}", expected.join(", "))
    }
}

fn scripted(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "scripted by a test")
}

fn unexpected(text: String) -> Response<Body> {
    match Answer::error(UNEXPECTED, text).outcome {
        Outcome::Response(response) => response.into_http(),
        _ => Response::default(),
    }
}

impl ScriptedResponse {
    fn into_http(self) -> Response<Body> {
        let body = self.bytes();
        let partial = |size: usize, disconnects| {
            let start = Some(body.slice(..size.min(body.len())));
            Body::new(Partial { start, disconnects })
        };
        let mut response = Response::new(match self.end {
            End::Complete => Body::full(body),
            End::Cut(size) => partial(size, true),
            End::Stalled(size) => partial(size, false),
        });
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// The start of a body, after which the connection is lost or nothing more comes.
struct Partial {
    start: Option<Bytes>,
    disconnects: bool,
}

impl http_body::Body for Partial {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self.start.take() {
            Some(start) if !start.is_empty() => Poll::Ready(Some(Ok(Frame::data(start)))),
            _ if self.disconnects => {
                let failure = Failure::exchanging(scripted(io::ErrorKind::UnexpectedEof));
                Poll::Ready(Some(Err(failure)))
            }
            _ => Poll::Pending,
        }
    }
}
