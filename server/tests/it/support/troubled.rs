//! A store of files in memory that fails as it is told.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    /// Putting stops in the middle: there is no space left.
    Full,
    /// Putting stops in the middle for another reason.
    BreaksWhilePutting,
    /// Getting stops in the middle.
    BreaksWhileGetting,
    /// Nothing works.
    Gone,
}

#[derive(Debug)]
pub(crate) struct TroubledBlobs {
    inner: InMemory,
    trouble: AtomicU8,
    /// What was written when putting stopped.
    pub(crate) halves: Mutex<Vec<Bytes>>,
}

const ALL: [Trouble; 5] = [
    Trouble::None,
    Trouble::Full,
    Trouble::BreaksWhilePutting,
    Trouble::BreaksWhileGetting,
    Trouble::Gone,
];

impl TroubledBlobs {
    pub(crate) fn new() -> Arc<Self> {
        let (inner, halves) = (InMemory::new(), Mutex::default());
        Arc::new(Self { inner, trouble: AtomicU8::new(0), halves })
    }

    pub(crate) fn set(&self, trouble: Trouble) {
        self.trouble.store(trouble as u8, Ordering::SeqCst);
    }

    fn trouble(&self) -> Trouble {
        ALL[usize::from(self.trouble.load(Ordering::SeqCst))]
    }
}

fn failure(kind: io::ErrorKind) -> Error {
    let source = Box::new(io::Error::new(kind, "inner workings"));
    Error::Generic { store: "troubled", source }
}

#[async_trait]
impl ObjectStore for TroubledBlobs {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let kind = match self.trouble() {
            Trouble::None | Trouble::BreaksWhileGetting => {
                return self.inner.put_opts(location, payload, options).await;
            }
            Trouble::Full => io::ErrorKind::StorageFull,
            Trouble::BreaksWhilePutting | Trouble::Gone => io::ErrorKind::BrokenPipe,
        };
        let bytes = Bytes::from(payload);
        self.halves.lock().unwrap().push(bytes.slice(..bytes.len() / 2));
        Err(failure(kind))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match self.trouble() {
            Trouble::Gone => Err(failure(io::ErrorKind::ConnectionRefused)),
            Trouble::BreaksWhileGetting if !options.head => {
                let mut got = self.inner.get_opts(location, options).await?;
                let half = got.meta.size as usize / 2;
                let pieces = [Ok(vec![0; half].into()), Err(failure(io::ErrorKind::BrokenPipe))];
                got.payload = GetResultPayload::Stream(stream::iter(pieces).boxed());
                Ok(got)
            }
            _ => self.inner.get_opts(location, options).await,
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

impl std::fmt::Display for TroubledBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("troubled")
    }
}
