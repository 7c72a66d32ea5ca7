//! A response as a plain value, and how it is decoded or becomes an error. No I/O.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use url::Url;

use super::config::Config;
use super::outcome::History;
use super::request::Route;
use super::retry_after::RetryAfter;
use super::trace::Span;
use crate::error::{Error, ErrorBody, ErrorKind, Excerpt, Problem};
use crate::model::{self, Cursor, GenerationStatus, JobId, Page};

/// The end of the base URL of every deployment.
const API_ROOT: &str = "/api/v1";

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) route: Route,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the body of a success contains credentials.
    pub(crate) withheld: bool,
    pub(crate) history: History,
    pub(crate) job: Option<JobId>,
    /// How long the last attempt took until the head of the response was received.
    pub(crate) elapsed: Duration,
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

/// A page as it was received; some items of it may be undecodable.
pub(crate) struct FetchedPage<T> {
    pub(crate) items: Vec<Result<T, Error>>,
    pub(crate) next_cursor: Option<Cursor>,
}

impl<T> FetchedPage<T> {
    /// The page, if all its items can be decoded.
    pub(crate) fn whole(self) -> Result<Page<T>, Error> {
        let Self { items, next_cursor } = self;
        let items: Result<_, _> = items.into_iter().collect();
        match items {
            Ok(items) => Ok(Page::new(items, next_cursor)),
            Err(error) => Err(error.with_next_cursor(next_cursor)),
        }
    }
}

