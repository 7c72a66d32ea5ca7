//! Generations that take as much as they can: memory, workers, or the place of others in the queue.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::HELD_FOR;
use crate::support::{TIMEOUT, sql, wait_until};
use crate::target::{ATTACKER, Target};

/// A debug build takes seconds to parse 24.
const LARGEST: usize = if cfg!(debug_assertions) { 8 } else { 24 };
/// More than one account's half of the workers.
const HANGING: usize = 40;
const UNUSABLE: usize = if cfg!(debug_assertions) { 60 } else { 300 };

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

/// What one of the stores could not keep once, and other `parameters` that are read in different
/// ways. What is taken must have a status.
fn unusable_parameters() -> Vec<String> {
    let nested =
        |levels: usize| format!(r#"{{"a":{}0{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let mut all: Vec<_> = [62, 63, 64, 100, 118, 124, 125, 126].map(nested).into();
    all.extend(
        [
            r#"{"a":"\u0000"}"#,
            r#"{"\u0000":1}"#,
            r#"{"a":1e999}"#,
            r#"{"a":1e308}"#,
            "{\"a\":\"\\ud800\"}",
            "[]",
        ]
        .map(str::to_owned),
    );
    all
}

pub(crate) async fn unusable(target: &Target) {
    let attacker = target.attacker();
    let mut taken = 0;
    for parameters in unusable_parameters().iter().cycle().take(UNUSABLE) {
        let body = format!(r#"{{"modelId":"local/fail","prompt":"p","parameters":{parameters}}}"#);
        let (status, data) = attacker.call("POST", "/generations", &body).await;
        assert!(matches!(status, 202 | 400), "{status} {body} {data}");
        if status == 202 {
            let id = data["clientJobId"].as_str().unwrap();
            attacker.get(&format!("/generations/{id}/status")).await;
            taken += 1;
        }
    }
    println!("{taken} of {UNUSABLE} generations were taken");
    if let Some(database) = &target.database {
        poison(&database.url()).await;
    }
}

/// Puts generations that no server can read into the table, because the API makes none: half of
/// them due before all others, half with a submission that got lost. All must be failed.
async fn poison(database: &str) {
    let client = sql(database).await;
    let request = format!(r#"{{"parameters":{{"a":{}{}}}}}"#, "[".repeat(126), "]".repeat(126));
    let inserted = client.execute(POISON, &[&request, &i64::try_from(UNUSABLE).unwrap()]).await;
    assert_eq!(inserted.unwrap(), UNUSABLE as u64);
    let left = async || client.query_one(POISON_LEFT, &[]).await.unwrap().get::<_, i64>(0);
    let time = wait_until(TIMEOUT, async || left().await == 0).await.expect("all to be failed");
    println!("all were failed within {time:.1?}");
}

const POISON: &str = "WITH made AS ( \
        INSERT INTO job (account_id, name_digest, client_job_id, request_digest, request, \
            vault_id, state, request_id, provider_state, reserved_at, claimable_at, created_at, updated_at) \
        SELECT account.id, sha256(convert_to('poison-' || n, 'UTF8')), 'poison-' || n, \
            sha256(''), $1::text::json, vault.id, \
            CASE WHEN due THEN 'queued' ELSE 'submitting' END, \
            CASE WHEN due THEN 'r' END, CASE WHEN due THEN '{}' END, \
            CASE WHEN NOT due THEN now() - interval '1 hour' END, \
            CASE WHEN due THEN now() - interval '1 hour' END, now(), now() \
        FROM account JOIN vault ON vault.account_id = account.id AND vault.system, \
            generate_series(1, $2::bigint) AS n, LATERAL (SELECT n % 2 = 0 AS due) AS kind \
        WHERE account.name = 'mallory' RETURNING *) \
    INSERT INTO due_job (account_id, name_digest, submitting, due_at) \
    SELECT account_id, name_digest, claimable_at IS NULL, coalesce(claimable_at, reserved_at) \
    FROM made";

const POISON_LEFT: &str =
    "SELECT count(*) FROM job WHERE client_job_id LIKE 'poison-%' AND state <> 'failed'";
