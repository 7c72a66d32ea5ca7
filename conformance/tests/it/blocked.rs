//! What does not work from here is found before a run, told, and not held against
//! the target.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use promptarium_conformance::RunId;
use promptarium_conformance::report::Outcome;
use promptarium_conformance::{ProbeError, Run, RunOptions, Target, Untestable, preflight};
use serde_json::json;

use crate::deployed::{chosen, config};
use crate::stub::{Answer, Request, Stub};

/// Queues every generation and ends none; slots are at an address where nobody is.
fn halfway(request: &Request) -> Answer {
    let (status, data) = match request.line.as_str() {
        "POST /generations" => (202, json!({ "clientJobId": "j", "status": "queued" })),
        line if line.starts_with("GET /generations/") => {
            (200, json!({ "clientJobId": "j", "status": "queued" }))
        }
        "POST /uploads/images" => {
            let (upload_url, url) = ("http://127.0.0.1:1/slot", "http://127.0.0.1:1/a.png");
            (201, json!({ "uploadUrl": upload_url, "token": "a-token-of-a-slot", "url": url }))
        }
        "GET /vaults" => (200, json!([])),
        _ => (201, json!({ "id": 7 })),
    };
    Answer::Json(status, json!({ "data": data, "error": null }).to_string())
}

fn target(stub: &Stub) -> Arc<Target> {
    let mut config = config(&stub.base_url);
    config.options = RunOptions { time_scale: 0.1, ..RunOptions::default() };
    // Jobs and scenarios are waited for a tenth of the time, answers as long as ever.
    config.timeout = Duration::from_secs(300);
    (config.other_api_key, config.revoked_api_key) = (None, None);
    Arc::new(Target::new(config).unwrap())
}

fn mark() -> RunId {
    RunId::new(jiff::Timestamp::now())
}

async fn look(target: &Arc<Target>, filter: &str) -> (Vec<Untestable>, Vec<Outcome>) {
    let selection = chosen(&[filter]);
    let found = preflight(target, &selection, &mark(), pending()).await.unwrap();
    let run = Run::new(Arc::clone(target), selection);
    let report = run.run(pending(), |_, _| {}).await;
    (found, report.records.iter().map(|record| record.outcome).collect())
}

#[tokio::test]
async fn a_provider_that_is_too_slow_is_told_with_its_time_and_waited_for_by_nobody() {
    let stub = Stub::start(halfway).await;
    let (found, outcomes) = look(&target(&stub), "generations.output.o").await;
    let provider = found.iter().find(|one| one.reason.contains("had not ended after 2.")).unwrap();
    assert!(provider.remedy.contains("--time-scale"), "{provider:?}");
    assert!(!outcomes.is_empty());
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Skipped), "{outcomes:?}");
}

#[tokio::test]
async fn a_storage_that_cannot_be_reached_is_told_and_its_scenarios_are_skipped() {
    let stub = Stub::start(halfway).await;
    let (found, outcomes) = look(&target(&stub), "uploads.put.").await;
    assert!(found.iter().any(|one| one.reason.contains("cannot be reached")), "{found:?}");
    assert!(outcomes.contains(&Outcome::Skipped), "{outcomes:?}");
    assert!(!outcomes.contains(&Outcome::Passed), "{outcomes:?}");
}

#[tokio::test]
async fn keys_that_are_not_there_are_told_if_a_selected_scenario_needs_them() {
    let stub = Stub::start(halfway).await;
    let target = target(&stub);
    let needing = chosen(&["isolation."]);
    let found = preflight(&target, &needing, &mark(), pending()).await.unwrap();
    let mends: Vec<_> = found.iter().map(|one| one.remedy.as_str()).collect();
    assert_eq!(mends, ["set PROMPTARIUM_OTHER_API_KEY"]);
    let without = chosen(&["prompts.create."]);
    assert_eq!(preflight(&target, &without, &mark(), pending()).await.unwrap(), []);
}

#[tokio::test]
async fn looking_ends_when_it_is_told_to_stop() {
    let stub = Stub::start(|request| match request.line.as_str() {
        "POST /generations" => Answer::Hang,
        _ => halfway(request),
    });
    let stub = stub.await;
    let all = chosen(&["generations."]);
    let stop = tokio::time::sleep(Duration::from_millis(300));
    let found = preflight(&target(&stub), &all, &mark(), stop).await;
    assert_eq!(found, Err(ProbeError::Stopped));
}
