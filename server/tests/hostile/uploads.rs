//! Large requests: uploads, bodies, and forks of a large vault; a large output, and long lists.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::support::client::{Connection, Slot, get_request, head};
use crate::support::{TIMEOUT, provider, sql, wait_until};
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
    get_request(&slot.path)
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

const UNFINISHED: usize = 40;

/// Into the memory of the server.
pub(crate) async fn unfinished(target: &Target) {
    let (bytes, mut held, mut taken) = (vec![7; SIZE - 1], Vec::new(), 0);
    for mut peer in begun(target, UNFINISHED).await {
        peer.send(&bytes).await;
        // An upload lacks its last byte, and a refused one is answered.
        match timeout(Duration::from_millis(20), peer.response()).await {
            Ok(response) => assert_eq!(response.map_or(429, |refused| refused.status), 429),
            Err(_) => taken += 1,
        }
        held.push(peer);
    }
    println!("{taken} of {UNFINISHED} uploads were taken");
    assert!(taken > 0);
}

/// Of the provider, and ordered once.
pub(crate) async fn large_output(target: &Target) {
    let (attacker, before) = (target.attacker(), provider::requests("POST", "video"));
    let body = json!({ "modelId": "acme/video", "prompt": "p", "generationType": "video",
        "clientJobId": "j" });
    for _ in 0..2 {
        attacker.post("/generations", &body).await;
    }
    let has_ended = async || {
        let job = attacker.get("/generations/j/status").await;
        assert_ne!(job["status"], "failed", "{job}");
        job["status"] == "completed"
    };
    wait_until(2 * TIMEOUT, has_ended).await.expect("an end in time");
    let mut videos = std::fs::read_dir(target.blobs.path().join("videos")).unwrap();
    let video = videos.next().unwrap().unwrap().metadata().unwrap();
    assert_eq!(video.len(), (provider::VIDEO_MIB * MEBIBYTE) as u64);
    assert!(videos.next().is_none() && provider::requests("POST", "video") == before + 1);
}

/// A debug build takes seconds to write 24.
const LISTS: usize = if cfg!(debug_assertions) { 4 } else { 24 };
/// Characters of the most bytes in JSON.
const VAULTS: &str = "INSERT INTO vault (account_id, name, description, visibility, slug, \
        created_at, updated_at) \
    SELECT id, repeat(chr(1), 50), repeat(chr(1), 200), 'private', 'v-' || n, now(), now() \
    FROM account, generate_series(2, 10000) n WHERE name = 'mallory'";

/// Of as many vaults as an account may have.
pub(crate) async fn lists_of_vaults(target: &Target) {
    let Some(database) = &target.database else { return };
    let sql = sql(&database.url()).await;
    assert_eq!(sql.execute(VAULTS, &[]).await.unwrap(), 9_999);
    let attacker = target.attacker();
    let (status, refused) = attacker.call("POST", "/vaults", r#"{"name":"Sky"}"#).await;
    assert_eq!(status, 400, "{refused}");
    let listed = async || target.connect().await.api(ATTACKER, "GET", "/vaults", None).await;
    let first = listed().await;
    assert_eq!(first.body.matches("\"slug\":").count(), 10_000);
    assert!(first.bytes.len() > 16 * MEBIBYTE, "{}", first.bytes.len());
    // Others exceed the account's share of the memory, or of the lists that are read at once.
    let all = join_all((0..LISTS).map(|_| listed())).await;
    let statuses: Vec<_> = all.iter().map(|response| response.status).collect();
    assert!(statuses.iter().all(|status| [200, 429, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
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
    let forks = join_all((0..FORKS).map(|_| attacker.call("POST", &path, "{}"))).await;
    let forked = forks.iter().filter(|(status, _)| *status == 201).count();
    let refused = forks.iter().filter(|(status, _)| matches!(status, 400 | 503)).count();
    println!("{forked} forks were made and {refused} refused");
    assert!(forked > 0 && forked + refused == FORKS, "{forks:?}");
}
