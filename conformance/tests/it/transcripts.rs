//! `conformance/scenarios.json`: what every scenario does, recorded against the reference server.
//! The file is compared with what they do now; `PROMPTARIUM_TRANSCRIPTS=new` writes it.

mod stable;

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::path::{Path, PathBuf};

use futures::{StreamExt as _, stream};
use promptarium_conformance::report::{Outcome, Record};
use promptarium_conformance::trace::{self, Step};
use promptarium_conformance::{Run, RunOptions, rules, scenarios};
use serde_json::{Value, json};

use crate::deployed::{Account, chosen, target};
use crate::embedded::builder;
use crate::keys::MAIN;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios.json")
}

/// A third account, whose things move the ids of each kind into a range of their own, see
/// [`stable::kind`].
const CAROL: &str = "promptarium_live_carol_m4Ts7Wq2xK9bPzE5";

/// Forks make many prompts and memberships with one call.
async fn fill(account: &Account) {
    const PROMPTS: usize = 100;
    let prompts = stream::iter(0..PROMPTS).map(|_| account.prompt("Theirs", "A pier"));
    let prompts: Vec<_> = prompts.buffer_unordered(32).collect().await;
    let public = json!({ "name": "Theirs", "visibility": "public" });
    let source = account.post("/vaults", public).await["data"]["id"].take();
    put_into(account, &source, &prompts).await;
    let forks = stable::PROMPTS / PROMPTS;
    let fork = format!("/vaults/{source}/fork");
    stream::iter(0..forks)
        .for_each_concurrent(32, async |_| drop(account.post(&fork, json!({})).await))
        .await;
    let full = (stable::MEMBERS - stable::PROMPTS) / PROMPTS;
    stream::iter(0..stable::VAULTS - forks)
        .for_each_concurrent(32, async |number| {
            let vault = account.vault("Theirs").await;
            if number < full {
                put_into(account, &vault.into(), &prompts).await;
            }
        })
        .await;
}

async fn put_into(account: &Account, vault: &Value, prompts: &[i64]) {
    for some in prompts.chunks(50) {
        account.post(&format!("/vaults/{vault}/prompts"), json!({ "promptIds": some })).await;
    }
}

/// Something to look at for scenarios that only read.
async fn furnish(account: &Account) {
    for n in 0..5 {
        let vault = account.vault(&format!("Theirs {n}")).await;
        let prompt = account.prompt("Theirs", "A pier").await;
        account.post(&format!("/vaults/{vault}/prompts"), json!({ "promptIds": [prompt] })).await;
    }
}

/// What every scenario does now.
async fn now() -> Vec<Record> {
    let server = builder().seed_key(format!("{CAROL}=carol:prompts:write")).start().await.unwrap();
    fill(&Account::new(server.base_url(), CAROL)).await;
    furnish(&Account::new(server.base_url(), MAIN)).await;
    let options = RunOptions { trace: true, time_scale: 2.0, ..RunOptions::default() };
    let target = target(server.base_url(), options);
    let run = Run::new(target, chosen(&[]));
    let report = run.run(pending(), |_, _| {}).await;
    let red: Vec<_> = report.records.iter().filter(|it| it.outcome != Outcome::Passed).collect();
    assert!(red.is_empty(), "{red:#?}");
    server.shutdown().await;
    report.records
}

fn written(records: &[Record]) -> String {
    let steps: BTreeMap<_, _> =
        records.iter().map(|record| (record.id, stable::steps(&record.steps))).collect();
    let scenario = |scenario: &promptarium_conformance::Scenario| {
        json!({
            "id": scenario.id,
            "title": scenario.title,
            "rules": scenario.rules,
            "needs": scenario.needs.iter().map(|need| need.missing()).collect::<Vec<_>>(),
            "steps": steps[scenario.id],
        })
    };
    // A line for each scenario, so that a difference shows which has changed.
    let lines =
        |values: Vec<Value>| values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
    let rules = rules::all()
        .map(|rule| json!({ "id": rule.id, "text": rule.text, "sentences": rule.sentences }));
    format!(
        "{{\"format\": 1,\n\"rules\": [\n{}\n],\n\"scenarios\": [\n{}\n]}}\n",
        lines(rules.collect()),
        lines(scenarios::all().map(scenario).collect())
    )
}

/// What must not differ: the calls with the kinds of checks, whatever their order and number. Who
/// comes first decides about the checks and the reads of a race, and what else is in the account
/// about the checks of a list of all.
fn essence(id: &str, steps: &[Step]) -> BTreeSet<String> {
    let varies = ["race", "at-once", "existing-data.", "vaults.list."];
    let has_checks = !varies.iter().any(|part| id.contains(part));
    let is_race = ["race", "at-once"].iter().any(|part| id.contains(part));
    let is_fixed = |step: &&Step| !(is_race && step.call.starts_with("GET "));
    let steps = steps.iter().filter(is_fixed);
    let lines = steps.flat_map(|step| {
        let call = format!("{} {}", stable::masked(&step.call), step.by);
        let checks = step.checks.iter().filter(|_| has_checks);
        let checks = checks.map(|check| format!("{call}: {}", stable::kind_of_check(check)));
        checks.chain([call.clone()]).collect::<Vec<_>>()
    });
    lines.filter(|line| !line.ends_with("at /pagination/nextCursor")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_does_what_was_recorded() {
    let records = now().await;
    if std::env::var_os("PROMPTARIUM_TRANSCRIPTS").is_some_and(|value| value == "new") {
        std::fs::write(file(), written(&records)).unwrap();
        return;
    }
    let mut differ = Vec::new();
    for record in &records {
        let before = essence(record.id, trace::recorded(record.id).unwrap_or_default());
        let after = essence(record.id, &stable::steps(&record.steps));
        if before != after {
            let gone: Vec<_> = before.difference(&after).collect();
            let new: Vec<_> = after.difference(&before).collect();
            differ.push(format!("{}:\n  gone {gone:#?}\n  new {new:#?}", record.id));
        }
    }
    let how = "PROMPTARIUM_TRANSCRIPTS=new cargo test -p promptarium-conformance --test it -- \
               every_scenario_does_what_was_recorded writes the file anew";
    assert!(differ.is_empty(), "{} differ; {how}\n{}", differ.len(), differ.join("\n"));
}
