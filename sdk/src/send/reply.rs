//! A response as a plain value, and how it is decoded or becomes an error. No I/O.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use url::Url;

use super::trace::Span;
use crate::error::{Error, ErrorKind, History, Problem, RetryAfter, Route, excerpt, retry_after};
use crate::macros::debug;
use crate::model::{JobId, parse};

/// A response; one that a call returns has a success status. `Debug` does not show its body.
pub struct RawResponse {
    pub(crate) route: Route,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) is_cut: bool,
    pub(crate) withheld: bool,
    pub(crate) history: History,
    pub(crate) job: Option<JobId>,
    /// How long the last attempt took until the head of the response was received.
    pub(crate) elapsed: Duration,
    /// The span of the call, which ends when the response has been decoded.
    pub(super) span: Span,
    /// `Authorization` of the call, which no error repeats.
    pub(super) authorization: Option<HeaderValue>,
}

/// What a call returns.
impl RawResponse {
    /// The status, which is a success.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// All headers, for example those of a rate limit.
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The id of the request in the logs of the service (`x-request-id`).
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.headers)
    }

    /// The body as it was received.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// How many times the call was sent.
    pub const fn attempts(&self) -> u32 {
        self.history.attempts
    }

    /// The `data` of the envelope.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.envelope::<T, IgnoredAny>().map(|envelope| envelope.data)
    }

    /// The whole body as JSON.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        let response = self.accepted()?;
        let body = &response.body;
        parse(body).map_err(|source| response.undecodable::<T>(body, "", source))
    }
}

/// Without the span of the call, which ends with the original.
impl Clone for RawResponse {
    fn clone(&self) -> Self {
        Self {
            route: self.route.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            job: self.job.clone(),
            authorization: self.authorization.clone(),
            span: Span::none(),
            ..*self
        }
    }
}

debug!(RawResponse, |it| status = it.status, request_id = it.request_id(), bytes = it.body.len());

/// A value with its response; returned by `send_with_meta` of every call, such as
/// [`Call`](crate::request::Call::send_with_meta).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithMeta<T> {
    /// The decoded value.
    pub value: T,
    /// The response.
    pub meta: RawResponse,
}

#[derive(Deserialize)]
struct ErrorEnvelope {
    #[serde(rename = "data")]
    _null: (),
    #[serde(flatten)]
    problem: Problem,
}

impl RawResponse {
    pub(crate) fn new(route: Route, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            route,
            status,
            headers,
            body,
            is_cut: false,
            withheld: false,
            history: History { attempts: 1, ..History::default() },
            job: None,
            elapsed: Duration::ZERO,
            span: Span::none(),
            authorization: None,
        }
    }

    /// Marks that the body of a success contains credentials, so that no error shows it.
    pub(crate) const fn withheld(mut self) -> Self {
        self.withheld = true;
        self
    }

    pub(crate) fn retry_after(&self) -> Option<RetryAfter> {
        retry_after(&self.headers)
    }

    pub(crate) fn accepted(self) -> Result<Self, Error> {
        if self.status.is_success() { Ok(self) } else { Err(self.refused()) }
    }

    pub(super) fn error_envelope(&self) -> Option<Problem> {
        let envelope: ErrorEnvelope = parse(&self.body).ok()?;
        Some(envelope.problem)
    }

    pub(crate) fn refused(&self) -> Error {
        let withheld = self.repeats_the_key();
        self.refused_as(withheld)
    }

    pub(crate) fn refused_as(&self, withheld: bool) -> Error {
        let (problem, start) = (parse::<Problem>(&self.body).ok(), excerpt(&self.body));
        let mut text = match (&problem, content_encoding(&self.headers)) {
            _ if withheld => {
                ", with a body that is not shown because it repeats a credential".to_owned()
            }
            (Some(problem), _) => problem.to_string(),
            (None, Some(encoding)) => format!(", with a body encoded as {encoding}"),
            (None, None) if self.is_cut => format!(", with an incomplete body: {start}"),
            (None, None) if self.body.trim_ascii().is_empty() => ", with an empty body".to_owned(),
            (None, None) => format!(", with a body that is not the API's: {start}"),
        };
        let (status, kind) = (self.status, self.kind());
        if status == StatusCode::NOT_FOUND && kind == ErrorKind::Status {
            text += "; does the base URL end in `/api/v1`?";
        }
        let (problem, body) = (problem.filter(|_| !withheld), Some(self.body.clone()));
        let body = body.filter(|_| !withheld);
        self.error(Error::response(kind, status, &text, problem, self.retry_after(), body))
    }

    fn kind(&self) -> ErrorKind {
        let Route { method, template } = &self.route;
        match (ErrorKind::of_status(self.status), &**template) {
            (ErrorKind::Unauthorized | ErrorKind::Forbidden, Route::UPLOAD) => {
                ErrorKind::SlotRefused
            }
            // The API key was not sent.
            (ErrorKind::Unauthorized, Route::ASSET) => ErrorKind::Status,
            (ErrorKind::NotFound, template)
                if template.starts_with('/')
                    && method != Method::HEAD
                    && self.error_envelope().is_none()
                    && !self.may_be_an_envelope() =>
            {
                ErrorKind::Status
            }
            (kind, _) => kind,
        }
    }

    fn may_be_an_envelope(&self) -> bool {
        let start = self.body.trim_ascii_start();
        self.is_cut && (start.is_empty() || start.starts_with(b"{"))
    }

    pub(super) fn error(&self, error: Error) -> Error {
        self.span.failed(&error);
        error
            .of(self.route.clone(), request_id(&self.headers))
            .of_call(self.history, self.job.clone())
    }

    /// Whether the body repeats the key. Some services and proxies quote the request in an error.
    pub(super) fn repeats_the_key(&self) -> bool {
        let header = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        let key = header.and_then(|header| header.strip_prefix("Bearer "));
        key.is_some_and(|key| repeats(&String::from_utf8_lossy(&self.body), key))
    }
}

/// Shorter texts are not secret.
const SECRET_CHARS_MIN: usize = 8;

pub(crate) fn repeats(text: &str, secret: &str) -> bool {
    secret.len() >= SECRET_CHARS_MIN && text.contains(secret)
}

/// Whether a response repeats a query parameter, which may be a signature. Some storages quote the
/// request that they refuse.
pub(crate) fn repeats_query(body: &[u8], url: &Url) -> bool {
    let text = String::from_utf8_lossy(body);
    let as_sent = url.query().into_iter().flat_map(|query| query.split(['&', '=']));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    as_sent.map(str::to_owned).chain(meant).any(|secret| repeats(&text, &secret))
}

pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// `Content-Encoding`, unless the body is plain. A transport that decodes a body removes it.
fn content_encoding(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_ENCODING)?.as_bytes().trim_ascii();
    let is_plain = value.is_empty() || value.eq_ignore_ascii_case(b"identity");
    (!is_plain).then(|| excerpt(value))
}

/// The error of a success that cannot be decoded because of its `Content-Encoding`.
pub(crate) fn encoded(status: StatusCode, headers: &HeaderMap) -> Option<Error> {
    let encoding = content_encoding(headers)?;
    let reason = format!("its Content-Encoding {encoding} is not supported");
    Some(Error::decode(status, None, &reason, None))
}
