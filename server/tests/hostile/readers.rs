//! Clients that do not read their responses.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::peer::{Peer, head};
use crate::rounds;
use crate::target::Target;

const READERS: usize = 150;

#[tokio::test]
async fn a_full_page_of_the_largest_prompts_that_150_clients_do_not_read() {
    let target = Target::start(&[]).await;
    let body = json!({ "title": "t", "prompt": "😀".repeat(15_000) }).to_string();
    for _ in 0..100 {
        let mut peer = Peer::open(target.address()).await;
        peer.send(head("POST", "/prompts", body.len())).await;
        peer.send(&body).await;
        assert_eq!(peer.head().await.unwrap().status, 201);
    }
    for _ in 0..rounds() {
        let peers = join_all((0..READERS).map(async |_| {
            let mut peer = Peer::open(target.address()).await;
            peer.send(head("GET", "/prompts?limit=100", 0)).await;
            peer
        }));
        let mut peers = peers.await;
        sleep(Duration::from_secs(3)).await;
        // A head is read, and no more than comes with it.
        let heads = join_all(peers.iter_mut().map(async |peer| peer.head().await.unwrap())).await;
        let sent = heads.iter().filter(|head| head.status == 200).count();
        let refused = heads.iter().filter(|head| head.status == 429);
        let refused = refused.filter(|head| head.header("retry-after").is_some()).count();
        println!("{sent} pages were sent and {refused} refused");
        assert!(sent > 0 && sent + refused == READERS, "{heads:?}");
    }
    target.end("150 clients that do not read").await;
}
