//! Large bodies of requests.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::peer::{Peer, head};
use crate::target::Target;
use crate::{MEBIBYTE, rounds};

const CONNECTIONS: usize = 150;
/// The largest JSON body.
const SIZE: usize = 4 * MEBIBYTE;
/// How many of them the share of one account holds.
const FITTING: usize = 8;

/// A prompt of exactly [`SIZE`] bytes.
fn body() -> Vec<u8> {
    let (before, after) = (r#"{"title":"t","prompt":"p","padding":""#, r#""}"#);
    format!("{before}{}{after}", "x".repeat(SIZE - before.len() - after.len())).into_bytes()
}

#[tokio::test]
async fn the_largest_bodies_on_150_connections_of_one_key() {
    let target = Target::start(&[]).await;
    let body = body();
    let (rest, most) = body.split_last().unwrap();
    for _ in 0..rounds() {
        let attack = join_all((0..CONNECTIONS).map(async |_| {
            let mut peer = Peer::open(target.address()).await;
            peer.send(head("POST", "/prompts", SIZE)).await;
            peer.send(most).await;
            peer
        }));
        let mut peers = attack.await;
        // What was not refused is complete but for its last byte.
        sleep(Duration::from_secs(1)).await;
        let heads = join_all(peers.iter_mut().map(async |peer| {
            peer.send([*rest]).await;
            peer.head().await
        }));
        let (mut taken, mut refused, mut reset) = (0, 0, 0);
        for head in heads.await {
            match head.as_ref().map(|head| head.status) {
                Some(201) => taken += 1,
                Some(429) => {
                    assert!(head.unwrap().header("retry-after").is_some());
                    refused += 1;
                }
                // Who sends on for seconds after the refusal may not get to read it.
                None => reset += 1,
                Some(_) => panic!("{head:?}"),
            }
        }
        println!("{taken} bodies were taken, {refused} refused, and {reset} connections reset");
        assert!(taken >= FITTING && refused > 0, "{taken} {refused} {reset}");
    }
    target.end("150 bodies of 4 MiB").await;
}
