//! Clients that hold what others need, each no more than it may have.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::future::join_all;
use reqwest::{Client, StatusCode};
use tokio::time::{Instant, sleep};

use crate::attacker::Attacker;
use crate::client::{Connection, request};
use crate::target::{GOOD, Target};
use crate::uploads::request_for_image;
use crate::{HELD_FOR, TIMEOUT};

const DOWNLOADS: usize = 260;
/// The attacker has an address of its own.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// How often as many downloads are begun again, and good requests beside each time.
const ROUNDS: u32 = 4;
const GOOD_REQUESTS: usize = 5;

const KEYS: [&str; 3] =
    ["promptarium_live_m2_s3cret", "promptarium_live_m3_s3cret", "promptarium_live_m4_s3cret"];
pub(crate) const ACCOUNTS: [&str; 6] = [
    "--seed-key",
    "promptarium_live_m2_s3cret=mallory2",
    "--seed-key",
    "promptarium_live_m3_s3cret=mallory3",
    "--seed-key",
    "promptarium_live_m4_s3cret=mallory4",
];
/// 15 MB: more than what the sockets of a reader take.
const LARGE: usize = 250;
const SMALL: usize = 80;

/// Clients of one address that do not read an image, each replaced by another one after a while.
/// Another client wants the same image, and must get it each time.
pub(crate) async fn downloads(target: &Target) {
    let (request, path) = request_for_image(target).await;
    let root = target.base_url().strip_suffix("/api/v1").unwrap();
    let (url, mut got) = (format!("{root}{path}"), Vec::new());
    let mut held = Vec::new();
    for _ in 0..ROUNDS {
        let opened = (0..DOWNLOADS).map(async |_| {
            let mut peer = Connection::from(ELSEWHERE, &target.server).await;
            peer.send(&request).await;
            peer
        });
        // Some of the ones before were refused or cut.
        held.extend(join_all(opened).await);
        sleep(HELD_FOR / ROUNDS).await;
        for _ in 0..GOOD_REQUESTS {
            got.push(answered(&url, None).await);
        }
    }
    drop(held);
    all_answered("image", &got);
}

/// Two clients of each of three accounts that do not read a long vault. Another account has one,
/// too, and must get it each time.
pub(crate) async fn readers(target: &Target) {
    let good = Attacker::with(target, GOOD).vault(SMALL, "A harbour").await;
    let text = "😀".repeat(15_000);
    let mut held = Vec::new();
    for key in KEYS {
        let vault = Attacker::with(target, key).vault(LARGE, &text).await;
        for _ in 0..2 {
            let mut peer = Connection::from(ELSEWHERE, &target.server).await;
            peer.send(request(key, "GET", &format!("/vaults/{vault}/prompts"), None)).await;
            held.push(peer);
        }
    }
    sleep(HELD_FOR / 2).await;
    let (url, mut got) = (format!("{}/vaults/{good}/prompts", target.base_url()), Vec::new());
    for _ in 0..GOOD_REQUESTS {
        got.push(answered(&url, Some(GOOD)).await);
    }
    drop(held);
    all_answered("vault", &got);
}

/// The status of a response that was read to its end, and its time.
async fn answered(url: &str, key: Option<&str>) -> (StatusCode, Duration) {
    let client = Client::builder().timeout(TIMEOUT).build().unwrap();
    let (begun, request) = (Instant::now(), client.get(url));
    let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
    let response = request.send().await.unwrap();
    let status = response.status();
    response.bytes().await.unwrap();
    (status, begun.elapsed())
}

fn all_answered(what: &str, got: &[(StatusCode, Duration)]) {
    let good = got.iter().filter(|(status, _)| *status == StatusCode::OK).count();
    let slowest = got.iter().map(|(_, time)| *time).max().unwrap_or_default();
    println!(
        "{good} of {} good requests of the {what} were answered, the slowest in {slowest:.1?}",
        got.len()
    );
    assert_eq!(good, got.len(), "{got:?}");
}