impl Reply {
    /// The response to a request that was sent once.
    pub(crate) fn new(route: Route, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            route,
            status,
            headers,
            body,
            withheld: false,
            history: History { attempts: 1, ..History::default() },
            job: None,
            elapsed: Duration::ZERO,
            span: Span::none(),
            authorization: None,
            lacks_api_root: false,
        }
    }

    /// Sets the call and its client.
    pub(crate) fn of_call(mut self, span: Span, config: &Config) -> Self {
        span.answered(self.status);
        self.span = span;
        self.lacks_api_root = !config.base_url.path().ends_with(API_ROOT);
        self
    }

    pub(crate) fn of_attempt(mut self, authorization: HeaderValue, elapsed: Duration) -> Self {
        (self.authorization, self.elapsed) = (Some(authorization), elapsed);
        self
    }

    /// A copy that does not keep the span of the call open.
    pub(crate) fn detached(&self) -> Self {
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

    /// Marks that the body of a success contains credentials, so that no error shows it.
    pub(crate) const fn withheld(mut self) -> Self {
        self.withheld = true;
        self
    }

    pub(crate) fn retry_after(&self) -> Option<RetryAfter> {
        RetryAfter::of(&self.headers, SystemTime::now)
    }

    /// Whether this is a status of the job that was asked for.
    pub(crate) fn shows_job(&self) -> bool {
        let status = self.envelope::<GenerationStatus, IgnoredAny>();
        status.is_ok_and(|Envelope { data: status, .. }| {
            status.client_job_id.is_none() || status.client_job_id == self.job
        })
    }

    pub(crate) fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.envelope::<T, IgnoredAny>().map(|envelope| envelope.data)
    }

    /// The `data` of a success, or this value for a response without a body (204).
    pub(crate) fn data_or<T: DeserializeOwned>(self, empty: T) -> Result<T, Error> {
        let reply = self.accepted()?;
        if reply.body.is_empty() { Ok(empty) } else { reply.data() }
    }

    /// The `data` of a success; `None` for [`ErrorKind::NotFound`].
    pub(crate) fn data_if_found<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        match self.data() {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One page of a list, if all its items can be decoded.
    pub(crate) fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        self.fetched_page()?.whole()
    }

    /// One page of a list. Items that cannot be decoded are errors beside the others, and the
    /// cursor is not lost. An empty cursor ends the list as `null` does.
    pub(crate) fn fetched_page<T: DeserializeOwned>(self) -> Result<FetchedPage<T>, Error> {
        match self.envelope::<Vec<T>, Pagination>() {
            Ok(Envelope { data, pagination, .. }) => Ok(FetchedPage {
                items: data.into_iter().map(Ok).collect(),
                next_cursor: next(pagination),
            }),
            Err(error) => {
                // Again, with the items as they were received.
                let Ok(Envelope { data, pagination, .. }) =
                    parse::<Envelope<Vec<Box<RawValue>>, Pagination>>(&self.body)
                else {
                    return Err(error);
                };
                let next_cursor = next(pagination);
                let items = data.iter().enumerate().map(|(index, item)| {
                    let item = item.get().as_bytes();
                    let place = format!("data[{index}]");
                    parse(item).map_err(|source| {
                        let error = self.undecodable::<T>(item, &place, source);
                        error.with_next_cursor(next_cursor.clone())
                    })
                });
                Ok(FetchedPage { items: items.collect(), next_cursor })
            }
        }
    }

    /// The whole body of a success.
    pub(crate) fn whole<T: DeserializeOwned>(self) -> Result<T, Error> {
        let reply = self.accepted()?;
        parse(&reply.body).map_err(|source| reply.undecodable::<T>(&reply.body, "", source))
    }

    /// The response, if its status is a success.
    pub(crate) fn accepted(self) -> Result<Self, Error> {
        if self.status.is_success() { Ok(self) } else { Err(self.refused()) }
    }

    fn envelope<T, P>(&self) -> Result<Envelope<T, P>, Error>
    where
        T: DeserializeOwned,
        P: DeserializeOwned,
    {
        if !self.status.is_success() {
            return Err(self.refused());
        }
        let envelope = parse(&self.body);
        if !matches!(&envelope, Ok(Envelope { error: None, .. })) && self.error_envelope().is_some()
        {
            return Err(self.refused());
        }
        envelope.map_err(|source| self.undecodable::<Envelope<T, P>>(&self.body, "", source))
    }

    /// The body, if it is an error response of the API.
    fn error_envelope(&self) -> Option<Problem> {
        let envelope: ErrorEnvelope = parse(&self.body).ok()?;
        Some(envelope.problem)
    }

    pub(crate) fn refused(&self) -> Error {
        let withheld = self.repeats_the_key();
        self.refused_as(withheld)
    }

    /// The error of a status that is not a success, without the body if that is withheld.
    pub(crate) fn refused_as(&self, withheld: bool) -> Error {
        let body = match parse(&self.body) {
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

    /// The error of a success with JSON, all of it or the part at `place`, that cannot be decoded
    /// as `T`. Finding the position costs more than decoding, so it is decoded again for it.
    fn undecodable<T: DeserializeOwned>(
        &self,
        json: &[u8],
        place: &str,
        source: serde_json::Error,
    ) -> Error {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let again: Result<T, _> = serde_path_to_error::deserialize(&mut reader);
        let path = again.err().map(|error| error.path().to_string()).filter(|path| path != ".");
        let path = match (place, path) {
            ("", path) => path,
            (place, None) => Some(place.to_owned()),
            (place, Some(path)) => Some(format!("{place}.{path}")),
        };
        let (status, path) = (self.status, path.as_deref());
        if self.withheld || self.repeats_the_key() {
            let reason = "the body is not shown because it contains a credential";
            return self.error(Error::decode(status, path, reason, None));
        }
        let error = if let Some(error) = encoded(status, &self.headers) {
            error
        } else if json.is_empty() {
            Error::decode(status, path, "the body is empty", None)
        } else {
            let near = Excerpt::at(json, source.line(), source.column());
            Error::decode(status, path, &reason(&source).to_string(), Some(&near))
        };
        self.error(error.because(source))
    }

    fn error(&self, error: Error) -> Error {
        self.span.failed(&error);
        error
            .of(self.route.clone(), request_id(&self.headers))
            .of_call(self.history, self.job.clone())
    }

    /// Whether the body repeats the key. Some services and proxies quote the request in an error.
    fn repeats_the_key(&self) -> bool {
        let header = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        let key = header.and_then(|header| header.strip_prefix("Bearer "));
        key.is_some_and(|key| repeats(&String::from_utf8_lossy(&self.body), key))
    }
}

/// Parses JSON, with the mistakes of services that have one meaning only: a byte order mark, half
/// of a surrogate pair, invalid UTF-8.
fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    let json = model::without_bom(json);
    serde_json::from_slice(json).or_else(|error| match model::repaired(json) {
        Some(repaired) => serde_json::from_slice(&repaired).map_err(|_| error),
        None => Err(error),
    })
}

/// The cursor of the next page. An empty one ends the list as `null` does.
fn next(pagination: Option<Pagination>) -> Option<Cursor> {
    let next = pagination.and_then(|pagination| pagination.next_cursor);
    next.filter(|cursor| !cursor.as_str().is_empty())
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

/// The id of the request in the logs of the service.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
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
pub(crate) fn encoded(status: StatusCode, headers: &HeaderMap) -> Option<Error> {
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
