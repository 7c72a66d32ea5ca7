//! Stored files ("blobs"): in memory, in a folder, or in an S3-compatible store.
//!
//! A file is put once under a new name, becomes visible only as a whole, and never changes.

mod error;
mod files;
#[cfg(feature = "s3")]
mod s3;
pub(crate) mod setting;
#[cfg(feature = "dashboard")]
pub(crate) mod thumbnail;
pub(crate) mod urls;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetResult, GetResultPayload, ObjectStore, ObjectStoreExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

pub(crate) use self::error::BlobError;
use self::files::blocking;
pub(crate) use self::files::{Upload, part};
use crate::domain::AssetName;
use crate::limits::{BLOBS_TIMEOUT, FOLDER_DOWNLOAD_BYTES, S3_RATE_MIN};
use crate::quota::Quota;
use crate::store::Cause;

/// The object whose text tells one store from another. `/readyz` asks for it.
const MARK: &str = ".promptarium";

/// Where files are stored. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    place: Place,
    /// As `--blob-store`, with an absolute path.
    address: Arc<str>,
    /// When the store worked last. A check holds the lock.
    last_check: Arc<Mutex<Option<Instant>>>,
    /// Whether it worked when `/readyz` asked last.
    pub(crate) available: Arc<AtomicBool>,
}

#[derive(Clone)]
enum Place {
    Memory,
    Folder(Arc<std::path::Path>),
    Remote(Arc<dyn Remote>),
}

/// How files get into a store on another machine.
#[async_trait]
trait Remote: Send + Sync {
    /// As [`Upload::finish`].
    async fn publish(&self, upload: Upload, name: &AssetName) -> Result<bool, BlobError>;

    /// The memory for uploads.
    fn quota(&self) -> Quota;
}

/// A file, or a part of one, to be read.
pub struct Blob {
    pub size: u64,
    /// Memory that sending it takes: a piece, and its buffer or what the kernel holds of it.
    pub buffered: usize,
    pub bytes: Pieces,
}

type FoundFile = Result<Option<GetResult>, BlobError>;
type Pieces = BoxStream<'static, Result<Bytes, BlobError>>;

impl Blobs {
    /// A new, empty store in memory.
    pub fn in_memory() -> Self {
        Self::over(InMemory::new())
    }

    /// A store in a folder, which is created if it is absent.
    pub fn in_folder(path: &std::path::Path) -> Result<Self, Cause> {
        // Relative only if there is no working directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let address = format!("file:{}", path.display());
        files::open(&path).map_err(|error| {
            format!(
                "{address}: no file can be kept there ({error}); name a folder that this user may \
                 write, on a file system that renames without replacing, or has hard links"
            )
        })?;
        let store = LocalFileSystem::new_with_prefix(&path).map_err(BlobError::from)?;
        Ok(Self::new(store.with_fsync(true), Place::Folder(path.into()), address))
    }

    /// Stores files in any object store that supports
    /// [`PutMode::Create`](object_store::PutMode::Create).
    pub fn over(store: impl ObjectStore) -> Self {
        Self::new(store, Place::Memory, "memory:".into())
    }

    fn new(store: impl ObjectStore, place: Place, address: String) -> Self {
        let (store, available) = (Arc::new(store), Arc::new(true.into()));
        Self { store, place, address: address.into(), last_check: Arc::default(), available }
    }

    fn root(&self) -> Option<Arc<std::path::Path>> {
        if let Place::Folder(root) = &self.place { Some(root.clone()) } else { None }
    }

    /// The memory for uploads, if they go to another machine.
    pub(crate) fn quota(&self) -> Option<Quota> {
        if let Place::Remote(remote) = &self.place { Some(remote.quota()) } else { None }
    }

    /// Turns absence into `None`. S3 without the permission to list answers 403 where nothing is.
    async fn found<T>(&self, outcome: Result<T, Error>) -> Result<Option<T>, BlobError> {
        let is_denied = matches!(outcome, Err(Error::PermissionDenied { .. }));
        if is_denied && matches!(self.place, Place::Remote(_)) && self.probe().await.is_ok() {
            return Ok(None);
        }
        match outcome {
            Err(Error::NotFound { .. }) => Ok(None),
            outcome => Ok(Some(outcome?)),
        }
    }

    /// In memory; each put takes this long.
    #[cfg(test)]
    pub(crate) fn slow(put: Duration) -> Self {
        Self::slow_in_both(put, Duration::ZERO)
    }

