//! What does not work from here is found before a run, told, and not held against
//! the target.

use promptarium_conformance::{ProbeError, preflight};

use crate::prelude::*;

/// Queues every generation and ends none; slots are at an address where nobody is.
fn halfway(line: &str) -> Answer {
    let queued = json!({ "clientJobId": "j", "status": "queued" });
    let (upload_url, url) = ("http://127.0.0.1:1/slot", "http://127.0.0.1:1/a.png");
    match line {
        "POST /generations" => Answer::data(202, queued),
        line if line.starts_with("GET /generations/") => Answer::data(200, queued),
        "POST /uploads/images" => Answer::data(
            201,
            json!({ "uploadUrl": upload_url, "token": "a-token-of-a-slot", "url": url }),
        ),
        "GET /vaults" => Answer::no_vaults(),
        _ => Answer::data(201, json!({ "id": 7 })),
    }
}

fn target(stub: &Stub) -> Arc<Target> {
    let config = TargetConfig {
        options: RunOptions { time_scale: 0.1, ..RunOptions::default() },
        // Jobs and scenarios are waited for a tenth of the time, answers as long as ever.
        timeout: Duration::from_secs(300),
        other_api_key: None,
        revoked_api_key: None,
        ..keys::target(&stub.base_url).unwrap()
    };
    Target::new(config).unwrap().into()
}

async fn preflight_of(
    target: &Arc<Target>,
    selection: &Selection,
    stop: impl Future<Output = ()> + Send,
) -> Result<Vec<Untestable>, ProbeError> {
    preflight(target, selection, &RunId::new(jiff::Timestamp::now()), stop).await
}

async fn look(filter: &str) -> (Vec<Untestable>, Vec<Outcome>) {
    let stub = Stub::start(halfway).await;
    let (target, selection) = (target(&stub), chosen(&[filter]));
    let found = preflight_of(&target, &selection, pending()).await.unwrap();
    let report = finish(Run::new(target, selection)).await;
    (found, report.records.iter().map(|record| record.outcome).collect())
}

#[tokio::test]
async fn a_provider_that_is_too_slow_is_told_with_its_time_and_waited_for_by_nobody() {
    let (found, outcomes) = look("generations.output.o").await;
    let provider = found.iter().find(|one| one.reason.contains("had not ended after 2.")).unwrap();
    assert!(provider.remedy.contains("--time-scale"), "{provider:?}");
    assert!(!outcomes.is_empty());
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Skipped), "{outcomes:?}");
}

#[tokio::test]
async fn a_storage_that_cannot_be_reached_is_told_and_its_scenarios_are_skipped() {
    let (found, outcomes) = look("uploads.put.").await;
    assert!(found.iter().any(|one| one.reason.contains("cannot be reached")), "{found:?}");
    assert!(outcomes.contains(&Outcome::Skipped), "{outcomes:?}");
    assert!(!outcomes.contains(&Outcome::Passed), "{outcomes:?}");
}

#[tokio::test]
async fn keys_that_are_not_there_are_told_if_a_selected_scenario_needs_them() {
    let target = target(&Stub::start(halfway).await);
    let found = preflight_of(&target, &chosen(&["isolation."]), pending()).await.unwrap();
    let mends: Vec<_> = found.iter().map(|one| one.remedy.as_str()).collect();
    assert_eq!(mends, ["set PROMPTARIUM_OTHER_API_KEY"]);
    assert_eq!(preflight_of(&target, &chosen(&["prompts.create."]), pending()).await, Ok(vec![]));
}

#[tokio::test]
async fn looking_ends_when_it_is_told_to_stop() {
    let stub = Stub::start(|line| match line {
        "POST /generations" => Answer::Hang,
        _ => halfway(line),
    });
    let stop = tokio::time::sleep(Duration::from_millis(300));
    let found = preflight_of(&target(&stub.await), &chosen(&["generations."]), stop).await;
    assert_eq!(found, Err(ProbeError::Stopped));
}
