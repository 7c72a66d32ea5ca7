//! Uploads: many at once, and ones that stall.

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::attacker::Attacker;
use crate::peer::Peer;
use crate::target::Target;
use crate::{HELD_FOR, MEBIBYTE};

/// The largest upload.
pub(crate) const SIZE: usize = 10 * MEBIBYTE;
const AT_ONCE: usize = 64;
const STALLED: usize = 14;
const READERS: usize = 1_000;

/// The head of an upload of [`SIZE`] bytes to a new slot, and the path of its file.
pub(crate) async fn upload_head(target: &Target) -> (String, String) {
    let body = json!({ "contentType": "image/png", "size": SIZE });
    let slot = Attacker::of(target).post("/uploads/images", &body).await;
    let text = |name: &str| slot[name].as_str().unwrap();
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

pub(crate) async fn largest_at_once(target: &Target) {
    let bytes = vec![7; SIZE];
    let mut peers = begun(target, AT_ONCE).await;
    let statuses = join_all(peers.iter_mut().map(async |peer| {
        peer.send(&bytes).await;
        peer.head().await.expect("a response").status
    }));
    let statuses = statuses.await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

pub(crate) async fn stalled(target: &Target) {
    let mut peers = begun(target, STALLED).await;
    for peer in &mut peers {
        peer.send(vec![7; SIZE / 2]).await;
    }
    sleep(HELD_FOR).await;
}

/// Clients without a key that do not read an image.
pub(crate) async fn unread_images(target: &Target) {
    let (head, path) = upload_head(target).await;
    let mut peer = Peer::open(target.address()).await;
    peer.send(head).await;
    peer.send(vec![7; SIZE]).await;
    assert_eq!(peer.head().await.unwrap().status, 200);
    let mut peers = Vec::new();
    for _ in 0..READERS {
        let mut peer = Peer::open(target.address()).await;
        peer.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await;
        peers.push(peer);
    }
    sleep(HELD_FOR).await;
    let heads = join_all(peers.iter_mut().map(async |peer| peer.head().await.unwrap())).await;
    let sent = heads.iter().filter(|head| head.status == 200).count();
    let refused = heads.iter().filter(|head| head.is_refusal(&[503])).count();
    println!("{sent} images were sent and {refused} refused");
    assert!(sent > 0 && sent + refused == peers.len(), "{heads:?}");
}
