//! Clients that do not read their responses.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::HELD_FOR;
use crate::support::client::{Connection, Server as _, request};
use crate::target::{ATTACKER, GOOD, Target};
use crate::uploads::stored_image;

/// The most characters of a prompt, four bytes each.
const LARGEST_TEXT: usize = 15_000;
const PAGE: usize = 100;
const PAGE_READERS: usize = 150;
/// More than what the buffers of two sockets hold. A debug build takes seconds to write 30 times
/// 300 prompts.
const VAULT: usize = if cfg!(debug_assertions) { 100 } else { 300 };
const VAULT_READERS: usize = 30;
const IMAGE_READERS: usize = 1_000;

pub(crate) async fn pages(target: &Target) {
    let attacker = target.attacker();
    let body = json!({ "title": "t", "prompt": "😀".repeat(LARGEST_TEXT) });
    for _ in 0..PAGE {
        attacker.post("/prompts", &body).await;
    }
    let page = request(ATTACKER, "GET", &format!("/prompts?limit={PAGE}"), None);
    target.unread(&page, PAGE_READERS, &[429, 503]).await;
}

pub(crate) async fn vaults(target: &Target) {
    let vault = target.attacker().vault(VAULT, &"😀".repeat(LARGEST_TEXT)).await;
    let list = request(ATTACKER, "GET", &format!("/vaults/{vault}/prompts"), None);
    target.unread(&list, VAULT_READERS, &[429, 503]).await;
}

/// Without a key.
pub(crate) async fn images(target: &Target) {
    target.unread(&stored_image(target).await, IMAGE_READERS, &[503]).await;
}

const DOWNLOADS: usize = 260;
/// The attacker has an address of its own.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// How often as many downloads are begun again, and good requests beside each time.
const ROUNDS: u32 = 4;
const GOOD_REQUESTS: usize = 5;

/// Clients of one address that do not read an image, each replaced by another one after a while.
/// Another client wants the same image, and must get it each time.
pub(crate) async fn held_downloads(target: &Target) {
    let (request, mut held) = (stored_image(target).await, Vec::new());
    for _ in 0..ROUNDS {
        let opened = (0..DOWNLOADS).map(async |_| {
            let mut peer = Connection::from(ELSEWHERE, &target.server).await;
            peer.send(&request).await;
            peer
        });
        // Some of the ones before were refused or cut.
        held.extend(join_all(opened).await);
        sleep(HELD_FOR / ROUNDS).await;
        all_answered(target, &request).await;
    }
}

const UNREAD: usize = 256;
/// What the kernel may hold for a client that does not read, in bytes.
const UNREAD_BYTES: usize = 256 * 1024;

/// Clients without a key that read nothing of a large image in memory, of which the system would take
/// megabytes for each.
pub(crate) async fn unread_downloads(target: &Target) {
    let request = stored_image(target).await;
    let opened = (0..UNREAD).map(async |_| {
        let mut peer = Connection::from(ELSEWHERE, &target.server).await;
        peer.send(&request).await;
        peer
    });
    let peers = join_all(opened).await;
    sleep(HELD_FOR).await;
    let unsent = unsent_bytes(target.server.access().0.port());
    println!("the system holds {} KiB for {UNREAD} clients", unsent / 1024);
    // Many were not refused.
    assert!((UNREAD..=UNREAD * UNREAD_BYTES).contains(&unsent), "{unsent}");
    drop(peers);
}

/// What the system holds of what a server at this port has sent and clients have not received.
fn unsent_bytes(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let unsent = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let is_of_server = fields[1].ends_with(&format!(":{port:04X}"));
        is_of_server
            .then(|| usize::from_str_radix(fields[4].split(':').next().unwrap(), 16).unwrap())
    });
    unsent.sum()
}

pub(crate) const ACCOUNTS: &str = "--seed-key=promptarium_live_m2_s3cret=mallory2 \
     --seed-key=promptarium_live_m3_s3cret=mallory3 --seed-key=promptarium_live_m4_s3cret=mallory4";
const KEYS: [&str; 3] =
    ["promptarium_live_m2_s3cret", "promptarium_live_m3_s3cret", "promptarium_live_m4_s3cret"];
/// 15 MB: more than what the sockets of a reader take.
const LARGE: usize = 250;
const SMALL: usize = 80;

/// Two clients of each of three accounts that do not read a long vault. Another account has one,
/// too, and must get it each time.
pub(crate) async fn of_three_accounts(target: &Target) {
    let good = target.client(GOOD).vault(SMALL, "A harbour").await;
    let (text, mut held) = ("😀".repeat(LARGEST_TEXT), Vec::new());
    for key in KEYS {
        let vault = target.client(key).vault(LARGE, &text).await;
        for _ in 0..2 {
            let mut peer = Connection::from(ELSEWHERE, &target.server).await;
            peer.send(request(key, "GET", &format!("/vaults/{vault}/prompts"), None)).await;
            held.push(peer);
        }
    }
    sleep(HELD_FOR / 2).await;
    let list = request(GOOD, "GET", &format!("/vaults/{good}/prompts"), None);
    all_answered(target, &list).await;
}

/// Sends a good request several times, and reads the responses to their end.
async fn all_answered(target: &Target, request: &str) {
    let mut slowest = Duration::ZERO;
    for _ in 0..GOOD_REQUESTS {
        let begun = Instant::now();
        let response = target.connect().await.ask(request).await;
        assert_eq!(response.status, 200, "{}", response.body);
        slowest = slowest.max(begun.elapsed());
    }
    println!("good requests beside it were answered, the slowest in {slowest:.1?}");
}
