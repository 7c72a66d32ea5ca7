//! Decodes the body of a response. No I/O.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::reply::{RawResponse, encoded};
use crate::error::{Error, excerpt, excerpt_at};
use crate::model::{Cursor, Page, parse};

#[derive(Deserialize)]
pub(super) struct Envelope<T, P> {
    pub(super) data: T,
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

/// A page as it was received; some items of it may be undecodable.
pub(crate) type FetchedPage<T> = Page<Result<T, Error>>;

impl<T> FetchedPage<T> {
    pub(crate) fn whole(self) -> Result<Page<T>, Error> {
        let items: Result<_, _> = self.items.into_iter().collect();
        Ok(Page::new(items?, self.next_cursor))
    }
}

impl RawResponse {
    /// The `data` of a success, or this value for a response without a body (204) or with `null`.
    pub(crate) fn data_or<T: DeserializeOwned>(self, empty: T) -> Result<T, Error> {
        let reply = self.accepted()?;
        let data = if reply.body.is_empty() { None } else { reply.data()? };
        Ok(data.unwrap_or(empty))
    }

    pub(crate) fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        self.fetched_page()?.whole()
    }

    /// One page of a list. Items that cannot be decoded are errors beside the others, and the
    /// cursor is not lost. An empty cursor ends the list as `null` does.
    pub(crate) fn fetched_page<T: DeserializeOwned>(self) -> Result<FetchedPage<T>, Error> {
        match self.envelope::<Vec<T>, Pagination>() {
            Ok(Envelope { data, pagination, .. }) => {
                Ok(Page::new(data.into_iter().map(Ok).collect(), next(pagination)))
            }
            Err(error) => {
                // Again, with the items as they were received.
                let Ok(Envelope { data, pagination, .. }) =
                    parse::<Envelope<Vec<Box<RawValue>>, Pagination>>(&self.body)
                else {
                    return Err(error);
                };
                let items = data.iter().enumerate().map(|(index, item)| {
                    let item = item.get().as_bytes();
                    let place = format!("data[{index}]");
                    parse(item).map_err(|source| self.undecodable::<T>(item, &place, source))
                });
                Ok(Page::new(items.collect(), next(pagination)))
            }
        }
    }

    pub(super) fn envelope<T, P>(&self) -> Result<Envelope<T, P>, Error>
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
            return Err(self.refused().doubted());
        }
        envelope.map_err(|source| self.undecodable::<Envelope<T, P>>(&self.body, "", source))
    }

    /// The error of a success with JSON, all of it or the part at `place`, that cannot be decoded
    /// as `T`. Finding the position costs more than decoding, so it is decoded again for it.
    pub(super) fn undecodable<T: DeserializeOwned>(
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
            let near = excerpt_at(json, source.line(), source.column());
            Error::decode(status, path, &reason(&source), Some(&near))
        };
        self.error(error.because(source))
    }
}

/// The cursor of the next page. An empty one ends the list as `null` does.
fn next(pagination: Option<Pagination>) -> Option<Cursor> {
    let next = pagination.and_then(|pagination| pagination.next_cursor);
    next.filter(|cursor| !cursor.as_str().is_empty())
}

/// Why `serde_json` cannot decode a body, without the position.
fn reason(source: &serde_json::Error) -> String {
    let text = source.to_string();
    let position = format!(" at line {} column {}", source.line(), source.column());
    excerpt(text.strip_suffix(&position).unwrap_or(&text))
}
