//! Targets that are no implementation at all. None may pass, hang the suite or
//! bring it down.

use std::future::pending;
use std::time::{Duration, Instant};

use promptarium_conformance::report::{Outcome, Record, Report, Verdict};
use promptarium_conformance::{ProbeError, Profile, Run, Selection, probe};

use crate::stub::{Answer, Request, Stub};

/// Runs everything, also against targets that the probe would refuse.
async fn run_all(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Report {
    let stub = Stub::start(answer).await;
    let selection = Selection::new(Profile::Reference, Vec::new()).unwrap();
    let run = Run::new(stub.target(), selection)
        .jobs(64.try_into().unwrap())
        .deadline(Duration::from_secs(3));
    let begun = Instant::now();
    let report = run.carry_out(pending(), |_, _| {}).await;
    assert!(begun.elapsed() < Duration::from_secs(60), "took {:?}", begun.elapsed());
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(report.totals.skipped, 0);
    report
}

fn passed(report: &Report) -> impl Iterator<Item = &Record> {
    report.records.iter().filter(|record| record.outcome == Outcome::Passed)
}

/// A few scenarios look at the address or the key alone, or say of an answer
/// what holds if it is a refusal; hardly any target can fail those.
fn assert_next_to_nothing_passed(report: &Report) {
    let ids: Vec<_> = passed(report).map(|record| record.id).collect();
    assert!(ids.len() * 20 <= report.records.len(), "these passed: {ids:?}");
}

fn vaults_only(request: &Request, rest: Answer) -> Answer {
    match request.line.as_str() {
        "GET /vaults" => Answer::Json(200, r#"{"data":[],"error":null}"#.into()),
        _ => rest,
    }
}

#[tokio::test]
async fn a_target_that_says_yes_to_everything_fails() {
    assert_next_to_nothing_passed(&run_all(|_| Answer::Json(200, "{}".into())).await);
}

#[tokio::test]
async fn a_web_page_fails() {
    assert_next_to_nothing_passed(&run_all(|_| Answer::Html(200, "<html>hello</html>")).await);
}

#[tokio::test]
async fn a_target_that_hangs_fails_in_bounded_time() {
    let report = run_all(|request| vaults_only(request, Answer::Hang)).await;
    assert_next_to_nothing_passed(&report);
}

#[tokio::test]
async fn a_target_that_resets_connections_fails() {
    let report = run_all(|request| vaults_only(request, Answer::Reset)).await;
    assert_next_to_nothing_passed(&report);
}

#[tokio::test]
async fn a_target_that_refuses_everyone_passes_for_its_refusals_alone() {
    let report = run_all(|_| Answer::Json(401, "{}".into())).await;
    for record in passed(&report) {
        let about_keys = |id: &str| ["AU", "KE", "ER"].iter().any(|one| id.starts_with(one));
        assert!(record.rules.iter().all(|rule| about_keys(rule.id)), "{} passed", record.id);
    }
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
