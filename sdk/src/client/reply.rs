//! An answer as a plain value, and how it becomes a model or an error. No I/O.

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use jiff::fmt::rfc2822;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Error;
use super::error::{Excerpt, Refusal};
use super::request::Route;
use crate::model::{Cursor, Page, Timestamp};

/// One answer of the service.
#[derive(Debug)]
pub struct Reply {
    pub(super) route: Route,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the body of a success holds secrets.
    pub(super) withheld: bool,
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

    /// One page of a paginated list.
    ///
    /// An empty cursor names no place, so it ends the list as `null` does.
    pub(super) fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        let Envelope { data, pagination } = self.envelope()?;
        let next = pagination.and_then(|pagination| pagination.next_cursor);
        Ok(Page::new(data, next.filter(|cursor| !cursor.as_str().is_empty())))
    }

    /// How long the service asks to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }

    fn envelope<T: DeserializeOwned>(self) -> Result<Envelope<T>, Error> {
        if self.status.is_redirection() {
            return Err(self.redirected());
        }
        if !self.status.is_success() {
            return Err(self.refused());
        }
        serde_json::from_slice(&self.body).map_err(|source| self.unreadable::<T>(source))
    }

    /// Finding out which value is at fault costs more than reading, so the answer is
    /// read a second time for it, and only when reading failed.
    fn unreadable<T: DeserializeOwned>(&self, source: serde_json::Error) -> Error {
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let again: Result<Envelope<T>, _> = serde_path_to_error::deserialize(&mut reader);
        let path = again.err().map(|error| error.path().to_string());
        let path = path.filter(|path| path != ".");
        let id = request_id(&self.headers);
        let error = if self.withheld {
            Error::unreadable_and_withheld(self.status, path)
        } else {
            let near = Excerpt::at(&self.body, source.line(), source.column());
            Error::unreadable(self.status, path, source, near)
        };
        error.of(self.route.clone(), id)
    }

    /// That the service said no, in its own words.
    pub(super) fn refused(self) -> Error {
        let refusal = match serde_json::from_slice(&self.body) {
            Ok(problem) => Refusal::Stated(problem),
            Err(_) => Refusal::Other(Excerpt::start(&self.body)),
        };
        self.refused_with(refusal)
    }

    /// That the service said no, in these words.
    pub(super) fn refused_with(self, refusal: Refusal) -> Error {
        Error::refused(self.status, refusal)
            .of(self.route, request_id(&self.headers))
            .with_retry_after(retry_after(&self.headers))
    }

    fn redirected(self) -> Error {
        let location = self.headers.get(http::header::LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        Error::redirected(self.status, location, KEY_STAYS)
            .of(self.route, request_id(&self.headers))
    }
}

/// What the service calls the request in its own logs.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// How long to leave the service alone, in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()?;
    // A moment that has passed is no time to wait.
    Some(Duration::try_from(date.duration_since(Timestamp::now())).unwrap_or_default())
}
