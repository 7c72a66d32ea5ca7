//! Generations that take as much as they can: memory, workers, or the place of others in the queue.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::HELD_FOR;
use crate::target::{ATTACKER, Target};

/// A debug build takes seconds to parse 24.
const LARGEST: usize = if cfg!(debug_assertions) { 8 } else { 24 };
/// More than one account's half of the workers.
const HANGING: usize = 40;

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
    let all = (0..LARGEST).map(async |_| {
        target.connect().await.api(ATTACKER, "POST", "/generations", Some(&body)).await.status
    });
    join_all(all).await
}

pub(crate) async fn largest_generations(target: &Target) {
    let largest = largest();
    let mut beyond = largest.clone();
    beyond["parameters"] = json!({ "entries": vec![json!({ "": 0 }); 30_000] });
    let taken = statuses(target, &largest).await;
    println!("{taken:?}");
    assert!(taken.iter().all(|status| matches!(status, 202 | 429)), "{taken:?}");
    assert!(taken.contains(&202), "{taken:?}");
    let refused = statuses(target, &beyond).await;
    assert!(refused.iter().all(|status| matches!(status, 400 | 429)), "{refused:?}");
}

/// With answers that do not come, or outputs that never end.
pub(crate) async fn hold_workers(target: &Target, model: &str) {
    let attacker = target.attacker();
    let generation = json!({ "modelId": model, "prompt": "A harbour" });
    for _ in 0..HANGING {
        attacker.post("/generations", &generation).await;
    }
    sleep(HELD_FOR).await;
}
