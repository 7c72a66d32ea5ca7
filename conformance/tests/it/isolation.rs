//! However a scenario ends, its end is told and nothing of it stays behind.

use promptarium_conformance::scenarios::prelude::{Duration, Result};

use crate::prelude::*;

async fn passes(case: Case) -> Result {
    case.vault().await.map(drop)
}

async fn panics(case: Case) -> Result {
    case.vault().await?;
    panic!("out of luck");
}

async fn takes_for_ever(case: Case) -> Result {
    case.vault().await?;
    pending().await
}

/// Gives the request up while it is on its way.
async fn gives_up(case: Case) -> Result {
    let wire = case.wire();
    let request = wire.post("/vaults", json!({ "name": case.name("vault") }));
    let _ = tokio::time::timeout(Duration::from_millis(1), request).await;
    Err(Failure::failed("a scenario that waits", "one that gave up"))
}

async fn forks(case: Case) -> Result {
    case.wire().post_empty("/vaults/7/fork").await?.status(201).map(drop)
}

fn makes_and_deletes(line: &str) -> Answer {
    match line {
        line if line.starts_with("POST") => Answer::data(201, json!({ "id": 5 })),
        line if line.starts_with("GET /vaults/5/prompts") => {
            Answer::data(200, json!([{ "id": 8 }]))
        }
        _ => Answer::data(200, json!({})),
    }
}

async fn run(stub: &Stub, scenario: &'static Scenario) -> Report {
    let mut run = Run::new(stub.target(), selection(&[scenario]));
    // Long enough for a vault and for the trace of a panic on a busy machine.
    run.deadline = Duration::from_secs(5);
    finish(run).await
}

#[tokio::test]
async fn what_was_made_is_deleted_however_a_scenario_ends() {
    let all = [
        (scenario!("a.b.passes", passes), Outcome::Passed, ""),
        (scenario!("a.b.panics", panics), Outcome::Error, "it panicked: out of luck"),
        (scenario!("a.b.for-ever", takes_for_ever), Outcome::Error, "it did not"),
        (scenario!("a.b.gives-up", gives_up), Outcome::Failed, "one that gave up"),
    ];
    for (scenario, outcome, got) in all {
        let stub = Stub::start(makes_and_deletes).await;
        let record = run(&stub, scenario).await.records.remove(0);
        let told = (record.outcome, record.got.as_deref().unwrap_or_default(), &record.left_behind);
        assert_eq!(told, (outcome, got, &None), "{}", scenario.id);
        assert_eq!(stub.seen(), ["POST /vaults", "DELETE /vaults/5"], "{}", scenario.id);
    }
}

#[tokio::test]
async fn a_fork_goes_together_with_its_copies() {
    let stub = Stub::start(makes_and_deletes).await;
    let report = run(&stub, scenario!("a.b.forks", forks)).await;
    assert_eq!(report.verdict, Verdict::Passed);
    let deleted = ["GET /vaults/5/prompts", "DELETE /prompts/8", "DELETE /vaults/5"];
    assert_eq!(stub.seen()[1..], deleted);
}

#[tokio::test]
async fn a_stopped_run_cleans_up_and_does_not_pass() {
    let stub = Stub::start(makes_and_deletes).await;
    let scenarios = [
        scenario!("a.b.one", takes_for_ever),
        scenario!("a.b.two", takes_for_ever),
        scenario!("a.b.three", takes_for_ever),
    ];
    let mut run = Run::new(stub.target(), selection(&scenarios));
    run.jobs = 2.try_into().unwrap();
    let stop = async {
        while stub.seen().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let report = run.run(stop, |_, _| {}).await;
    let deleted = stub.seen().iter().filter(|line| line.starts_with("DELETE")).count();
    let told = (report.verdict, report.totals.skipped, report.problem.is_some(), deleted);
    assert_eq!(told, (Verdict::Partial, 3, true, 2));
}

#[tokio::test]
async fn what_cannot_be_deleted_is_told_and_changes_no_verdict() {
    let stub = Stub::start(|line| match line.starts_with("DELETE") {
        true => Answer::nothing(500),
        false => makes_and_deletes(line),
    });
    let report = run(&stub.await, scenario!("a.b.passes", passes)).await;
    assert_eq!((report.verdict, report.totals.left_behind), (Verdict::Passed, 1));
    let left = report.records[0].left_behind.as_deref().unwrap();
    assert!(left.contains("vault 5") && left.contains("500"), "{left}");
}

#[tokio::test]
async fn the_same_seed_gives_the_same_order() {
    let scenarios = [
        scenario!("a.b.one", passes),
        scenario!("a.b.two", passes),
        scenario!("a.b.three", passes),
        scenario!("a.b.four", passes),
        scenario!("a.b.five", passes),
    ];
    let mut orders = Vec::new();
    for seed in [1, 1, 2, 3] {
        let stub = Stub::start(makes_and_deletes).await;
        let mut run = Run::new(stub.target(), selection(&scenarios));
        let mut order = Vec::new();
        (run.jobs, run.report.seed) = (1.try_into().unwrap(), seed);
        let report = run.run(pending(), |record, _| order.push(record.id)).await;
        let listed: Vec<_> = report.records.iter().map(|record| record.id).collect();
        assert_eq!(listed, scenarios.map(|scenario| scenario.id), "the order of the list");
        orders.push(order);
    }
    assert_eq!(orders[0], orders[1]);
    assert!(orders[2] != orders[0] || orders[3] != orders[0]);
}
