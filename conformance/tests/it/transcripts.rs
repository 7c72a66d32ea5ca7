//! What every scenario does, recorded against the reference server: the transcripts of a release,
//! and the table of the calls in the tree, which is compared with what they do now.

mod stable;

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, stream};
use promptarium_conformance::{rules, scenarios};

use crate::prelude::*;

/// A third account, whose things move the ids of each kind into a range of their own.
const CAROL: &str = "promptarium_live_carol_m4Ts7Wq2xK9bPzE5";

/// Forks make many prompts and memberships with one call.
async fn fill(account: &Account) {
    const PROMPTS: usize = 100;
    let prompts = stream::iter(0..PROMPTS).map(|_| account.prompt("Theirs", "A pier"));
    let prompts: Vec<_> = prompts.buffer_unordered(32).collect().await;
    let public = json!({ "name": "Theirs", "visibility": "public" });
    let source = account.post("/vaults", public).await["id"].as_i64().unwrap();
    account.add(source, &prompts).await;
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
                account.add(vault, &prompts).await;
            }
        })
        .await;
}

async fn now() -> Vec<Record> {
    let server = builder().seed_key(format!("{CAROL}=carol:prompts:write")).start().await.unwrap();
    fill(&Account::new(server.base_url(), CAROL)).await;
    // For scenarios that only read.
    Account::new(server.base_url(), MAIN).furnish(5, 1).await;
    let options = RunOptions { trace: true, time_scale: 2.0, ..RunOptions::default() };
    let report = finish(Run::new(target(server.base_url(), options), chosen(&[]))).await;
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

/// The calls that each scenario looks at, as `looks_at` reads them.
fn calls(records: &[Record]) -> String {
    let line = |record: &Record| {
        let steps = stable::steps(&record.steps).into_iter().filter(|step| !step.set_up);
        let calls: BTreeSet<_> = steps.filter_map(|step| stable::template(&step.call)).collect();
        let calls: Vec<_> = calls.into_iter().collect();
        format!("{}\t{}\n", record.id, calls.join("\t"))
    };
    records.iter().map(line).collect()
}

/// Writes the transcripts to the folder of the build, or where `PROMPTARIUM_TRANSCRIPTS` says: a file
/// of each release. Of the tree is only the table of the calls.
#[tokio::test(flavor = "multi_thread")]
async fn the_calls_that_every_scenario_looks_at_are_in_the_table() {
    let records = now().await;
    let wanted = std::env::var_os("PROMPTARIUM_TRANSCRIPTS").map(PathBuf::from);
    let file = wanted.clone().unwrap_or_else(|| folder("transcripts").join("scenarios.json"));
    std::fs::write(file, written(&records)).unwrap();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("calls.tsv");
    let (now, before) = (calls(&records), text(&table));
    if wanted.is_some() {
        std::fs::write(table, now).unwrap();
        return;
    }
    let varies =
        |line: &&str| ["race", "at-once", "existing-data."].iter().any(|part| line.contains(part));
    let lines = |text: &str| -> BTreeSet<String> {
        text.lines().filter(|line| !varies(line)).map(str::to_owned).collect()
    };
    let differ: Vec<_> = lines(&now).symmetric_difference(&lines(&before)).cloned().collect();
    let how = "PROMPTARIUM_TRANSCRIPTS=scenarios.json cargo test -p promptarium-conformance --test it -- \
               the_calls_that_every writes the table anew";
    assert!(differ.is_empty(), "{} differ; {how}\n{}", differ.len(), differ.join("\n"));
}
