//! An answer as a plain value, and how it becomes a model or an error. No I/O.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Error;
use super::error::{Excerpt, Refusal};
use super::request::Route;
use crate::model::{Cursor, Page};

/// One answer of the service.
#[derive(Debug)]
pub struct Reply {
    pub(super) route: Route,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
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

impl Reply {
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
        let near = Excerpt::at(&self.body, source.line(), source.column());
        let id = request_id(&self.headers);
        Error::unreadable(self.status, path, source, near).of(self.route.clone(), id)
    }

    fn refused(self) -> Error {
        let refusal = match serde_json::from_slice(&self.body) {
            Ok(problem) => Refusal::Stated(problem),
            Err(_) => Refusal::Other(Excerpt::start(&self.body)),
        };
        Error::refused(self.status, refusal).of(self.route, request_id(&self.headers))
    }

    fn redirected(self) -> Error {
        let location = self.headers.get(http::header::LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        Error::redirected(self.status, location).of(self.route, request_id(&self.headers))
    }
}

/// What the service calls the request in its own logs.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}
