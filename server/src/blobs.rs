//! Stored files ("blobs"): in memory, in a folder, or in an S3-compatible store.
//!
//! A file is put once under a new name, becomes visible only as a whole, and never changes.

pub(crate) mod asset_url;
mod health;
mod mark;
#[cfg_attr(not(feature = "s3"), path = "blobs/s3/absent.rs")]
mod s3;
mod setting;
mod staging;
pub(crate) mod upload_slot;

use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attribute, Error, GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload,
};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_util::io::ReaderStream;

use self::health::Health;
pub use self::setting::BlobSetting;
use self::staging::Staging;
pub(crate) use self::staging::{ReadSeek, Upload};
use crate::domain::AssetName;
use crate::error_chain::error_chain;
use crate::limits::{ASSET_PIECE_BYTES, BLOBS_TIMEOUT, S3_CONFIRM_TIMEOUT, S3_DOWNLOAD_BYTES};

/// The object whose text tells one store from another. `/readyz` asks for it.
const MARK: &str = ".promptarium";

/// Where files are stored. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    staging: Staging,
    health: Health,
    /// As `--blob-store`, with an absolute path.
    place: Arc<str>,
}

/// A file, or a part of one, to be read.
pub struct Blob {
    /// Size of the whole file.
    pub size: u64,
    /// Memory that reading it takes: a piece, and the buffer that it is read into. A file in memory
    /// takes none.
    pub buffered: usize,
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

impl Blobs {
    /// A new, empty store in memory.
    pub fn in_memory() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }

    /// Stores files in any object store that supports [`PutMode::Create`].
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, staging: Staging::Memory, health: Health::default(), place: "memory:".into() }
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
        Self::over(Arc::new(ThrottledStore::new(InMemory::new(), config)))
    }

    /// Puts a whole file under a name that has none, in one step: of several concurrent calls
    /// exactly one succeeds, and no reader sees a partial file.
    pub async fn put_new(&self, name: &AssetName, bytes: Bytes) -> Result<(), PutError> {
        let mut upload = self.upload();
        upload.write(&bytes).await?;
        upload.finish(name).await
    }

    /// The size of a file; `None` if there is none.
    pub async fn size_of(&self, name: &AssetName) -> Result<Option<u64>, BlobError> {
        let location = key(name);
        let asking = async { self.health.found(self.store.head(&location).await) };
        Ok(in_time(BLOBS_TIMEOUT, asking).await?.map(|meta| meta.size))
    }

    /// A file, or the part of it in `range`, which must lie within it; `None` if there is none.
    pub async fn get(
        &self,
        name: &AssetName,
        range: Option<Range<u64>>,
    ) -> Result<Option<Blob>, BlobError> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let location = key(name);
        let asking = async { self.health.found(self.store.get_opts(&location, options).await) };
        let Some(got) = in_time(BLOBS_TIMEOUT, asking).await? else { return Ok(None) };
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
        let buffered = match self.staging {
            Staging::Memory => 0,
            Staging::Folder(_) => 2 * ASSET_PIECE_BYTES,
            Staging::S3(_) => S3_DOWNLOAD_BYTES,
        };
        Ok(Some(Blob { size, buffered, bytes: pieces_in_time(BLOBS_TIMEOUT, bytes) }))
    }

    /// A whole file in memory; `None` if there is none.
    pub async fn read_all(&self, name: &AssetName) -> Result<Option<Bytes>, BlobError> {
        match self.health.found(self.store.get(&key(name)).await)? {
            Some(got) => Ok(Some(got.bytes().await?)),
            None => Ok(None),
        }
    }

    /// Puts an object with a random id. After a failure the id tells whether the store has taken
    /// this very put although its response was lost, or a retry of it met the name as taken.
    async fn put_object(&self, name: &AssetName, payload: PutPayload) -> Result<(), PutError> {
        let (attribute, id) = (Attribute::Metadata("put-id".into()), staging::random_id());
        let of_type = (Attribute::ContentType, name.media().content_type().to_owned());
        let attributes = [(attribute.clone(), id.clone()), of_type].into_iter().collect();
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        let (location, head) = (key(name), GetOptions { head: true, ..GetOptions::default() });
        let put = self.store.put_opts(&location, payload, options);
        let Err(error) = self.put_with_probes(put).await? else { return Ok(()) };
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

/// A stream that ends with an error if a piece does not come in time.
fn pieces_in_time<T: Send + 'static>(
    limit: Duration,
    pieces: BoxStream<'static, Result<T, BlobError>>,
) -> BoxStream<'static, Result<T, BlobError>> {
    let next = move |mut pieces: BoxStream<'static, Result<T, BlobError>>| async move {
        let piece = in_time(limit, async { pieces.next().await.transpose() }).await?;
        Ok(piece.map(|piece| (piece, pieces)))
    };
    stream::try_unfold(pieces, next).boxed()
}

/// Waits for the store, but not for too long.
async fn in_time<T, E: From<BlobError>>(
    limit: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    timeout(limit, answer).await.unwrap_or_else(|_| Err(BlobError::silent(limit).into()))
}

/// The store failed. The text is for the log and contains no names of assets, which are the
/// assets' only protection.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed: {text}")]
pub struct BlobError {
    text: String,
    full: bool,
}

/// A store cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("--blob-store: {0}")]
pub struct BlobOpenError(String);

/// Why a file was not put.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    #[error("there is a file of this name already")]
    Taken,
    /// No part of the file is visible.
    #[error(transparent)]
    Failed(#[from] BlobError),
}

impl BlobError {
    /// Whether there is no space left.
    pub fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn silent(limit: Duration) -> Self {
        Self::text(format!("it did not answer for {limit:?}"))
    }

    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), full: false }
    }

    fn new(error: &(dyn std::error::Error + 'static)) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        let full = causes.any(|cause| {
            let kind = cause.downcast_ref().map(io::Error::kind);
            matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge))
        });
        Self { text: redact_names(&without_xml(&error_chain(error))), full }
    }
}

impl BlobOpenError {
    fn of(error: object_store::Error) -> Self {
        Self(BlobError::from(error).text)
    }
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        Self::new(&error)
    }
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        Self::new(&error)
    }
}

/// Leaves out the XML of an S3 response except for its error code: the response to a refused
/// request repeats the request's signature.
fn without_xml(text: &str) -> String {
    let Some((before, xml)) = text.split_once('<') else {
        return text.to_owned();
    };
    let code = xml.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code.filter(|(code, _)| code.chars().all(|c| c.is_ascii_alphanumeric())) {
        Some((code, _)) => format!("{before}{code}"),
        None => before.trim_end_matches([' ', ':']).to_owned(),
    }
}

fn redact_names(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words
        .map(|word| {
            let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_name = AssetName::parse(name).is_some();
            if is_name { word.replace(name, "<asset>") } else { word.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests;
