//! The answer to one request.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::server::Problem;
use crate::{Asset, Page};

/// The answer of a [`Script`](super::Script) to a request, or a failure of the connection.
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
    pub(super) outcome: Outcome,
    pub(super) delay: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Response(ScriptedResponse),
    NoConnection,
    Disconnect,
    Never,
    /// The test has made a mistake.
    Invalid(String),
}

#[derive(Debug, Clone)]
pub(super) struct ScriptedResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    pub(super) end: End,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Bytes(Bytes),
    /// The error body of the API.
    Problem {
        message: String,
        fields: Vec<(String, String)>,
    },
}

/// How the body of a response ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Complete,
    /// The connection is lost after this many bytes.
    Cut(usize),
    /// Nothing more comes after this many bytes.
    Stalled(usize),
}

impl Answer {
    /// Success with this `data`, in the envelope of the API.
    pub fn data(data: &(impl Serialize + ?Sized)) -> Self {
        Self::json(serde_json::to_value(data).map(|data| json!({ "data": data, "error": null })))
    }

    /// Success with a page of a list.
    pub fn page<T: Serialize>(page: &Page<T>) -> Self {
        Self::json(serde_json::to_value(&page.items).map(|data| {
            let next = &page.next_cursor;
            json!({ "data": data, "error": null, "pagination": { "nextCursor": next } })
        }))
    }

    /// Success with an asset, as its URL returns it.
    pub fn asset(asset: &Asset) -> Self {
        let content_type = asset.content_type.as_deref();
        Self::raw(200, content_type.unwrap_or_default(), asset.bytes.clone())
    }

    /// An error status with this message, in the envelope of the API.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        let body = Body::Problem { message: message.into(), fields: Vec::new() };
        Self::response(status, "application/json", body)
    }

    /// An error status with this problem, in the envelope of the API.
    pub fn problem(status: u16, problem: &Problem) -> Self {
        let Problem { message, details } = problem;
        Self::json(Ok(json!({ "data": null, "error": message, "details": details }))).status(status)
    }

    /// A response of these bytes, for example the error page of a proxy. An empty content type
    /// sets no `Content-Type`.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::response(status, content_type, Body::Bytes(body.into()))
    }

    /// The connection is refused, and the request is not sent.
    pub fn no_connection() -> Self {
        Self::of(Outcome::NoConnection)
    }

    /// The connection is lost after the request was sent, before a response.
    pub fn disconnect() -> Self {
        Self::of(Outcome::Disconnect)
    }

    /// No response comes. Without a timeout the call never ends.
    pub fn never() -> Self {
        Self::of(Outcome::Never)
    }

    /// Sets the status.
    pub fn status(self, status: u16) -> Self {
        match StatusCode::from_u16(status) {
            Ok(status) => self.change("status", |response| response.status = status),
            Err(_) => self.invalid(&format!("invalid status {status}")),
        }
    }

    /// Adds a failing field with a message to an [`error`](Self::error). A field may have several
    /// messages.
    pub fn field(self, name: &str, text: &str) -> Self {
        match self.outcome {
            Outcome::Response(ScriptedResponse { body: Body::Problem { .. }, .. }) => {}
            _ => return self.invalid("only `Answer::error` has fields"),
        }
        self.change("field", |response| {
            if let Body::Problem { fields, .. } = &mut response.body {
                fields.push((name.to_owned(), text.to_owned()));
            }
        })
    }

    /// Adds a header, beside others of its name.
    pub fn header(self, name: &str, value: &str) -> Self {
        let (Ok(known), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            return self.invalid(&format!("invalid header {name:?}"));
        };
        self.change("header", |response| {
            response.headers.append(known, value);
        })
    }

    /// Adds `Retry-After`, or `retry-after-ms` if it is not in whole seconds.
    pub fn retry_after(self, delay: Duration) -> Self {
        if delay.subsec_nanos() == 0 {
            return self.header(RETRY_AFTER.as_str(), &delay.as_secs().to_string());
        }
        self.header("retry-after-ms", &delay.as_millis().to_string())
    }

    /// Adds the request id (`x-request-id`).
    pub fn request_id(self, id: &str) -> Self {
        self.header("x-request-id", id)
    }

    /// Delays the answer, counted from when all of the request has come.
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Loses the connection after this many bytes of the body.
    pub fn cut_at(self, bytes: usize) -> Self {
        self.change("body", |response| response.end = End::Cut(bytes))
    }

    /// Sends nothing more after this many bytes of the body.
    pub fn stall_at(self, bytes: usize) -> Self {
        self.change("body", |response| response.end = End::Stalled(bytes))
    }

    const fn of(outcome: Outcome) -> Self {
        Self { outcome, delay: Duration::ZERO }
    }

    fn json(value: serde_json::Result<Value>) -> Self {
        match value {
            Ok(value) => {
                Self::response(200, "application/json", Body::Bytes(value.to_string().into()))
            }
            Err(error) => Self::of(Outcome::Invalid(format!("not serializable as JSON: {error}"))),
        }
    }

    fn response(status: u16, content_type: &str, body: Body) -> Self {
        let (headers, end) = (HeaderMap::new(), End::Complete);
        let response = ScriptedResponse { status: StatusCode::OK, headers, body, end };
        let answer = Self::of(Outcome::Response(response)).status(status);
        if content_type.is_empty() {
            answer
        } else {
            answer.header(CONTENT_TYPE.as_str(), content_type)
        }
    }

    fn change(mut self, part: &str, change: impl FnOnce(&mut ScriptedResponse)) -> Self {
        match &mut self.outcome {
            Outcome::Response(response) => change(response),
            Outcome::Invalid(_) => {}
            _ => return self.invalid(&format!("without a response there is no {part}")),
        }
        self
    }

    /// The first mistake is the one that is reported.
    fn invalid(mut self, text: &str) -> Self {
        if !matches!(self.outcome, Outcome::Invalid(_)) {
            self.outcome = Outcome::Invalid(text.to_owned());
        }
        self
    }
}

impl ScriptedResponse {
    /// The body as it is on the wire.
    pub(super) fn bytes(&self) -> Bytes {
        match &self.body {
            Body::Bytes(bytes) => bytes.clone(),
            Body::Problem { message, fields } => {
                let details = details(fields);
                json!({ "data": null, "error": message, "details": details }).to_string().into()
            }
        }
    }
}

/// Each field with its message, or with all of them if there are several.
fn details(fields: &[(String, String)]) -> Value {
    let texts = |name: &str| {
        let texts = fields.iter().filter(|(field, _)| field == name).map(|(_, text)| json!(text));
        let mut texts: Vec<_> = texts.collect();
        if texts.len() == 1 { texts.swap_remove(0) } else { Value::from(texts) }
    };
    fields.iter().map(|(name, _)| (name.clone(), texts(name))).collect()
}
