//! Large requests: uploads, bodies, and forks of a large vault.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::support::client::{Connection, Slot, head};
use crate::target::{ATTACKER, Target, is_refusal};
use crate::{HELD_FOR, MEBIBYTE};

/// The largest upload.
const SIZE: usize = 10 * MEBIBYTE;
const AT_ONCE: usize = 64;
const STALLED: usize = 14;

/// Connections with the head of an upload.
async fn begun(target: &Target, count: usize) -> Vec<Connection> {
    let mut peers = Vec::new();
    for _ in 0..count {
        peers.push(slot(target).await.begin(SIZE).await);
    }
    peers
}

async fn slot(target: &Target) -> Slot {
    Slot::of(target.server.base_url(), ATTACKER, "image/png", SIZE).await
}

/// The request for a stored file of the largest size.
pub(crate) async fn stored_image(target: &Target) -> String {
    let slot = slot(target).await;
    assert_eq!(slot.put(&vec![7; SIZE]).await.status, 200);
    slot.get_request()
}

pub(crate) async fn largest_at_once(target: &Target) {
    let bytes = vec![7; SIZE];
    let mut peers = begun(target, AT_ONCE).await;
    let statuses = join_all(peers.iter_mut().map(async |peer| peer.ask(&bytes).await.status));
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

const BODIES: usize = 150;
/// The largest JSON body.
const BODY: usize = 4 * MEBIBYTE;
/// How many of them the share of one account holds.
const FITTING: usize = 8;

pub(crate) async fn largest_bodies(target: &Target) {
    // A prompt of exactly this size.
    let (before, after) = (r#"{"title":"t","prompt":"p","padding":""#, r#""}"#);
    let body = format!("{before}{}{after}", "x".repeat(BODY - before.len() - after.len()));
    let (most, rest) = body.split_at(BODY - 1);
    let attack = join_all((0..BODIES).map(async |_| {
        let mut peer = target.connect().await;
        peer.send(head(ATTACKER, "POST", "/prompts", &format!("content-length: {BODY}\r\n"))).await;
        peer.send(most).await;
        peer
    }));
    let mut peers = attack.await;
    // What was not refused is complete but for its last byte.
    sleep(Duration::from_secs(1)).await;
    let heads = join_all(peers.iter_mut().map(async |peer| {
        peer.send(rest).await;
        peer.head_response().await
    }));
    let (mut taken, mut refused, mut reset) = (0, 0, 0);
    for head in heads.await {
        match head {
            Some(head) if head.status == 201 => taken += 1,
            Some(head) if is_refusal(&head, &[429]) => refused += 1,
            // Who sends on for seconds after the refusal may not get to read it.
            None => reset += 1,
            Some(_) => panic!("{head:?}"),
        }
    }
    println!("{taken} bodies were taken, {refused} refused, and {reset} connections reset");
    assert!(taken >= FITTING && refused > 0, "{taken} {refused} {reset}");
}

const FORKS: usize = 16;
/// The first prompts of the vault; each fork and its addition doubles them.
const FIRST: usize = 50;
/// 51,200 prompts, and 1,600 in a debug build, which is still more than what a short statement may
/// copy.
const DOUBLINGS: u32 = if cfg!(debug_assertions) { 5 } else { 10 };
/// Prompts that are added by one request.
const ADDED: usize = 50;

pub(crate) async fn forks(target: &Target) {
    let attacker = target.attacker();
    let vault = attacker.vault(FIRST, "A harbour").await;
    for _ in 0..DOUBLINGS {
        let copy = attacker.post(&format!("/vaults/{vault}/fork"), &json!({})).await;
        let copies = attacker.get(&format!("/vaults/{}/prompts", copy["id"])).await;
        let ids: Vec<_> = copies.as_array().unwrap().iter().map(|copy| &copy["id"]).collect();
        for ids in ids.chunks(ADDED) {
            let added = json!({ "promptIds": ids });
            attacker.post(&format!("/vaults/{vault}/prompts"), &added).await;
        }
    }
    let path = format!("/vaults/{vault}/fork");
    let forks = join_all((0..FORKS).map(|_| attacker.call("POST", &path, "{}".to_owned()))).await;
    let forked = forks.iter().filter(|(status, _)| *status == 201).count();
    let refused = forks.iter().filter(|(status, _)| matches!(status, 400 | 503)).count();
    println!("{forked} forks were made and {refused} refused");
    assert!(forked > 0 && forked + refused == FORKS, "{forks:?}");
}
