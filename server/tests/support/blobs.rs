//! A blob store in memory that fails on demand.

use std::io;
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
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::Blobs;

/// How the store fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failure {
    #[default]
    None,
    /// Writing stops in the middle: there is no space left.
    Full,
    /// Writing stops in the middle for another reason.
    BreaksWhilePutting,
    /// Reading stops in the middle.
    BreaksWhileGetting,
    /// Nothing works.
    Gone,
    /// Reading panics.
    Panic,
}

#[derive(Debug, Default)]
pub(crate) struct FailingBlobs {
    inner: InMemory,
    failure: Mutex<Failure>,
    /// What was written when writing stopped.
    pub(crate) halves: Mutex<Vec<Bytes>>,
}

impl FailingBlobs {
    /// A server with such a store.
    pub(crate) async fn start() -> (Arc<Self>, EmbeddedServer) {
        let store = Arc::<Self>::default();
        let builder = EmbeddedServer::builder().blobs(Blobs::over(store.clone()));
        (store, builder.start().await.unwrap())
    }

    pub(crate) fn set(&self, failure: Failure) {
        *self.failure.lock().unwrap() = failure;
    }

    fn failure(&self) -> Failure {
        *self.failure.lock().unwrap()
    }
}

fn error(kind: io::ErrorKind) -> Error {
    let source = Box::new(io::Error::new(kind, "inner workings"));
    Error::Generic { store: "failing", source }
}

#[async_trait]
impl ObjectStore for FailingBlobs {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let kind = match self.failure() {
            Failure::None | Failure::BreaksWhileGetting | Failure::Panic => {
                return self.inner.put_opts(location, payload, options).await;
            }
            Failure::Full => io::ErrorKind::StorageFull,
            Failure::BreaksWhilePutting | Failure::Gone => io::ErrorKind::BrokenPipe,
        };
        let bytes = Bytes::from(payload);
        self.halves.lock().unwrap().push(bytes.slice(..bytes.len() / 2));
        Err(error(kind))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match self.failure() {
            Failure::Gone => Err(error(io::ErrorKind::ConnectionRefused)),
            Failure::Panic => panic!("inner workings"),
            Failure::BreaksWhileGetting if !options.head => {
                let mut got = self.inner.get_opts(location, options).await?;
                let half = got.meta.size as usize / 2;
                let pieces = [Ok(vec![0; half].into()), Err(error(io::ErrorKind::BrokenPipe))];
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

impl std::fmt::Display for FailingBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failing")
    }
}
