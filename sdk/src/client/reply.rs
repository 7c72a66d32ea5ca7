//! A response as a plain value, and how it is decoded or becomes an error. No I/O.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::Error;
use super::config::Config;
use super::error::{ErrorBody, ErrorKind, Excerpt, Problem};
use super::request::Route;
use super::retry::retry_after;
use super::trace::Span;
use crate::model::{Cursor, JobId, Page, Timestamp};

/// The end of the base URL of every deployment.
const API_ROOT: &str = "/api/v1";

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) route: Route,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the body of a success contains credentials.
    pub(super) withheld: bool,
    pub(super) attempts: u32,
    pub(super) job: Option<JobId>,
    /// When the call was first sent, where that matters.
    pub(super) since: Option<Timestamp>,
    /// The span of the call, which ends when the response has been decoded.
    span: Span,
    /// `Authorization` of the call, which no error repeats.
    authorization: Option<HeaderValue>,
    /// Whether the base URL does not end in [`API_ROOT`].
    lacks_api_root: bool,
}

#[derive(Deserialize)]
struct Envelope<T, P> {
    data: T,
    pagination: Option<P>,
    error: Option<IgnoredAny>,
}

/// Without `nextCursor` it would be unknown whether there is a next page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    #[serde(deserialize_with = "Option::deserialize")]
    next_cursor: Option<Cursor>,
}

#[derive(Deserialize)]
struct ErrorEnvelope {
    #[serde(rename = "data")]
    _null: (),
    #[serde(flatten)]
    problem: Problem,
}

