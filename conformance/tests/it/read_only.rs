//! A run that only reads: what is in it, and that nothing else is ever sent.

use std::future::pending;

use promptarium_conformance::report::{Outcome, Report, Verdict};
use promptarium_conformance::{Run, RunOptions, Selection, Target, TargetConfig};
use serde_json::json;

use crate::deployed::{Account, chosen, config, server, target};
use crate::keys::{MAIN, OTHER};
use crate::program;
use crate::stub::{Answer, Stub};

fn options() -> RunOptions {
    RunOptions { read_only: true, ..RunOptions::default() }
}

async fn run(target: std::sync::Arc<Target>, selection: Selection) -> Report {
    Run::new(target, selection).run(pending(), |_, _| {}).await
}

fn with(report: &Report, wanted: impl Fn(Outcome) -> bool) -> Vec<&'static str> {
    let records = report.records.iter().filter(|record| wanted(record.outcome));
    records.map(|record| record.id).collect()
}

/// Where nothing but `GET` and `HEAD` goes out, no scenario that writes can pass.
#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_scenarios_that_only_read_are_marked() {
    let server = server().await;
    fill(server.base_url()).await;
    let all = chosen(&[]);
    let listed = all.scenarios.iter().filter(|scenario| scenario.reads);
    let listed: Vec<_> = listed.map(|scenario| scenario.id).collect();
    let report = run(target(server.base_url(), options()), all).await;
    let passed = with(&report, |outcome| outcome == Outcome::Passed);
    assert_eq!(passed, listed, "{passed:#?}");
    server.shutdown().await;
}

/// Something of everything, for both accounts.
async fn fill(base_url: &str) {
    for key in [MAIN, OTHER] {
        let account = Account::new(base_url, key);
        for n in 0..5 {
            let vault = account.vault(&format!("Theirs {n}")).await;
            for m in 0..3 {
                let prompt = account.prompt(&format!("Theirs {n} {m}"), "A pier").await;
                let path = format!("/vaults/{vault}/prompts");
                account.post(&path, json!({ "promptIds": [prompt] })).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_empty_accounts_there_is_less_to_look_at_and_nothing_fails() {
    let server = server().await;
    let all = chosen(&[]).read_only().unwrap();
    let report = run(target(server.base_url(), options()), all).await;
    let bad = with(&report, Outcome::is_bad);
    assert!(bad.is_empty(), "{:#?}", report.records);
    let skipped = with(&report, |outcome| outcome == Outcome::Skipped);
    let nothing = ["item", "filters", "pages"].map(|fact| format!("existing-data.prompts.{fact}"));
    assert!(nothing.iter().all(|id| skipped.contains(&id.as_str())), "{skipped:?}");
    let reasons = report.records.iter().filter_map(|record| record.reason.as_deref());
    assert!(
        reasons.into_iter().all(|reason| reason.contains("look at") || reason.contains("short"))
    );
    assert_eq!(report.verdict, Verdict::Partial);
    server.shutdown().await;
}

/// Whatever is answered, and whichever scenarios run.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_get_and_head_reaches_the_target() {
    let stub = Stub::start(|_| {
        let data = json!([{ "id": 7, "promptCount": 1, "vaultIds": [7], "token": "a-token-1" }]);
        Answer::Json(200, json!({ "data": data, "error": null }).to_string())
    });
    let stub = stub.await;
    let config = TargetConfig {
        options: RunOptions { time_scale: 0.1, ..options() },
        ..config(&stub.base_url)
    };
    let all = chosen(&[]);
    run(std::sync::Arc::new(Target::new(config).unwrap()), all).await;
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
