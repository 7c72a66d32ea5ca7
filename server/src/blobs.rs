//! Stored files ("blobs"): in memory, in a folder, or in an S3-compatible store.
//!
//! A file is put once under a new name, becomes visible only as a whole, and never changes.

pub(crate) mod asset_url;
mod error;
mod setting;
mod staging;
pub(crate) mod upload_slot;

use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attribute, Error, GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload,
};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_util::io::ReaderStream;

pub(crate) use self::asset_url::AssetName;
pub(crate) use self::error::{BlobError, BlobOpenError, PutError};
pub use self::setting::BlobSetting;
use self::staging::Staging;
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

    /// Puts a whole file under a name that has none, in one step: of several concurrent calls
    /// exactly one succeeds, and no reader sees a partial file.
    pub async fn put_new(&self, name: &AssetName, bytes: Bytes) -> Result<(), PutError> {
        match &self.staging {
            Staging::Folder(folder) => folder.put(None, bytes, name).await,
            Staging::Memory | Staging::TempFile(_) => self.put_object(name, bytes.into()).await,
        }
    }

    /// The size of a file; `None` if there is none.
    pub async fn size_of(&self, name: &AssetName) -> Result<Option<u64>, BlobError> {
        Ok(found(self.store.head(&key(name)).await)?.map(|meta| meta.size))
    }

    /// A file, or the part of it in `range`, which must lie within it; `None` if there is none.
    pub async fn get(
        &self,
        name: &AssetName,
        range: Option<Range<u64>>,
    ) -> Result<Option<Blob>, BlobError> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let got = found(self.store.get_opts(&key(name), options).await)?;
        let Some(got) = got else { return Ok(None) };
        let (size, range) = (got.meta.size, got.range);
        let bytes = match got.payload {
            GetResultPayload::Stream(stream) => stream.map_err(BlobError::from).boxed(),
            GetResultPayload::File(mut file, _) => {
                file.seek(SeekFrom::Start(range.start))?;
                let part = tokio::fs::File::from_std(file).take(range.end - range.start);
                let pieces = ReaderStream::with_capacity(part, ASSET_PIECE_BYTES);
                pieces.map_err(BlobError::from).boxed()
            }
        };
        Ok(Some(Blob { size, bytes }))
    }

    /// A whole file in memory; `None` if there is none.
    pub async fn read_all(&self, name: &AssetName) -> Result<Option<Bytes>, BlobError> {
        match found(self.store.get(&key(name)).await)? {
            Some(got) => Ok(Some(got.bytes().await?)),
            None => Ok(None),
        }
    }

    /// Puts an object with a random id. After a failure the id tells whether the store has taken
    /// this very put although its response was lost, or a retry of it met the name as taken.
    async fn put_object(&self, name: &AssetName, payload: PutPayload) -> Result<(), PutError> {
        let (attribute, id) = (Attribute::Metadata("put-id".into()), staging::random_id());
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

#[cfg(test)]
mod tests;
