//! Targets that are no implementation at all. None may pass, hang the suite or
//! bring it down; a target that gives everybody the same answer passes nothing, whatever
//! single demand that answer happens to meet.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use promptarium_conformance::report::{Outcome, Report, Verdict};
use promptarium_conformance::{
    ProbeError, Profile, Run, RunOptions, Selection, Suite, Target, probe, selection::Filters,
};
use serde_json::{Value, json};

use crate::deployed::config;
use crate::stub::{Answer, Request, Stub};

/// Runs everything, also against targets that the probe would refuse.
async fn run_all(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Report {
    let stub = Stub::start(answer).await;
    let mut config = config(&stub.base_url);
    // A tenth of what a user waits without any flag; no answer is worth more here.
    config.options = RunOptions { time_scale: "0.1".parse().unwrap(), ..RunOptions::default() };
    config.timeout = Duration::from_secs(3);
    config.sign_in_code = Some("a-code-that-nobody-made".to_owned());
    let selection = Selection::new(&Suite::builtin(), Filters::profiles(&Profile::ALL)).unwrap();
    let target = Arc::new(Target::new(config).unwrap());
    let run = Run::new(target, selection).jobs(64.try_into().unwrap()).check_sanity();
    let begun = Instant::now();
    let report = run.run(pending(), |_, _| {}).await;
    assert!(begun.elapsed() < Duration::from_secs(60), "took {:?}", begun.elapsed());
    assert_eq!(report.verdict, Verdict::Failed);
    report
}

#[track_caller]
fn assert_nothing_passed(report: &Report) {
    let passed = report.records.iter().filter(|record| record.outcome == Outcome::Passed);
    let ids: Vec<_> = passed.map(|record| record.id).collect();
    assert!(ids.is_empty(), "{ids:#?}");
    // Some look at refusals, and such a target refuses nothing.
    let skipped = report.records.iter().filter(|record| record.outcome == Outcome::Skipped);
    let others = skipped.filter(|record| !record.reason.as_ref().unwrap().contains("was refused"));
    let ids: Vec<_> = others.map(|record| (record.id, &record.reason)).collect();
    assert!(ids.is_empty(), "{ids:#?}");
}

/// One that answers this to everything.
async fn always(answer: Answer) -> Report {
    run_all(move |_| answer.clone()).await
}

async fn always_ok(body: Value) -> Report {
    always(Answer::Json(200, body.to_string())).await
}

#[tokio::test]
async fn an_empty_object_for_everything_fails() {
    assert_nothing_passed(&always_ok(json!({})).await);
}

#[tokio::test]
async fn no_data_for_everything_fails() {
    assert_nothing_passed(&always_ok(json!({ "data": null, "error": null })).await);
}

#[tokio::test]
async fn empty_data_for_everything_fails() {
    assert_nothing_passed(&always_ok(json!({ "data": {}, "error": null })).await);
}

#[tokio::test]
async fn an_empty_list_for_everything_fails() {
    let pagination = json!({ "nextCursor": null });
    let body = json!({ "data": [], "error": null, "pagination": pagination });
    assert_nothing_passed(&always_ok(body).await);
}

#[tokio::test]
async fn a_plausible_object_for_everything_fails() {
    let moment = "2026-01-02T03:04:05.678901Z";
    let data = json!({
        "id": 7, "title": "Dusk", "prompt": "A lighthouse", "promptType": "text",
        "platform": null, "status": "active", "images": [], "vaultIds": [],
        "createdAt": moment, "updatedAt": moment,
        "name": "Dusk", "description": null, "slug": "dusk", "visibility": "private",
        "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
        "promptCount": 0, "vaultPromptId": 7, "isPinned": false,
    });
    let body = json!({ "data": data, "error": null, "pagination": { "nextCursor": null } });
    assert_nothing_passed(&always_ok(body).await);
}

#[tokio::test]
async fn a_web_page_fails() {
    assert_nothing_passed(&always(Answer::Html(200, "<html>hello</html>")).await);
}

#[tokio::test]
async fn a_target_that_refuses_everyone_fails() {
    assert_nothing_passed(&always(Answer::Json(401, "{}".into())).await);
    let body = json!({ "data": null, "error": "who are you?", "details": {} });
    assert_nothing_passed(&always(Answer::Json(401, body.to_string())).await);
}

#[tokio::test]
async fn a_target_that_finds_nothing_or_is_broken_fails() {
    for status in [400, 404, 500] {
        let body = json!({ "data": null, "error": "no", "details": {} });
        assert_nothing_passed(&always(Answer::Json(status, body.to_string())).await);
    }
}

#[tokio::test]
async fn a_target_that_hangs_fails_in_bounded_time() {
    for answer in [Answer::Hang, Answer::HangAfterHead, Answer::Drip] {
        assert_nothing_passed(&always(answer).await);
    }
}

#[tokio::test]
async fn a_body_without_an_end_fails_in_bounded_time() {
    assert_nothing_passed(&always(Answer::Endless).await);
}

#[tokio::test]
async fn a_target_that_resets_connections_or_speaks_no_http_fails() {
    assert_nothing_passed(&always(Answer::Reset).await);
    assert_nothing_passed(&always(Answer::Garbage).await);
}

#[tokio::test]
async fn a_target_that_redirects_to_itself_fails() {
    assert_nothing_passed(&always(Answer::Redirect("/api/v1/vaults")).await);
}

#[tokio::test]
async fn the_probe_tells_a_wrong_address_from_one_where_nobody_is() {
    let look = async |answer: Answer| {
        let stub = Stub::start(move |_| answer.clone()).await;
        probe(&stub.target()).await
    };
    let unreachable =
        |found: &Result<(), ProbeError>| matches!(found, Err(ProbeError::Unreachable(_)));
    let misconfigured =
        |found: &Result<(), ProbeError>| matches!(found, Err(ProbeError::Misconfigured(_)));
    for answer in [Answer::Hang, Answer::Reset, Answer::Html(502, "Bad gateway")] {
        let found = look(answer).await;
        assert!(unreachable(&found), "{found:?}");
    }
    let elsewhere = [
        Answer::Html(200, "<html>"),
        Answer::Html(404, "nothing here"),
        Answer::Json(401, "{}".into()),
        Answer::Redirect("https://example.com/"),
    ];
    for answer in elsewhere {
        let found = look(answer).await;
        assert!(misconfigured(&found), "{found:?}");
    }
    for status in [200, 404, 500] {
        let found = look(Answer::Json(status, "{}".into())).await;
        assert_eq!(found, Ok(()), "a faulty API is for the scenarios to judge");
    }
}
