//! A blob store in memory that fails on demand.

use std::io;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::Blobs;

/// What happens at each access.
type Failure = fn() -> Result<()>;

/// Nothing works.
pub(crate) const GONE: Failure = || {
    let source = Box::new(io::Error::new(io::ErrorKind::ConnectionRefused, "inner workings"));
    Err(Error::Generic { store: "failing", source })
};
pub(crate) const PANIC: Failure = || panic!("inner workings");
pub(crate) const NONE: Failure = || Ok(());

#[derive(Debug)]
pub(crate) struct FailingBlobs(InMemory, Mutex<Failure>);

impl FailingBlobs {
    /// A server with such a store.
    pub(crate) async fn start() -> (Arc<Self>, EmbeddedServer) {
        let store = Arc::new(Self(InMemory::new(), Mutex::new(NONE)));
        let builder = EmbeddedServer::builder().blobs(Blobs::over(store.clone()));
        (store, builder.start().await.unwrap())
    }

    pub(crate) fn set(&self, failure: Failure) {
        *self.1.lock().unwrap() = failure;
    }

    fn check(&self) -> Result<()> {
        let failure = *self.1.lock().unwrap();
        failure()
    }
}

#[async_trait]
impl ObjectStore for FailingBlobs {
    async fn put_opts(&self, to: &Path, bytes: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.check()?;
        self.0.put_opts(to, bytes, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> Result<GetResult> {
        self.check()?;
        self.0.get_opts(from, how).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(to, how).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, how).await
    }
}

impl std::fmt::Display for FailingBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failing")
    }
}
