//! Uploads: many at once, and ones that stall.

use futures::future::join_all;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{Duration, sleep};

use crate::peer::Peer;
use crate::target::{ATTACKER, Target};
use crate::{MEBIBYTE, rounds};

/// The largest upload.
const SIZE: usize = 10 * MEBIBYTE;

/// The head of an upload of [`SIZE`] bytes to a new slot, and the path of its file.
async fn upload_head(target: &Target) -> (String, String) {
    let url = format!("{}/uploads/images", target.server.base_url());
    let body = serde_json::json!({ "contentType": "image/png", "size": SIZE });
    let request = reqwest::Client::new().post(url).bearer_auth(ATTACKER).json(&body);
    let slot: Value = request.send().await.unwrap().json().await.unwrap();
    let text = |name: &str| slot["data"][name].as_str().unwrap();
    let path = |name| text(name).split_once(target.address()).unwrap().1;
    let (put, token) = (path("uploadUrl"), text("token"));
    let head = format!(
        "PUT {put} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\n\
         content-type: image/png\r\ncontent-length: {SIZE}\r\n\r\n"
    );
    (head, path("url").to_owned())
}

async fn begun(target: &Target, count: usize) -> Vec<Peer> {
    let mut peers = Vec::new();
    for _ in 0..count {
        let mut peer = Peer::open(target.address()).await;
        peer.send(upload_head(target).await.0).await;
        peers.push(peer);
    }
    peers
}

#[tokio::test]
async fn sixty_four_of_the_largest_uploads_at_once() {
    let folder = TempDir::new().unwrap();
    let store = format!("file:{}", folder.path().display());
    let target = Target::start(&["--blob-store", &store]).await;
    let bytes = vec![7; SIZE];
    let mut peers = begun(&target, 64).await;
    let statuses = join_all(peers.iter_mut().map(async |peer| {
        peer.send(&bytes).await;
        peer.head().await.expect("a response").status
    }));
    let statuses = statuses.await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    target.end("64 uploads of 10 MiB").await;
}

#[tokio::test]
async fn fourteen_stalled_uploads() {
    let folder = TempDir::new().unwrap();
    let store = format!("file:{}", folder.path().display());
    let target = Target::start(&["--blob-store", &store]).await;
    let mut peers = begun(&target, 14).await;
    for peer in &mut peers {
        peer.send(vec![7; SIZE / 2]).await;
    }
    sleep(Duration::from_secs(2) * u32::try_from(rounds()).unwrap()).await;
    target.end("14 stalled uploads").await;
}

#[tokio::test]
async fn a_thousand_clients_without_a_key_that_do_not_read_an_image() {
    let folder = TempDir::new().unwrap();
    let store = format!("file:{}", folder.path().display());
    let target = Target::start(&["--blob-store", &store]).await;
    let (head, path) = upload_head(&target).await;
    let mut peer = Peer::open(target.address()).await;
    peer.send(head).await;
    peer.send(vec![7; SIZE]).await;
    assert_eq!(peer.head().await.unwrap().status, 200);
    let mut peers = Vec::new();
    for _ in 0..1_000 {
        let mut peer = Peer::open(target.address()).await;
        peer.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await;
        peers.push(peer);
    }
    sleep(Duration::from_secs(3)).await;
    let heads = join_all(peers.iter_mut().map(async |peer| peer.head().await.unwrap())).await;
    let sent = heads.iter().filter(|head| head.status == 200).count();
    let refused = heads.iter().filter(|head| head.status == 503);
    let refused = refused.filter(|head| head.header("retry-after").is_some()).count();
    println!("{sent} images were sent and {refused} refused");
    assert!(sent > 0 && sent + refused == peers.len(), "{heads:?}");
    target.end("1000 clients that do not read an image").await;
}
