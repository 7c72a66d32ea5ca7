//! Large bodies of requests.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::MEBIBYTE;
use crate::client::head;
use crate::target::{ATTACKER, Target, is_refusal};

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

pub(crate) async fn largest_at_once(target: &Target) {
    let body = body();
    let (rest, most) = body.split_last().unwrap();
    let attack = join_all((0..CONNECTIONS).map(async |_| {
        let mut peer = target.connect().await;
        peer.send(head(ATTACKER, "POST", "/prompts", &format!("content-length: {SIZE}\r\n"))).await;
        peer.send(most).await;
        peer
    }));
    let mut peers = attack.await;
    // What was not refused is complete but for its last byte.
    sleep(Duration::from_secs(1)).await;
    let heads = join_all(peers.iter_mut().map(async |peer| {
        peer.send([*rest]).await;
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
