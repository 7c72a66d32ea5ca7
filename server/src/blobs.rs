//! Where files are kept: in memory, in a folder, or in an S3-compatible store.
//!
//! A file is put once under a name that is new, is visible only when it is whole,
//! and never changes. Everything here is said by way of the crate `object_store`,
//! which no other place names.

pub mod asset_url;
mod fault;
mod name;
mod read;
mod s3;
mod setting;
pub mod upload_slot;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

pub use self::fault::{BlobError, BlobsUnusable};
pub use self::name::AssetName;
pub use self::setting::{BlobSetting, BlobSettingFault};

/// Where files are kept. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
}

/// A file, or a part of one, to be read.
pub struct Blob {
    /// Bytes of the whole file.
    pub size: u64,
    /// What was asked for, piece by piece.
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

/// Why a file was not put.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The name has a file already, which stays as it is.
    #[error("there is a file of this name already")]
    Taken,
    /// The store failed. No part of the file is visible.
    #[error(transparent)]
    Failed(#[from] BlobError),
}

impl Blobs {
    /// Opens the store of a setting. A folder is made if it is absent.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(setting: &BlobSetting) -> Result<Self, BlobsUnusable> {
        match setting {
            BlobSetting::Memory => Ok(Self::in_memory()),
            BlobSetting::Folder(path) => {
                fault::prove_writable(path)?;
                let store = LocalFileSystem::new_with_prefix(path)
                    .map_err(|error| BlobsUnusable::new(error.into()))?;
                // A caller who got an answer has been promised that the file stays.
                Ok(Self::over(Arc::new(store.with_fsync(true))))
            }
            BlobSetting::S3 { bucket, prefix } => {
                let text = |variable: std::ffi::OsString| variable.into_string().ok();
                let variables = std::env::vars_os();
                let variables =
                    variables.filter_map(|(name, value)| Some((text(name)?, text(value)?)));
                s3::open(bucket, prefix, variables).map(Self::over)
            }
        }
    }

    /// A new, empty store in memory.
    pub fn in_memory() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }

    /// Keeps files in a store of any kind. It must support [`PutMode::Create`].
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self { store }
    }

    /// Puts a whole file under a name that has none, in one step: of several at
    /// once exactly one succeeds, and nobody sees a file in part.
    ///
    /// # Errors
    /// [`PutError`]. A store that broke off in the middle may, once in a long
    /// while, have the whole file nevertheless; the name is taken then.
    pub async fn put_new(&self, name: &AssetName, bytes: Bytes) -> Result<(), PutError> {
        self.put_new_of(name, vec![bytes]).await
    }

    /// [`Blobs::put_new`] of a file whose bytes are in several pieces.
    ///
    /// # Errors
    /// As there.
    pub async fn put_new_of(&self, name: &AssetName, pieces: Vec<Bytes>) -> Result<(), PutError> {
        let create = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&key(name), pieces.into_iter().collect(), create).await {
            Ok(_) => Ok(()),
            Err(Error::AlreadyExists { .. }) => Err(PutError::Taken),
            Err(error) => Err(PutError::Failed(error.into())),
        }
    }

    /// How many bytes a file has; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn size_of(&self, name: &AssetName) -> Result<Option<u64>, BlobError> {
        Ok(found(self.store.head(&key(name)).await)?.map(|meta| meta.size))
    }

    /// A file; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn get(&self, name: &AssetName) -> Result<Option<Blob>, BlobError> {
        self.get_with(name, GetOptions::default()).await
    }

    /// A part of a file, which must lie within it; `None` if there is no file.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn get_range(
        &self,
        name: &AssetName,
        range: Range<u64>,
    ) -> Result<Option<Blob>, BlobError> {
        self.get_with(name, GetOptions { range: Some(range.into()), ..GetOptions::default() }).await
    }

    /// A whole file at once; `None` if there is none.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn read_all(&self, name: &AssetName) -> Result<Option<Bytes>, BlobError> {
        match found(self.store.get(&key(name)).await)? {
            Some(got) => Ok(Some(got.bytes().await?)),
            None => Ok(None),
        }
    }

    async fn get_with(
        &self,
        name: &AssetName,
        options: GetOptions,
    ) -> Result<Option<Blob>, BlobError> {
        let got = found(self.store.get_opts(&key(name), options).await)?;
        Ok(got.map(|got| Blob { size: got.meta.size, bytes: read::stream(got) }))
    }
}

fn key(name: &AssetName) -> Path {
    Path::from(name.path())
}

/// Tells absence from failure.
fn found<T>(outcome: Result<T, Error>) -> Result<Option<T>, BlobError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blobs").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blob").field("size", &self.size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
