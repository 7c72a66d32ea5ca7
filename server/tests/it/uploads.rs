//! Uploads and assets: time limits, failures of the blob store, the log.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::Blobs;
use tempfile::TempDir;

use crate::support::advance;
use crate::support::client::{Connection, Response, Slot, call, get, get_request};
use crate::support::program::Running;
use crate::support::{files, folder_store};

/// The largest upload.
const SIZE: usize = 10_485_760;

#[tokio::test]
async fn a_connection_is_usable_after_a_refused_upload() {
    let server = EmbeddedServer::start().await.unwrap();
    let (one, two) = (Slot::to(&server, 4).await, Slot::to(&server, 4).await);
    let mut connection = Connection::to(&server).await;
    for (slot, body, status) in [(&one, "1234", 200), (&two, "123", 400), (&two, "1234", 200)] {
        let head = slot.head(&format!("content-length: {}\r\n", body.len()));
        assert_eq!(connection.ask(head + body).await.status, status);
    }
    assert_eq!(connection.api(server.api_key(), "GET", "/vaults", None).await.status, 200);
}

#[tokio::test]
async fn a_stalled_upload_is_408() {
    let server = EmbeddedServer::start().await.unwrap();
    let slot = Slot::to(&server, SIZE).await;
    let mut connection = slot.begin(SIZE).await;
    connection.send("x").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    advance(Duration::from_secs(349)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    connection.send("x").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    advance(Duration::from_secs(2)).await;
    let response = connection.response().await.unwrap();
    assert_eq!(response.status, 408);
    assert!(response.body.contains("350 seconds"), "{}", response.body);
    assert_eq!(slot.get().await.status, 404);
}

/// An envelope with this text, and nothing of the cause.
fn assert_is_error(response: &Response, expected: &str) {
    let json = response.json();
    assert!(json["data"].is_null() && json["details"] == serde_json::json!({}), "{json}");
    assert!(json["error"].as_str().unwrap().contains(expected), "{json}");
    assert!(!response.body.contains("inner workings"), "{json}");
}

#[tokio::test]
async fn a_storage_that_fails_is_503_and_leaves_nothing_and_is_named_by_readyz() {
    let parent = TempDir::new().unwrap();
    let [folder, away] = ["inner workings", "away"].map(|name| parent.path().join(name));
    let blobs = Blobs::in_folder(&folder).unwrap();
    let server = EmbeddedServer::builder().blobs(blobs).start().await.unwrap();
    let slot = Slot::to(&server, 4).await;
    // A file in place of the folder.
    fs::rename(&folder, &away).unwrap();
    fs::write(&folder, "").unwrap();
    let refused = slot.put(b"1234").await;
    assert_eq!(refused.status, 503);
    assert_is_error(&refused, "try again");
    assert_eq!(slot.get().await.status, 503);
    let head = get_request(&slot.path).replacen("GET", "HEAD", 1);
    assert_eq!(slot.connection().await.ask(head).await.status, 503);
    assert_eq!(call(&server, "GET", "/vaults", None).await.status, 200, "the server continues");
    // It may be that of all servers, which do everything else.
    let ready = async |files| {
        let response = get(&server, "/readyz").await;
        assert_eq!((response.status, response.data()["files"].as_str()), (200, Some(files)));
    };
    ready("unavailable").await;

    fs::remove_file(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    ready("ready").await;
    assert_eq!(slot.get().await.status, 404);
    assert_eq!(slot.put(b"1234").await.status, 200, "a failure does not use the slot up");
    assert_eq!(slot.get().await.body, "1234");
}

/// Only reading is called.
#[derive(Debug)]
struct Panicking;

#[async_trait]
impl ObjectStore for Panicking {
    async fn get_opts(&self, _: &Path, _: GetOptions) -> Result<GetResult> {
        panic!("inner workings")
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        unreachable!()
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        unreachable!()
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        unreachable!()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        unreachable!()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        unreachable!()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        unreachable!()
    }
}

impl std::fmt::Display for Panicking {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

#[tokio::test]
async fn a_panic_is_a_500_after_which_the_server_continues() {
    let builder = EmbeddedServer::builder().blobs(Blobs::over(Arc::new(Panicking)));
    let server = builder.start().await.unwrap();
    let slot = Slot::to(&server, 4).await;
    for _ in 0..2 {
        let response = slot.get().await;
        assert_eq!(response.status, 500);
        assert!(response.header("x-request-id").is_some());
        assert_is_error(&response, "");
    }
    assert_eq!(call(&server, "GET", "/prompts", None).await.status, 200);
}

#[tokio::test]
async fn a_full_folder_is_503_and_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    // No file may have more than 64 blocks of 512 bytes. The signal for it would end the
    // program.
    let (shell, store) = ("trap '' XFSZ; ulimit -f 64", folder_store(&folder));
    let server = Running::start_after(shell, &format!("--blob-store {store}")).await;
    let (small, large) = (Slot::to(&server, 1_000).await, Slot::to(&server, 1_000_000).await);
    let response = large.put(&[7; 1_000_000]).await;
    assert_eq!(response.status, 503, "{response:?}");
    assert_is_error(&response, "no space left");
    assert_eq!(large.get().await.status, 404);
    let stored = || -> Vec<_> {
        let files = files(folder.path()).into_iter();
        let names = files.map(|file| file.file_name().unwrap().to_owned());
        names.filter(|name| name != ".promptarium").collect()
    };
    assert!(stored().is_empty(), "{:?}", stored());
    assert_eq!(small.put(&[7; 1_000]).await.status, 200);
    assert_eq!(stored(), [small.path.rsplit('/').next().unwrap()]);
    let log = server.stop().await.stderr;
    assert!(log.contains("the blob store failed") && !log.contains(&store), "{log}");
}

#[tokio::test]
async fn the_log_contains_no_secret_and_no_asset_name() {
    let folder = TempDir::new().unwrap();
    let flags = format!("--log trace --blob-store {}", folder_store(&folder));
    let server = Running::start(&flags).await;
    let slot = Slot::to(&server, 4).await;
    assert_eq!(slot.put(b"123").await.status, 400);
    assert_eq!(slot.put(b"1234").await.status, 200);
    assert_eq!(slot.put(b"1234").await.status, 400);
    assert_eq!(Slot { token: "wr0ng".to_owned(), ..slot.clone() }.put(b"1234").await.status, 401);
    let body = format!(r#"{{"title":"t","prompt":"p","imageUrl":"{}"}}"#, slot.upload_url);
    assert_eq!(call(&server, "POST", "/prompts", Some(&body)).await.status, 400);
    let key = server.api_key().to_owned();

    let log = server.stop().await.stderr;
    assert!(log.contains("/storage/{name}"), "{log}");
    let signature = slot.upload_url.split_once("slot=").unwrap().1;
    let name = slot.path.rsplit('/').next().unwrap();
    for secret in [&*slot.token, signature, &key, "wr0ng", name] {
        assert!(!log.contains(secret), "{secret} in:\n{log}");
    }
}
