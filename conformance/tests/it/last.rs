//! Whatever a scenario does, through the SDK too, a report can show what it did last.

use std::future::pending;

use promptarium_conformance::report::{Format, Outcome, Record, text};
use promptarium_conformance::{Case, Failure, Run, Scenario};
use serde_json::json as value;

use crate::isolation::{scenario, selection};
use crate::stub::{Answer, KEY, Request, Stub};

async fn record(stub: &Stub, scenario: &'static Scenario) -> (Record, String) {
    let run = Run::new(stub.target(), selection(&[scenario]));
    let report = run.run(pending(), |_, _| {}).await;
    let shown = text::render(&report) + &Format::Json.render(&report);
    assert!(!shown.contains(KEY), "{shown}");
    (report.records[0].clone(), shown)
}

fn lists_a_vault(_: &Request) -> Answer {
    Answer::Json(200, value!({ "data": [{ "id": "no number" }], "error": null }).to_string())
}

async fn by_the_sdk(case: Case) -> Result<(), Failure> {
    case.sdk()?.vaults().list().await?;
    Ok(())
}

async fn by_two_replies(case: Case) -> Result<(), Failure> {
    let before = case.wire().get("/vaults?n=1").await?.status_code();
    let after = case.wire().get("/vaults?n=2").await?.status_code();
    Err(Failure::failed("another status the second time", format!("{before} and {after}")))
}

async fn by_a_reply(case: Case) -> Result<(), Failure> {
    let first = case.wire().get("/vaults?n=1").await?;
    case.wire().get("/vaults?n=2").await?;
    first.status(204).map(drop)
}

#[tokio::test]
async fn an_answer_that_the_sdk_cannot_read_is_shown() {
    let stub = Stub::start(lists_a_vault).await;
    let (record, shown) = record(&stub, scenario!("x.sdk.last", by_the_sdk)).await;
    assert_eq!(record.outcome, Outcome::Failed);
    let got = record.got.unwrap();
    assert!(got.contains("cannot decode response") && got.contains("invalid type"), "{got}");
    let exchange = record.exchange.unwrap();
    assert!(exchange.last && exchange.request.starts_with("GET "), "{exchange:?}");
    assert!(exchange.response.contains("no number"), "{exchange:?}");
    assert!(
        exchange.curl.as_ref().is_some_and(|it| it.contains("${PROMPTARIUM_API_KEY}")),
        "{exchange:?}"
    );
    assert!(shown.contains("the last exchange of it:"), "{shown}");
}

#[tokio::test]
async fn a_failure_about_two_answers_shows_the_last() {
    let stub = Stub::start(lists_a_vault).await;
    let (record, _) = record(&stub, scenario!("x.two.last", by_two_replies)).await;
    let exchange = record.exchange.unwrap();
    assert!(exchange.last && exchange.request.contains("n=2"), "{exchange:?}");
}

#[tokio::test]
async fn a_failure_about_one_answer_shows_that_and_no_other() {
    let stub = Stub::start(lists_a_vault).await;
    let (record, shown) = record(&stub, scenario!("x.one.last", by_a_reply)).await;
    let exchange = record.exchange.unwrap();
    assert!(!exchange.last && exchange.request.contains("n=1"), "{exchange:?}");
    assert!(!shown.contains("the last exchange of it:"), "{shown}");
}

#[tokio::test]
async fn no_answer_to_the_sdk_is_no_verdict_and_shows_the_request() {
    let stub = Stub::start(|_| Answer::Hang).await;
    let (record, _) = record(&stub, scenario!("x.none.last", by_the_sdk)).await;
    assert_eq!(record.outcome, Outcome::Error);
    let exchange = record.exchange.unwrap();
    assert!(!exchange.last && exchange.response.contains("no answer"), "{exchange:?}");
}
