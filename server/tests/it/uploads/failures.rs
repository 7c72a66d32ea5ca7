//! A blob store that is full, breaks off, or is unreachable.

use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::Blobs;

use super::{sample, slot_of};
use crate::support::client::{Connection, call, head};
use crate::support::folder::Folder;
use crate::support::program::Running;
use crate::support::slot::Slot;
use crate::support::troubled::{Trouble, TroubledBlobs};

#[tokio::test]
async fn a_failed_put_is_503_and_leaves_nothing() {
    let store = TroubledBlobs::new();
    let blobs = Blobs::over(store.clone());
    let server = EmbeddedServer::builder().blobs(blobs).start().await.unwrap();
    let (slot, bytes) = (slot_of(&server, 50_000).await, sample(50_000));
    for (trouble, said) in
        [(Trouble::Full, "no space left"), (Trouble::BreaksWhilePutting, "try again")]
    {
        store.set(trouble);
        let answer = slot.put(&bytes).await;
        assert_eq!(answer.status, 503);
        let json = answer.json();
        assert!(json["data"].is_null() && json["details"] == serde_json::json!({}));
        assert!(json["error"].as_str().unwrap().contains(said), "{json}");
        assert!(!answer.body.contains("inner workings"), "{}", answer.body);
        assert_eq!(store.halves.lock().unwrap().pop().unwrap().len(), 25_000);

        store.set(Trouble::None);
        assert_eq!(slot.get().await.status, 404);
    }
    store.set(Trouble::Gone);
    assert_eq!(slot.put(&bytes).await.status, 503);
    assert_eq!(slot.get().await.status, 503);
    assert_eq!(slot.ask("HEAD", "").await.status, 503);
    assert_eq!(call(&server, "GET", "/vaults", None).await.status, 200, "the server lives on");

    store.set(Trouble::None);
    assert_eq!(slot.put(&bytes).await.status, 200, "a failure does not use the slot up");
    assert!(slot.get().await.bytes == bytes);
}

#[tokio::test]
async fn an_asset_that_breaks_off_ends_the_connection() {
    let store = TroubledBlobs::new();
    let blobs = Blobs::over(store.clone());
    let server = EmbeddedServer::builder().blobs(blobs).start().await.unwrap();
    let slot = slot_of(&server, 50_000).await;
    assert_eq!(slot.put(&sample(50_000)).await.status, 200);
    store.set(Trouble::BreaksWhileGetting);
    let mut connection = slot.connection().await;
    connection.send(format!("GET {} HTTP/1.1\r\nhost: test\r\n\r\n", slot.path)).await;
    assert!(connection.answer().await.is_none(), "the connection is cut");
    store.set(Trouble::None);
    assert_eq!(slot.get().await.status, 200);
}

#[tokio::test]
async fn a_full_folder_is_503_and_leaves_no_file() {
    let folder = Folder::new();
    // No file may have more than 64 blocks of 512 bytes. The signal for it would end the
    // program.
    let shell = "trap '' XFSZ; ulimit -f 64";
    let server = Running::start_after(shell, &["--blob-store", &folder.as_store()]).await;
    let of = async |size| Slot::of(server.base_url(), server.api_key(), "image/gif", size).await;
    let (small, large) = (of(1_000).await, of(1_000_000).await);
    let answer = large.put(&sample(1_000_000)).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.json()["error"].as_str().unwrap().contains("no space left"));
    assert_eq!(large.get().await.status, 404);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
    assert_eq!(small.put(&sample(1_000)).await.status, 200);
    assert_eq!(folder.files(), [small.path.rsplit('/').next().unwrap()]);
    let log = server.log_at_end().await;
    assert!(log.contains("the blob store failed") && !log.contains(&folder.as_store()), "{log}");
}

#[tokio::test]
async fn a_folder_keeps_its_files_across_restarts() {
    let folder = Folder::new();
    let store = folder.as_store();
    let server = Running::start(&["--blob-store", &store], &[]).await;
    let slot = Slot::of(server.base_url(), server.api_key(), "image/webp", 9).await;
    assert_eq!(slot.put(b"permanent").await.status, 200);
    server.signal("TERM").await;
    server.end().await;

    let server = Running::start(&[], &[("PROMPTARIUM_BLOB_STORE", &store)]).await;
    let slot = Slot { base_url: server.base_url().to_owned(), ..slot };
    let answer = slot.get().await;
    assert_eq!((answer.status, &*answer.body), (200, "permanent"));
    assert_eq!(answer.header("content-type"), Some("image/webp"));
}

#[tokio::test]
async fn the_log_contains_no_secret_and_no_asset_name() {
    let folder = Folder::new();
    let server = Running::start(&["--log", "trace", "--blob-store", &folder.as_store()], &[]).await;
    let slot = Slot::of(server.base_url(), server.api_key(), "image/png", 4).await;
    assert_eq!(slot.put(b"123").await.status, 400);
    assert_eq!(slot.put(b"1234").await.status, 200);
    assert_eq!(slot.put(b"1234").await.status, 400);
    assert_eq!(Slot { token: "wr0ng".to_owned(), ..slot.clone() }.put(b"1234").await.status, 401);
    let body = format!(r#"{{"title":"t","prompt":"p","imageUrl":"{}"}}"#, slot.upload_url);
    let mut connection = Connection::open(server.base_url()).await;
    let length = format!("content-length: {}\r\n", body.len());
    connection.send(head(server.api_key(), "POST", "/prompts", &length) + &body).await;
    assert_eq!(connection.answer().await.unwrap().status, 400);
    let key = server.api_key().to_owned();
    drop(connection);

    let log = server.log_at_end().await;
    assert!(log.contains("/storage/{name}"), "{log}");
    let signature = slot.upload_url.split_once("slot=").unwrap().1;
    let name = slot.path.rsplit('/').next().unwrap();
    for secret in [&*slot.token, signature, &key, "wr0ng", name] {
        assert!(!log.contains(secret), "{secret} in:\n{log}");
    }
}
