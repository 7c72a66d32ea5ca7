//! Generations that take as much memory as they can.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::peer::{Peer, head};
use crate::target::Target;

const AT_ONCE: usize = 24;

/// Both texts and the parameters at their limits. Objects of one entry take the most memory for
/// their size.
fn largest() -> Value {
    let text = "😀".repeat(100_000);
    let entries = vec![json!({ "": 0 }); 4_999];
    json!({
        "modelId": "local/fail", "prompt": text, "negativePrompt": text,
        "parameters": { "entries": entries },
    })
}

async fn statuses(target: &Target, body: &Value) -> Vec<u16> {
    let body = body.to_string();
    let all = (0..AT_ONCE).map(async |_| {
        let mut peer = Peer::open(target.address()).await;
        peer.send(head("POST", "/generations", body.len())).await;
        peer.send(&body).await;
        peer.head().await.expect("a response").status
    });
    join_all(all).await
}

#[tokio::test]
async fn twenty_four_generations_with_the_largest_parameters() {
    let target = Target::start(&[]).await;
    let largest = largest();
    let mut beyond = largest.clone();
    beyond["parameters"] = json!({ "entries": vec![json!({ "": 0 }); 30_000] });
    let taken = statuses(&target, &largest).await;
    println!("{taken:?}");
    assert!(taken.iter().all(|status| matches!(status, 202 | 429)), "{taken:?}");
    assert!(taken.contains(&202), "{taken:?}");
    let refused = statuses(&target, &beyond).await;
    assert!(refused.iter().all(|status| matches!(status, 400 | 429)), "{refused:?}");
    target.end("24 generations").await;
}
