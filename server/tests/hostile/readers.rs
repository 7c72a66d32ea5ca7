//! Clients that do not read their responses.

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::HELD_FOR;
use crate::attacker::Attacker;
use crate::peer::{Peer, head};
use crate::target::Target;

/// The most characters of a prompt, four bytes each.
const LARGEST_TEXT: usize = 15_000;
const PAGE: usize = 100;
const PAGE_READERS: usize = 150;
/// More than what the buffers of two sockets hold. A debug build takes seconds to write 30 times
/// 300 prompts.
const VAULT: usize = if cfg!(debug_assertions) { 100 } else { 300 };
const VAULT_READERS: usize = 30;

pub(crate) async fn pages(target: &Target) {
    let body = json!({ "title": "t", "prompt": "😀".repeat(LARGEST_TEXT) });
    let attacker = Attacker::of(target);
    for _ in 0..PAGE {
        attacker.post("/prompts", &body).await;
    }
    let (sent, refused) =
        unread(target, &format!("/prompts?limit={PAGE}"), PAGE_READERS, &[429, 503]).await;
    println!("{sent} pages were sent and {refused} refused");
}

pub(crate) async fn vaults(target: &Target) {
    let vault = Attacker::of(target).vault(VAULT, &"😀".repeat(LARGEST_TEXT)).await;
    let path = format!("/vaults/{vault}/prompts");
    let (sent, refused) = unread(target, &path, VAULT_READERS, &[429, 503]).await;
    println!("{sent} vaults were sent and {refused} refused");
}

/// Clients that read nothing for a while, and then only the head of the response. How many were
/// sent a list, and how many refused with one of these statuses.
async fn unread(target: &Target, path: &str, readers: usize, refusals: &[u16]) -> (usize, usize) {
    let peers = join_all((0..readers).map(async |_| {
        let mut peer = Peer::open(target.address()).await;
        peer.send(head("GET", path, 0)).await;
        peer
    }));
    let mut peers = peers.await;
    sleep(HELD_FOR).await;
    let heads = join_all(peers.iter_mut().map(async |peer| peer.head().await.unwrap())).await;
    let sent = heads.iter().filter(|head| head.status == 200).count();
    let refused = heads.iter().filter(|head| head.is_refusal(refusals)).count();
    assert!(sent > 0 && sent + refused == readers, "{heads:?}");
    (sent, refused)
}
