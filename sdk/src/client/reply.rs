//! An answer as a plain value, and how it becomes a model or an error. No I/O.

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::fmt::rfc2822;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Error;
use super::error::{Excerpt, Refusal};
use super::request::Route;
use super::trace::Span;
use crate::model::{Cursor, JobId, Page, Timestamp};

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// One answer of the service.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) route: Route,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the body of a success holds secrets.
    pub(super) withheld: bool,
    /// How often the call was sent.
    pub(super) attempts: u32,
    /// The key the call carried.
    pub(super) job: Option<JobId>,
    /// `Retry-After` of the response.
    pub(super) retry_after: Option<Duration>,
    /// The call, which goes on until its answer has been read.
    span: Span,
    /// What authorised the call, which no error may repeat.
    authorization: Option<HeaderValue>,
}

/// The envelope of a success (`EN-03`); its `error` is `null` and says nothing.
#[derive(Deserialize)]
struct Envelope<T> {
    data: T,
    pagination: Option<Pagination>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    next_cursor: Option<Cursor>,
}

/// Why a call of the API follows no redirect.
const KEY_STAYS: &str = "redirects are not followed, because the key goes to the base URL only";

impl Reply {
    /// The answer to a request that was sent once.
    pub(super) fn new(route: Route, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            route,
            status,
            headers,
            body,
            withheld: false,
            attempts: 1,
            job: None,
            retry_after: None,
            span: Span::none(),
            authorization: None,
        }
    }

    /// The same answer, as that of a call which is told what becomes of it.
    pub(super) fn within(mut self, span: Span) -> Self {
        span.answered(self.status);
        self.span = span;
        self
    }

    /// The same answer, to a call with this authorisation.
    pub(super) fn to(mut self, authorization: Option<&HeaderValue>) -> Self {
        self.authorization = authorization.cloned();
        self
    }

    /// Whether the body repeats the key. Some services, and proxies in front of them,
    /// quote the request they refuse.
    fn repeats_the_key(&self) -> bool {
        let header = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        let key = header.and_then(|header| header.strip_prefix("Bearer "));
        key.is_some_and(|key| repeats(&String::from_utf8_lossy(&self.body), key))
    }

    /// The same answer, whose call has ended although it may not have been read.
    pub(super) fn detached(self) -> Self {
        Self { span: Span::none(), ..self }
    }

    /// The same answer, of which no error repeats what a success says: it holds
    /// secrets.
    pub(super) const fn withheld(mut self) -> Self {
        self.withheld = true;
        self
    }

    /// The `data` of a success.
    pub(super) fn data<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.envelope().map(|envelope| envelope.data)
    }

    /// The `data` of a success, or this value for a response without a body (204).
    pub(super) fn data_or<T: DeserializeOwned>(
        self,
        empty: impl FnOnce() -> T,
    ) -> Result<T, Error> {
        let reply = self.accepted()?;
        if reply.body.is_empty() { Ok(empty()) } else { reply.data() }
    }

    /// The `data` of a success; `None` if the service does not have it.
    pub(super) fn data_if_found<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        match self.data() {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One page of a paginated list.
    ///
    /// An empty cursor names no place, so it ends the list as `null` does.
    pub(super) fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        let Envelope { data, pagination } = self.envelope()?;
        let next = pagination.and_then(|pagination| pagination.next_cursor);
        Ok(Page::new(data, next.filter(|cursor| !cursor.as_str().is_empty())))
    }

    /// `Retry-After` of the headers.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers, Timestamp::now)
    }

    /// The same response with `Retry-After` read from its headers.
    pub(super) fn with_retry_after(mut self) -> Self {
        self.retry_after = self.retry_after();
        self
    }

    fn envelope<T: DeserializeOwned>(self) -> Result<Envelope<T>, Error> {
        let reply = self.accepted()?;
        reply.read()
    }

    /// The whole body of a success, whatever its form.
    pub(super) fn whole<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.accepted()?.read()
    }

    fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|source| self.unreadable::<T>(source))
    }

    /// The same answer, if it is a success.
    pub(super) fn accepted(self) -> Result<Self, Error> {
        if self.status.is_redirection() {
            return Err(self.redirected());
        }
        if !self.status.is_success() {
            return Err(self.refused());
        }
        Ok(self)
    }

    /// Finding out which value is at fault costs more than reading, so the answer is
    /// read a second time for it, and only when reading failed.
    fn unreadable<T: DeserializeOwned>(&self, source: serde_json::Error) -> Error {
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let again: Result<T, _> = serde_path_to_error::deserialize(&mut reader);
        let path = again.err().map(|error| error.path().to_string());
        let path = path.filter(|path| path != ".");
        let error = if self.withheld || self.repeats_the_key() {
            Error::unreadable_and_withheld(self.status, path)
        } else {
            let near = Excerpt::at(&self.body, source.line(), source.column());
            Error::unreadable(self.status, path, source, near)
        };
        self.tell(error)
    }

    /// An error of this call.
    fn tell(&self, error: Error) -> Error {
        self.span.failed(&error);
        error
            .of(self.route.clone(), request_id(&self.headers))
            .after_attempts(self.attempts, self.job.clone())
    }

    /// That the service said no, in its own words.
    pub(super) fn refused(self) -> Error {
        let refusal = match serde_json::from_slice(&self.body) {
            _ if self.repeats_the_key() => Refusal::Withheld,
            Ok(problem) => Refusal::Stated(problem),
            Err(_) => Refusal::Other(Excerpt::start(&self.body)),
        };
        self.refused_with(refusal)
    }

    /// That the service said no, in these words.
    pub(super) fn refused_with(self, refusal: Refusal) -> Error {
        let kept = match refusal {
            Refusal::Withheld => None,
            _ => Some(self.body.clone()),
        };
        let error = Error::refused(self.status, refusal).with_retry_after(self.retry_after);
        self.tell(error.with_body(kept))
    }

    fn redirected(self) -> Error {
        let location = self.headers.get(http::header::LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        self.tell(Error::redirected(self.status, location, KEY_STAYS))
    }
}

/// Texts shorter than this are no secrets.
const SECRET_CHARS_MIN: usize = 8;

/// Whether a text repeats a secret.
pub(super) fn repeats(text: &str, secret: &str) -> bool {
    secret.len() >= SECRET_CHARS_MIN && text.contains(secret)
}

/// What the service calls the request in its own logs.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// How long to leave the service alone: in milliseconds by the header some services
/// have for that, in seconds, or as a date.
fn retry_after(headers: &HeaderMap, now: impl FnOnce() -> Timestamp) -> Option<Duration> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    if let Some(millis) = text(RETRY_AFTER_MS).and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let text = text(RETRY_AFTER)?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()?;
    // A moment that has passed is no time to wait.
    Some(Duration::try_from(date.duration_since(now())).unwrap_or_default())
}
