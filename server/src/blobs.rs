//! Stored files ("blobs"): in memory, in a folder, or in an S3-compatible store.
//!
//! A file is put once under a new name, becomes visible only as a whole, and never changes.

pub(crate) mod asset_url;
mod error;
mod setting;
mod staging;
pub(crate) mod upload_slot;

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attribute, Error, GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload,
};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

pub(crate) use self::asset_url::AssetName;
pub(crate) use self::error::{BlobError, BlobOpenError, PutError};
pub use self::setting::BlobSetting;
use self::staging::Staging;
pub(crate) use self::staging::Upload;
use crate::limits::{ASSET_PIECE_BYTES, S3_CONFIRM_TIMEOUT};

/// Where files are stored. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    staging: Staging,
}

/// A file, or a part of one, to be read.
pub struct Blob {
    /// Size of the whole file.
    pub size: u64,
    /// The requested bytes.
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

impl Blobs {
    /// A new, empty store in memory.
    pub fn in_memory() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }

    /// Stores files in any object store that supports [`PutMode::Create`]. An upload is in
    /// memory until it is complete.
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, staging: Staging::Memory }
    }

    /// Starts an upload of exactly `size` bytes.
    pub fn upload(&self, name: &AssetName, size: u64) -> Upload {
        Upload::new(self.clone(), *name, size)
    }

    /// Puts a whole file under a name that has none, in one step: of several concurrent calls
    /// exactly one succeeds, and no reader sees a partial file.
    ///
    /// # Errors
    /// [`PutError`].
    pub async fn put_new(&self, name: &AssetName, bytes: Bytes) -> Result<(), PutError> {
        match &self.staging {
            Staging::Folder(folder) => folder.put(None, bytes, name).await,
            Staging::Memory | Staging::TempFile(_) => self.put_object(name, bytes.into()).await,
        }
    }

    /// The size of a file; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn size_of(&self, name: &AssetName) -> Result<Option<u64>, BlobError> {
        Ok(found(self.store.head(&key(name)).await)?.map(|meta| meta.size))
    }

    /// A file, or the part of it in `range`, which must lie within it; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn get(
        &self,
        name: &AssetName,
        range: Option<Range<u64>>,
    ) -> Result<Option<Blob>, BlobError> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let got = found(self.store.get_opts(&key(name), options).await)?;
        Ok(got.map(|got| {
            let (size, range) = (got.meta.size, got.range);
            let bytes = match got.payload {
                GetResultPayload::Stream(stream) => {
                    stream.map(|piece| piece.map_err(BlobError::from)).boxed()
                }
                GetResultPayload::File(file, _) => {
                    stream::try_unfold((Some(file), range), next_piece).boxed()
                }
            };
            Blob { size, bytes }
        }))
    }

    /// A whole file in memory; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn read_all(&self, name: &AssetName) -> Result<Option<Bytes>, BlobError> {
        match found(self.store.get(&key(name)).await)? {
            Some(got) => Ok(Some(got.bytes().await?)),
            None => Ok(None),
        }
    }

    /// Puts an object with a random id. After a failure the id tells whether the store has taken
    /// this very put although its response was lost, or a retry of it met the name as taken.
    async fn put_object(&self, name: &AssetName, payload: PutPayload) -> Result<(), PutError> {
        let (attribute, id) = (Attribute::Metadata("put-id".into()), random_id());
        let attributes = [(attribute.clone(), id.clone())].into_iter().collect();
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        let Err(error) = self.store.put_opts(&key(name), payload, options).await else {
            return Ok(());
        };
        let (location, head) = (key(name), GetOptions { head: true, ..GetOptions::default() });
        match timeout(S3_CONFIRM_TIMEOUT, self.store.get_opts(&location, head)).await {
            Ok(Ok(got)) if got.attributes.get(&attribute).is_some_and(|at| **at == *id) => Ok(()),
            _ if matches!(error, Error::AlreadyExists { .. }) => Err(PutError::Taken),
            _ => Err(PutError::Failed(error.into())),
        }
    }
}

fn random_id() -> String {
    format!("{:016x}", rand::random::<u64>())
}

fn key(name: &AssetName) -> Path {
    Path::from(name.path())
}

/// Turns absence into `None`.
fn found<T>(outcome: Result<T, Error>) -> Result<Option<T>, BlobError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

type Rest = (Option<File>, Range<u64>);

/// Reads the next piece of a file on a thread for blocking work.
async fn next_piece((file, left): Rest) -> Result<Option<(Bytes, Rest)>, BlobError> {
    let Some(mut file) = file.filter(|_| !left.is_empty()) else {
        return Ok(None);
    };
    blocking(move || {
        let wanted = (left.end - left.start).min(ASSET_PIECE_BYTES as u64);
        let mut piece = Vec::with_capacity(ASSET_PIECE_BYTES);
        file.seek(SeekFrom::Start(left.start))?;
        if (&mut file).take(wanted).read_to_end(&mut piece)? == 0 {
            return Err(IoError::from(ErrorKind::UnexpectedEof).into());
        }
        let left = left.start + piece.len() as u64..left.end;
        Ok(Some((piece.into(), (Some(file), left))))
    })
    .await
}

/// Runs file operations on a thread for blocking work.
async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<BlobError> + Send + 'static,
{
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(BlobError::from(IoError::other(error)).into()))
}

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blobs").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
