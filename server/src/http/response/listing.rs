//! A JSON list written while it is read from the store, one chunk at a time.
//!
//! Memory holds one chunk, however long the list. A list that fits into the
//! first chunk goes out whole, with its length; a failure before the first chunk
//! is an ordinary one.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use http::StatusCode;

use crate::http::error::ApiError;
use crate::http::response::{Payload, PayloadError, Reply, Unwritable, reply, whole};
use crate::store::StoreError;

/// Chunks go out once they have this size.
const CHUNK_BYTES: usize = 32 * 1024;

const HEAD: &[u8] = br#"{"data":["#;
const TAIL: &[u8] = br#"],"error":null}"#;

/// Writes one entry of a list as JSON.
pub type WriteEntry<T> = fn(&T, &mut Vec<u8>) -> Result<(), Unwritable>;

/// A list being written.
struct Listing<T> {
    entries: BoxStream<'static, Result<T, StoreError>>,
    write: WriteEntry<T>,
    chunk: Vec<u8>,
    begun: bool,
    ended: bool,
}

/// The list of `entries`, each as `write` writes it.
///
/// # Errors
/// What goes wrong before the first chunk is full. A later failure is logged and
/// cuts the connection.
pub async fn listing<T: Send + 'static>(
    entries: BoxStream<'static, Result<T, StoreError>>,
    write: WriteEntry<T>,
) -> Result<Reply, ApiError> {
    let chunk = HEAD.to_vec();
    let mut list = Listing { entries, write, chunk, begun: false, ended: false };
    list.fill().await?;
    let first = Bytes::from(std::mem::take(&mut list.chunk));
    if list.ended {
        return Ok(whole(StatusCode::OK, first));
    }
    let rest = stream::unfold(list, Listing::next_chunk);
    Ok(reply(StatusCode::OK, Payload::streamed(stream::iter([Ok(first)]).chain(rest))))
}

impl<T> Listing<T> {
    async fn next_chunk(mut self) -> Option<(Result<Bytes, PayloadError>, Self)> {
        if self.ended {
            return None;
        }
        // The last entry of a chunk goes over its size.
        self.chunk = Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4);
        let chunk = match self.fill().await {
            Ok(()) => Ok(std::mem::take(&mut self.chunk).into()),
            Err(error) => {
                tracing::error!(%error, "a list broke off while it was being written");
                self.ended = true;
                Err(PayloadError)
            }
        };
        Some((chunk, self))
    }

    /// Writes entries until the chunk is full or the list has ended.
    async fn fill(&mut self) -> Result<(), ApiError> {
        while self.chunk.len() < CHUNK_BYTES {
            let Some(entry) = self.entries.next().await.transpose()? else {
                self.chunk.extend_from_slice(TAIL);
                self.ended = true;
                break;
            };
            if self.begun {
                self.chunk.push(b',');
            }
            self.begun = true;
            (self.write)(&entry, &mut self.chunk)?;
        }
        Ok(())
    }
}
