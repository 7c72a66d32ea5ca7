//! A JSON list that is written while it is read from the store, one chunk at a time.
//!
//! Memory holds one chunk, however long the list is. A list that fits into the first chunk is
//! sent with its length. A failure before the end of the first chunk gets an error response.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use http::StatusCode;

use crate::http::error::ApiError;
use crate::http::response::{Response, ResponseBody, ResponseBodyError, SerializeError, json};
use crate::limits::LISTING_CHUNK_BYTES;
use crate::store::StoreError;

const HEAD: &[u8] = br#"{"data":["#;
const TAIL: &[u8] = br#"],"error":null}"#;

/// Writes one entry of a list as JSON.
pub(super) type WriteEntry<T> = fn(&T, &mut Vec<u8>) -> Result<(), SerializeError>;

struct Listing<T> {
    entries: BoxStream<'static, Result<T, StoreError>>,
    write: WriteEntry<T>,
    chunk: Vec<u8>,
    has_entries: bool,
    ended: bool,
}

/// The list of `entries`, each written by `write`.
///
/// # Errors
/// What fails before the first chunk is full. A later failure is logged and cuts the
/// connection.
pub(crate) async fn listing<T: Send + 'static>(
    entries: BoxStream<'static, Result<T, StoreError>>,
    write: WriteEntry<T>,
) -> Result<Response, ApiError> {
    let chunk = HEAD.to_vec();
    let mut list = Listing { entries, write, chunk, has_entries: false, ended: false };
    list.fill().await?;
    let first = Bytes::from(std::mem::take(&mut list.chunk));
    if list.ended {
        return Ok(json(StatusCode::OK, first));
    }
    let rest = stream::unfold(list, Listing::next_chunk);
    let body = ResponseBody::stream(stream::iter([Ok(first)]).chain(rest));
    Ok(json(StatusCode::OK, body))
}

impl<T> Listing<T> {
    async fn next_chunk(mut self) -> Option<(Result<Bytes, ResponseBodyError>, Self)> {
        if self.ended {
            return None;
        }
        // The last entry of a chunk exceeds its size.
        self.chunk = Vec::with_capacity(LISTING_CHUNK_BYTES + LISTING_CHUNK_BYTES / 4);
        let chunk = match self.fill().await {
            Ok(()) => Ok(std::mem::take(&mut self.chunk).into()),
            Err(error) => {
                tracing::error!(%error, "a list failed while it was sent");
                self.ended = true;
                Err(ResponseBodyError)
            }
        };
        Some((chunk, self))
    }

    /// Writes entries until the chunk is full or the list has ended.
    async fn fill(&mut self) -> Result<(), ApiError> {
        while self.chunk.len() < LISTING_CHUNK_BYTES {
            let Some(entry) = self.entries.next().await.transpose()? else {
                self.chunk.extend_from_slice(TAIL);
                self.ended = true;
                break;
            };
            if self.has_entries {
                self.chunk.push(b',');
            }
            self.has_entries = true;
            (self.write)(&entry, &mut self.chunk)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    /// The list of this many entries, after which the store fails.
    async fn failing_after(entries: usize) -> Result<Response, ApiError> {
        let texts = stream::iter(0..entries).map(|_| Ok("x".repeat(4_000)));
        let failure = stream::iter([Err(StoreError::KeyTaken)]);
        let write: WriteEntry<String> = |text, chunk| {
            chunk.extend_from_slice(text.as_bytes());
            Ok(())
        };
        listing(texts.chain(failure).boxed(), write).await
    }

    #[tokio::test]
    async fn a_failure_in_the_first_chunk_is_an_error_and_a_later_one_ends_the_body() {
        assert!(failing_after(0).await.is_err() && failing_after(8).await.is_err());
        let mut body = failing_after(9).await.unwrap().into_body();
        assert!(body.frame().await.unwrap().is_ok());
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }
}