    /// In memory; each put and each read take this long.
    #[cfg(test)]
    fn slow_in_both(put: Duration, get: Duration) -> Self {
        use object_store::throttle::{ThrottleConfig, ThrottledStore};
        let mut config = ThrottleConfig::default();
        (config.wait_put_per_call, config.wait_get_per_call) = (put, get);
        Self::over(ThrottledStore::new(InMemory::new(), config))
    }

    /// Checks that the store works now, or did a moment ago.
    pub(crate) async fn check(&self) -> Result<(), BlobError> {
        let mut last = self.last_check.clone().lock_owned().await;
        // Requests to S3 have a price.
        if last.is_some_and(|last| last.elapsed() < Duration::from_secs(3)) {
            return Ok(());
        }
        let this = self.clone();
        // The task has the lock and runs on without its caller: several would each block a thread.
        let check = tokio::spawn(async move {
            this.probe().await?;
            *last = Some(Instant::now());
            Ok(())
        });
        check.await.unwrap_or_else(|error| Err(BlobError::text(error.to_string())))
    }

    /// Writes a small file into a folder, or asks an object store for its mark.
    pub(super) async fn probe(&self) -> Result<(), BlobError> {
        if let Some(root) = self.root() {
            return blocking(move || Ok(files::check(&root)?)).await;
        }
        match self.store.head(&Path::from(MARK)).await {
            Err(Error::NotFound { .. }) if matches!(self.place, Place::Memory) => Ok(()),
            found => Ok(found.map(|_| ())?),
        }
    }

    /// Puts a whole file under a name that has none: of concurrent calls one returns true.
    pub async fn put_new(&self, name: &AssetName, bytes: Bytes) -> Result<bool, BlobError> {
        let mut upload = self.upload();
        upload.write(&bytes).await?;
        upload.finish(name).await
    }

    /// The size of a file; `None` if there is none.
    pub async fn size_of(&self, name: &AssetName) -> Result<Option<u64>, BlobError> {
        let location = key(name);
        let asking = async { self.found(self.store.head(&location).await).await };
        Ok(in_time(BLOBS_TIMEOUT, asking).await?.map(|meta| meta.size))
    }

    async fn find(&self, name: &AssetName, options: GetOptions) -> FoundFile {
        let location = key(name);
        let asking = async { self.found(self.store.get_opts(&location, options).await).await };
        in_time(BLOBS_TIMEOUT, asking).await
    }

    /// A file, or the part of it in `range`, which must lie within it; `None` if there is none.
    pub async fn get(
        &self,
        name: &AssetName,
        range: Option<Range<u64>>,
    ) -> Result<Option<Blob>, BlobError> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let Some(got) = self.find(name, options).await? else { return Ok(None) };
        let buffered = match self.place {
            Place::Memory | Place::Folder(_) => FOLDER_DOWNLOAD_BYTES,
            Place::Remote(_) => 128 * 1024,
        };
        let bytes = match got.payload {
            GetResultPayload::File(file, _) => files::pieces(file, got.range),
            GetResultPayload::Stream(pieces) => pieces.err_into().boxed(),
        };
        Ok(Some(Blob { size: got.meta.size, buffered, bytes: in_time_each(bytes) }))
    }

    /// A whole file in memory. `None` if there is none, and no bytes if it has more than `most`.
    pub async fn read_all(&self, name: &AssetName, most: u64) -> Result<Option<Bytes>, BlobError> {
        let Some(got) = self.find(name, GetOptions::default()).await? else { return Ok(None) };
        if got.meta.size > most {
            return Ok(Some(Bytes::new()));
        }
        let limit = BLOBS_TIMEOUT + Duration::from_secs(got.meta.size / S3_RATE_MIN);
        in_time(limit, async { Ok(Some(got.bytes().await?)) }).await
    }
}

fn random_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

fn key(name: &AssetName) -> Path {
    Path::from(name.path())
}

/// A stream that ends with an error if a piece does not come in time.
fn in_time_each(pieces: Pieces) -> Pieces {
    let next = |mut pieces: Pieces| async move {
        let piece = in_time(BLOBS_TIMEOUT, pieces.try_next()).await?;
        Ok(piece.map(|piece| (piece, pieces)))
    };
    stream::try_unfold(pieces, next).boxed()
}

async fn in_time<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, BlobError>>,
) -> Result<T, BlobError> {
    timeout(limit, answer).await.unwrap_or_else(|_| Err(BlobError::silent(limit)))
}

#[cfg(test)]
mod tests;
