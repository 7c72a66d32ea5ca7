//! Whatever a scenario does, a report can show what it did last.

use std::sync::atomic::{AtomicBool, Ordering};

use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

async fn record(stub: &Stub, scenario: &'static Scenario) -> (Record, String) {
    let report = stub.run(&[scenario]).await;
    let shown = text::render(&report) + &Format::Json.render(&report);
    assert!(!shown.contains(KEY), "{shown}");
    (report.records[0].clone(), shown)
}

async fn lists_a_vault() -> Stub {
    Stub::always(Answer::data(200, json!([{ "id": "no number" }]))).await
}

async fn by_one_call(case: Case) -> Result {
    case.wire().get("/vaults").await.map(drop)
}

async fn by_two_replies(case: Case) -> Result {
    let before = case.wire().get("/vaults?n=1").await?.status_code();
    let after = case.wire().get("/vaults?n=2").await?.status_code();
    Err(Failure::failed("another status the second time", format!("{before} and {after}")))
}

async fn by_a_reply(case: Case) -> Result {
    let first = case.wire().get("/vaults?n=1").await?;
    case.wire().get("/vaults?n=2").await?;
    first.status(204).map(drop)
}

#[tokio::test]
async fn a_failure_about_two_answers_shows_the_last() {
    let scenario = scenario!("x.two.last", by_two_replies);
    let (record, shown) = record(&lists_a_vault().await, scenario).await;
    let exchange = record.exchange.unwrap();
    assert!(exchange.last && exchange.request.contains("n=2"), "{exchange:?}");
    assert!(exchange.curl.unwrap_or_default().contains("${PROMPTARIUM_API_KEY}"));
    assert!(shown.contains("its last exchange:"), "{shown}");
}

#[tokio::test]
async fn a_failure_about_one_answer_shows_that_and_no_other() {
    let scenario = scenario!("x.one.last", by_a_reply);
    let (record, shown) = record(&lists_a_vault().await, scenario).await;
    let exchange = record.exchange.unwrap();
    assert!(!exchange.last && exchange.request.contains("n=1"), "{exchange:?}");
    assert!(!shown.contains("its last exchange:"), "{shown}");
}

#[tokio::test]
async fn no_answer_is_no_verdict_and_shows_the_request() {
    let stub = Stub::always(Answer::Hang).await;
    let (record, _) = record(&stub, scenario!("x.none.last", by_one_call)).await;
    assert_eq!(record.outcome, Outcome::Error);
    let exchange = record.exchange.unwrap();
    assert!(!exchange.last && exchange.response.contains("no answer"), "{exchange:?}");
}

#[tokio::test]
async fn a_target_that_says_429_is_asked_again() {
    let busy = AtomicBool::new(true);
    let stub = Stub::start(move |_| match busy.swap(false, Ordering::Relaxed) {
        true => Answer::With(429, "retry-after: 0".into(), "{}".into()),
        false => Answer::nothing(200),
    });
    let stub = stub.await;
    let (record, _) = record(&stub, scenario!("x.busy.last", by_one_call)).await;
    assert_eq!(record.outcome, Outcome::Passed, "{record:?}");
    assert_eq!(stub.seen(), ["GET /vaults", "GET /vaults"]);
}
