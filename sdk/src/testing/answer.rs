//! The answer to one request.
#![expect(clippy::expect_used, reason = "a mistake of the test ends the test")]

use std::future::pending;
use std::io::{self, ErrorKind};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde::Serialize;
use serde_json::{Value, json};

use crate::transport::{Body, Failure};
use crate::{Asset, Page};

/// The answer of a [`Script`](super::Script) to a request, or a failure of the connection.
///
/// # Panics
///
/// What no server can answer is a mistake of the test, and panics: an invalid status or header, a
/// part of a response where none comes, data that cannot be serialized as JSON.
///
/// ```
/// use std::time::Duration;
/// use promptarium::testing::{Answer, fixture};
///
/// Answer::data(&fixture::prompt()).after(Duration::from_secs(3));
/// Answer::error(400, "title is wrong").field("title", "must not be empty");
/// Answer::error(429, "slow down").retry_after(Duration::from_secs(2));
/// Answer::raw(502, "text/html", "<h1>Bad Gateway</h1>");
/// Answer::no_connection();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Answer {
    response: Response<Bytes>,
    end: End,
    delay: Duration,
}

/// How much of the response comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    /// The connection is lost after this many bytes of the body.
    Cut(usize),
    /// Nothing more comes after this many bytes of the body.
    Stalled(usize),
    NoConnection,
    Disconnect,
    Never,
}

impl Answer {
    /// Success with this `data`, in the envelope of the API.
    #[track_caller]
    pub fn data(data: &(impl Serialize + ?Sized)) -> Self {
        let data = serde_json::to_value(data).expect("data that is valid as JSON");
        Self::json(200, &json!({ "data": data, "error": null }))
    }

    /// Success with a page of a list.
    #[track_caller]
    pub fn page<T: Serialize>(page: &Page<T>) -> Self {
        let data = serde_json::to_value(&page.items).expect("items that are valid as JSON");
        let pagination = json!({ "nextCursor": page.next_cursor });
        Self::json(200, &json!({ "data": data, "error": null, "pagination": pagination }))
    }

    /// Success with an asset, as its URL returns it.
    #[track_caller]
    pub fn asset(asset: &Asset) -> Self {
        let content_type = asset.content_type.as_deref();
        Self::raw(200, content_type.unwrap_or_default(), asset.bytes.clone())
    }

    /// An error status with this message, in the envelope of the API.
    #[track_caller]
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::json(status, &json!({ "data": null, "error": message, "details": {} }))
    }

    /// A response of these bytes, for example the error page of a proxy. An empty content type
    /// sets no `Content-Type`.
    #[track_caller]
    pub fn raw(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let response = Response::new(body.into());
        let answer = Self { response, end: End::Complete, delay: Duration::ZERO }.status(status);
        if content_type.is_empty() {
            return answer;
        }
        answer.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// The connection is refused, and the request is not sent.
    pub fn no_connection() -> Self {
        Self::without_response(End::NoConnection)
    }

    /// The connection is lost after the request was sent, before a response.
    pub fn disconnect() -> Self {
        Self::without_response(End::Disconnect)
    }

    /// No response comes. Without a timeout the call never ends.
    pub fn never() -> Self {
        Self::without_response(End::Never)
    }

    /// Sets the status.
    #[track_caller]
    pub fn status(mut self, status: u16) -> Self {
        let status = StatusCode::from_u16(status).expect("a valid status");
        *self.response("status").status_mut() = status;
        self
    }

    /// Adds a failing field with a message to an [`error`](Self::error). A field may have several
    /// messages.
    #[track_caller]
    pub fn field(mut self, name: &str, text: &str) -> Self {
        let body = self.response("field").body_mut();
        let mut envelope: Value = serde_json::from_slice(body).unwrap_or_default();
        let details = envelope.get_mut("details").and_then(Value::as_object_mut);
        let details = details.expect("only an error has fields");
        let issue = match details.remove(name) {
            None => json!(text),
            Some(Value::Array(texts)) => texts.into_iter().chain([json!(text)]).collect(),
            Some(one) => json!([one, text]),
        };
        details.insert(name.to_owned(), issue);
        *body = envelope.to_string().into();
        self
    }

    /// Adds a header, beside others of its name.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).expect("a valid header name");
        let value = HeaderValue::try_from(value).expect("a valid header value");
        self.response("header").headers_mut().append(name, value);
        self
    }

    /// Adds `Retry-After`, or `retry-after-ms` if it is not in whole seconds.
    #[track_caller]
    pub fn retry_after(self, delay: Duration) -> Self {
        if delay.subsec_nanos() == 0 {
            return self.header(RETRY_AFTER.as_str(), &delay.as_secs().to_string());
        }
        self.header("retry-after-ms", &delay.as_millis().to_string())
    }

    /// Adds the request id (`x-request-id`).
    #[track_caller]
    pub fn request_id(self, id: &str) -> Self {
        self.header("x-request-id", id)
    }

    /// Delays the answer, counted from when all of the request has come.
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Loses the connection after this many bytes of the body.
    #[track_caller]
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.response("body");
        self.end = End::Cut(bytes);
        self
    }

    /// Sends nothing more after this many bytes of the body.
    #[track_caller]
    pub fn stall_at(mut self, bytes: usize) -> Self {
        self.response("body");
        self.end = End::Stalled(bytes);
        self
    }

    #[track_caller]
    fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    fn without_response(end: End) -> Self {
        Self { response: Response::default(), end, delay: Duration::ZERO }
    }

    #[track_caller]
    fn response(&mut self, part: &str) -> &mut Response<Bytes> {
        let is_missing = matches!(self.end, End::NoConnection | End::Disconnect | End::Never);
        assert!(!is_missing, "without a response there is no {part}");
        &mut self.response
    }

    pub(super) fn refuses_connection(&self) -> bool {
        self.end == End::NoConnection
    }

    pub(super) async fn send(self) -> Result<Response<Body>, Failure> {
        tokio::time::sleep(self.delay).await;
        let scripted = |kind| io::Error::new(kind, "scripted by a test");
        let (size, is_cut) = match self.end {
            End::Complete => return Ok(self.response.map(Body::full)),
            End::Cut(size) => (size, true),
            End::Stalled(size) => (size, false),
            End::NoConnection => {
                return Err(Failure::connecting(scripted(ErrorKind::ConnectionRefused)));
            }
            End::Disconnect => {
                return Err(Failure::exchanging(scripted(ErrorKind::ConnectionReset)));
            }
            End::Never => pending().await,
        };
        Ok(self.response.map(|body| {
            let start = Full::new(body.slice(..size.min(body.len())));
            let lost = Failure::exchanging(scripted(ErrorKind::UnexpectedEof));
            let end = async move { if is_cut { Some(Err(lost)) } else { pending().await } };
            Body::new(start.map_err(|never| match never {}).with_trailers(end))
        }))
    }
}
