//! A run that only reads: what is in it, and that nothing else is ever sent.

use crate::prelude::*;

fn options() -> RunOptions {
    RunOptions { read_only: true, ..RunOptions::default() }
}

fn with(report: &Report, wanted: impl Fn(Outcome) -> bool) -> Vec<&'static str> {
    let records = report.records.iter().filter(|record| wanted(record.outcome));
    records.map(|record| record.id).collect()
}

/// Where nothing but `GET` and `HEAD` goes out, no scenario that writes can pass.
#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_scenarios_that_only_read_are_marked() {
    let server = server().await;
    for key in [MAIN, OTHER] {
        Account::new(server.base_url(), key).furnish(5, 3).await;
    }
    let all = chosen(&[]);
    let listed = all.scenarios.iter().filter(|scenario| scenario.reads);
    let listed: Vec<_> = listed.map(|scenario| scenario.id).collect();
    let report = finish(Run::new(target(server.base_url(), options()), all)).await;
    let passed = with(&report, |outcome| outcome == Outcome::Passed);
    assert_eq!(passed, listed, "{passed:#?}");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_empty_accounts_there_is_less_to_look_at_and_nothing_fails() {
    let server = server().await;
    let all = chosen(&[]).read_only().unwrap();
    let report = finish(Run::new(target(server.base_url(), options()), all)).await;
    let bad = with(&report, Outcome::is_bad);
    assert!(bad.is_empty(), "{:#?}", report.records);
    let skipped = with(&report, |outcome| outcome == Outcome::Skipped);
    let nothing = ["item", "filters", "pages"].map(|fact| format!("existing-data.prompts.{fact}"));
    assert!(nothing.iter().all(|id| skipped.contains(&id.as_str())), "{skipped:?}");
    let mut reasons = report.records.iter().filter_map(|record| record.reason.as_deref());
    assert!(reasons.all(|reason| reason.contains("look at") || reason.contains("short")));
    assert_eq!(report.verdict, Verdict::Partial);
    server.shutdown().await;
}

/// Whatever is answered, and whichever scenarios run.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_get_and_head_reaches_the_target() {
    let data = json!([{ "id": 7, "promptCount": 1, "vaultIds": [7], "token": "a-token-1" }]);
    let stub = Stub::always(Answer::data(200, data)).await;
    let options = RunOptions { time_scale: 0.1, ..options() };
    let target =
        Target::new(TargetConfig { options, ..keys::target(&stub.base_url).unwrap() }).unwrap();
    finish(Run::new(target.into(), chosen(&[]))).await;
    let seen = stub.seen();
    assert!(seen.len() > 100, "{} requests", seen.len());
    let reads = |line: &&String| line.starts_with("GET ") || line.starts_with("HEAD ");
    let written: Vec<_> = seen.iter().filter(|line| !reads(line)).collect();
    assert!(written.is_empty(), "{written:#?}");
}

#[tokio::test]
async fn a_run_that_only_reads_says_what_it_cannot_test() {
    let server = server().await;
    let run = |more: &'static [&str]| program::run(server.base_url(), MAIN, more);
    let parts = ["cannot test whatever writes", "PROMPTARIUM_OTHER_API_KEY", "verdict: partial"];
    run(&["--read-only"]).await.ended(0, &parts);
    let none = run(&["--read-only", "--filter", "vaults.create."]).await;
    none.refused(2, "no scenario is selected");
    server.shutdown().await;
}
