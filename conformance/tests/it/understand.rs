//! What helps a reader who does not know Rust: transcripts, the specification as a run found it,
//! patterns by rule and by call, a list of known failures to begin with.

use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

/// A target that makes vaults under the name it is given, and nothing else.
fn only_vaults(line: &str) -> Answer {
    match line {
        "POST /vaults" => Answer::data(201, json!({ "id": 4711, "name": "a" })),
        _ => Answer::nothing(404),
    }
}

async fn renames(case: Case) -> Result {
    let vault = case.vault().await?;
    vault.update(json!({ "name": "b" })).await?.status(200).map(drop)
}

async fn makes(case: Case) -> Result {
    let reply = case.wire().post("/vaults", json!({ "name": "a" })).await?;
    reply.status(201)?.equals("/data/name", "b").map(drop)
}

const RENAMES: &Scenario = scenario!("a.b.renames", renames);
const MAKES: &Scenario = scenario!("a.b.makes", makes);

async fn record(scenario: &'static Scenario, options: RunOptions) -> (Value, String) {
    let stub = Stub::start(only_vaults).await;
    let run = Run::new(stub.target_with(options), selection(&[scenario]));
    let report = finish(run).await;
    let json: Value = serde_json::from_str(&Format::Json.render(&report)).unwrap();
    (json["records"][0].clone(), Format::Text.render(&report))
}

#[tokio::test]
async fn a_request_that_names_what_is_deleted_is_not_offered_again() {
    let (gone, text) = record(RENAMES, RunOptions::default()).await;
    assert_eq!(gone["exchange"]["curl"], Value::Null);
    assert!(!text.contains("again: ") && text.contains("--keep --trace"), "{text}");
    let (kept, text) = record(RENAMES, RunOptions { keep: true, ..RunOptions::default() }).await;
    assert!(kept["exchange"]["curl"].is_string() && text.contains("again: curl "), "{text}");
    let (makes, _) = record(MAKES, RunOptions::default()).await;
    assert!(makes["exchange"]["curl"].is_string(), "{makes:#}");
}

#[tokio::test]
async fn a_failure_shows_every_step_with_what_was_checked() {
    let (record, text) = record(MAKES, RunOptions::default()).await;
    assert_eq!(record["steps"][0]["call"], "POST /vaults");
    assert_eq!(record["steps"][0]["checks"], json!(["status 201"]));
    assert_eq!(record["steps"][0]["failed"], json!(["/data/name to be \"b\""]));
    for line in ["POST /vaults {\"name\":\"a\"} → 201", "✓ status 201", "✗ /data/name to be \"b\""]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[tokio::test]
async fn what_passes_shows_its_steps_in_a_trace_only() {
    async fn passes(case: Case) -> Result {
        case.vault().await.map(drop)
    }
    const PASSES: &Scenario = scenario!("a.b.passes", passes);
    let (record_of, text) = record(PASSES, RunOptions::default()).await;
    assert_eq!((&record_of["steps"], text.contains("→")), (&json!([]), false));
    let (traced, text) = record(PASSES, RunOptions { trace: true, ..RunOptions::default() }).await;
    assert_eq!(traced["steps"][0]["set_up"], true);
    assert!(text.contains("   1 POST /vaults {\"name\":") && text.contains("(set-up)"), "{text}");
}

#[tokio::test]
async fn explain_shows_the_steps_of_a_scenario_and_needs_no_target() {
    const ID: &str = "contents.move.from-source-to-target";
    let call = "POST /vaults/$vault1/prompts/$member2/move";
    let step = json!({ "call": call, "status": 200, "checks": ["status 200"] });
    let text = json!({ "scenarios": [{ "id": ID, "steps": [step] }] }).to_string();
    let file = file("transcripts-read", "scenarios.json", &text);
    let flags = ["--transcripts", &file, ID];
    let parts = [&format!("{ID} (VC-20)\n"), "/move → 200\n     ✓ status 200"];
    program(&[&["explain"], &flags[..]].concat(), &[]).await.ended(0, &parts);
    let json = program(&[&["explain", "--json"], &flags[..]].concat(), &[]).await.json();
    assert_eq!(json[0]["steps"].as_array().unwrap().last().unwrap()["status"], 200);
    let parts = ["looks at POST /vaults/{id}/prompts/{id}/move", "--transcripts"];
    program(&["explain", ID], &[]).await.ended(0, &parts);
}

fn selected(filter: &str) -> std::result::Result<Vec<&'static str>, String> {
    let filters = Filters { filter: vec![filter.into()], ..Filters::default() };
    let selection = Selection::new(&Suite::builtin(), filters)?;
    Ok(selection.scenarios.iter().map(|scenario| scenario.id).collect())
}

#[test]
fn a_filter_may_be_a_rule_or_a_call() {
    const MOVE: &str = "contents.move.from-source-to-target";
    let by_rule = selected("VC-20").unwrap();
    assert!(by_rule.contains(&MOVE) && by_rule.len() < 40, "{by_rule:?}");
    let by_call = selected("POST /vaults/{vaultId}/prompts/{vaultPromptId}/move").unwrap();
    let moves = by_call.iter().filter(|id| id.starts_with("contents.move."));
    assert!(moves.count() > 2 && !by_call.contains(&"vaults.create.defaults"), "{by_call:?}");
    // A prompt that is only a part of the set-up is not looked at.
    assert!(!selected("POST /prompts").unwrap().contains(&MOVE));
    for wrong in ["VC-99", "POST /nothing"] {
        assert!(selected(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_list_of_known_failures_is_written_that_the_next_run_takes() {
    let stub = Stub::start(only_vaults).await;
    let file = folder("known-written").join("known.toml").display().to_string();
    let run = async |flag: &str| {
        let arguments = ["--filter", "vaults.create.", "--time-scale", "0.1", flag, &file];
        program::run(&stub.base_url, KEY, &arguments).await
    };
    run("--write-known-failures").await.ended(1, &[]);
    let second = run("--known-failures").await;
    assert!(second.code != Some(1) && second.out.contains(" known to fail"), "{}", second.out);
}

#[tokio::test]
async fn each_sentence_is_held_broken_or_not_tested_by_the_run_of_a_report() {
    let outcome = |id: &str, outcome: &str| json!({ "id": id, "outcome": outcome });
    let records = [
        outcome("vaults.create.defaults", "failed"),
        outcome("pagination.pages.each-once", "passed"),
    ];
    let file = file("sentences", "report.json", &json!({ "records": records }).to_string());
    let json = program(&["coverage", "--json", "--run", &file], &[]).await.json();
    let sentences = json["sentences"].as_array().unwrap();
    let states = |state: &str| sentences.iter().filter(|one| one["state"] == state).count();
    assert!(states("broken") > 0 && states("held") > 0 && states("untested") > 100, "{json:#}");
    let broken = sentences.iter().find(|one| one["state"] == "broken").unwrap();
    assert_eq!(broken["scenarios"]["vaults.create.defaults"], "failed");
    assert!(!broken["section"].as_str().unwrap().is_empty());
    let text = program(&["coverage", "--run", &file], &[]).await;
    text.ended(0, &["[vaults.create.defaults failed]"]);
    let none = program(&["coverage", "--run", "/none.json"], &[]).await;
    none.refused(2, "cannot read the report /none.json");
}