impl Reply {
    /// The response to a request that was sent once.
    pub(super) fn new(route: Route, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            route,
            status,
            headers,
            body,
            withheld: false,
            attempts: 1,
            job: None,
            since: None,
            span: Span::none(),
            authorization: None,
            lacks_api_root: false,
        }
    }

    /// Sets the call and its client.
    pub(super) fn of_call(mut self, span: Span, config: &Config) -> Self {
        span.answered(self.status);
        self.span = span;
        self.authorization = config.headers.get(AUTHORIZATION).cloned();
        self.lacks_api_root = !config.base_url.path().ends_with(API_ROOT);
        self
    }

    pub(super) fn detached(self) -> Self {
        Self { span: Span::none(), ..self }
    }

    /// Marks that the body of a success contains credentials, so that no error shows it.
    pub(super) const fn withheld(mut self) -> Self {
        self.withheld = true;
        self
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers, Timestamp::now)
    }

    pub(super) fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.envelope::<T, IgnoredAny>().map(|envelope| envelope.data)
    }

    /// The `data` of a success, or this value for a response without a body (204).
    pub(super) fn data_or<T: DeserializeOwned>(self, empty: T) -> Result<T, Error> {
        let reply = self.accepted()?;
        if reply.body.is_empty() { Ok(empty) } else { reply.data() }
    }

    /// The `data` of a success; `None` for [`ErrorKind::NotFound`].
    pub(super) fn data_if_found<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        match self.data() {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One page of a list. An empty cursor ends the list as `null` does.
    pub(super) fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        let Envelope { data, pagination, .. } = self.envelope::<_, Pagination>()?;
        let next = pagination.and_then(|pagination| pagination.next_cursor);
        Ok(Page::new(data, next.filter(|cursor| !cursor.as_str().is_empty())))
    }

    /// The whole body of a success.
    pub(super) fn whole<T: DeserializeOwned>(self) -> Result<T, Error> {
        let reply = self.accepted()?;
        serde_json::from_slice(&reply.body).map_err(|source| reply.undecodable::<T>(source))
    }

    /// The response, if its status is a success.
    pub(super) fn accepted(self) -> Result<Self, Error> {
        if self.status.is_success() { Ok(self) } else { Err(self.refused()) }
    }

    fn envelope<T, P>(self) -> Result<Envelope<T, P>, Error>
    where
        T: DeserializeOwned,
        P: DeserializeOwned,
    {
        let reply = self.accepted()?;
        let envelope = serde_json::from_slice(&reply.body);
        if !matches!(&envelope, Ok(Envelope { error: None, .. }))
            && reply.error_envelope().is_some()
        {
            return Err(reply.refused());
        }
        envelope.map_err(|source| reply.undecodable::<Envelope<T, P>>(source))
    }

    /// The body, if it is an error response of the API.
    fn error_envelope(&self) -> Option<Problem> {
        let envelope: ErrorEnvelope = serde_json::from_slice(&self.body).ok()?;
        Some(envelope.problem)
    }

    pub(super) fn refused(self) -> Error {
        let withheld = self.repeats_the_key();
        self.refused_as(withheld)
    }

    /// The error of a status that is not a success, without the body if that is withheld.
    pub(super) fn refused_as(self, withheld: bool) -> Error {
        let body = match serde_json::from_slice(&self.body) {
            _ if withheld => ErrorBody::Withheld,
            Ok(problem) => ErrorBody::Envelope(problem),
            Err(_) => match content_encoding(&self.headers) {
                Some(encoding) => ErrorBody::Encoded(encoding),
                None => ErrorBody::Other(Excerpt::start(&self.body)),
            },
        };
        let (status, kind) = (self.status, self.kind());
        let hint = if status == StatusCode::NOT_FOUND
            && kind == ErrorKind::Status
            && self.lacks_api_root
        {
            "; the base URL may lack `/api/v1`"
        } else {
            ""
        };
        let kept = (!withheld).then(|| self.body.clone());
        let error = Error::response(kind, status, body, hint);
        self.error(error.of_response(self.retry_after(), kept))
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
                    && self.error_envelope().is_none() =>
            {
                ErrorKind::Status
            }
            (kind, _) => kind,
        }
    }

    /// The error of a success that cannot be decoded as `T`. Finding the position costs more than
    /// decoding, so the body is decoded again for it.
    fn undecodable<T: DeserializeOwned>(&self, source: serde_json::Error) -> Error {
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let again: Result<T, _> = serde_path_to_error::deserialize(&mut reader);
        let path = again.err().map(|error| error.path().to_string()).filter(|path| path != ".");
        let (status, path) = (self.status, path.as_deref());
        if self.withheld || self.repeats_the_key() {
            let reason = "the body is not shown because it contains a credential";
            return self.error(Error::decode(status, path, reason, None));
        }
        let error = if let Some(error) = encoded(status, &self.headers) {
            error
        } else if self.body.is_empty() {
            Error::decode(status, path, "the body is empty", None)
        } else {
            let near = Excerpt::at(&self.body, source.line(), source.column());
            Error::decode(status, path, &reason(&source).to_string(), Some(&near))
        };
        self.error(error.because(source))
    }

    fn error(&self, error: Error) -> Error {
        self.span.failed(&error);
        error
            .of(self.route.clone(), request_id(&self.headers))
            .after_attempts(self.attempts, self.job.clone())
    }

    /// Whether the body repeats the key. Some services and proxies quote the request in an error.
    fn repeats_the_key(&self) -> bool {
        let header = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        let key = header.and_then(|header| header.strip_prefix("Bearer "));
        key.is_some_and(|key| repeats(&String::from_utf8_lossy(&self.body), key))
    }
}

/// Shorter texts are not secret.
const SECRET_CHARS_MIN: usize = 8;

pub(super) fn repeats(text: &str, secret: &str) -> bool {
    secret.len() >= SECRET_CHARS_MIN && text.contains(secret)
}

/// The id of the request in the logs of the service.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// `Content-Encoding`, unless the body is plain. A transport that decodes a body removes it.
fn content_encoding(headers: &HeaderMap) -> Option<Excerpt> {
    let value = headers.get(CONTENT_ENCODING)?.as_bytes().trim_ascii();
    let is_plain = value.is_empty() || value.eq_ignore_ascii_case(b"identity");
    (!is_plain).then(|| Excerpt::start(value))
}

/// The error of a success that cannot be decoded because of its `Content-Encoding`.
pub(super) fn encoded(status: StatusCode, headers: &HeaderMap) -> Option<Error> {
    let encoding = content_encoding(headers)?;
    let reason = format!("its Content-Encoding {encoding} is not supported");
    Some(Error::decode(status, None, &reason, None))
}

/// Why `serde_json` cannot decode a body, without the position.
fn reason(source: &serde_json::Error) -> Excerpt {
    let text = source.to_string();
    let position = format!(" at line {} column {}", source.line(), source.column());
    Excerpt::start(text.strip_suffix(&position).unwrap_or(&text).as_bytes())
}
