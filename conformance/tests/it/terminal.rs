//! What a terminal shows of a run: the largest causes, skips by their reason, and colours where
//! they are wanted.

use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

async fn run(
    scenarios: &[&'static Scenario],
    answer: impl Fn(&str) -> Answer + Send + Sync + 'static,
) -> Report {
    Stub::start(answer).await.run(scenarios).await
}

async fn builds_on_a_vault(case: Case) -> Result {
    case.vault().await.map(drop)
}

async fn looks_at_vaults(case: Case) -> Result {
    case.wire().get("/vaults?n=1").await?.status(200).map(drop)
}

async fn looks_at_prompts(case: Case) -> Result {
    case.wire().get("/prompts/7123").await?.status(201).map(drop)
}

async fn looks_twice(case: Case) -> Result {
    case.wire().get("/vaults").await?.status(200)?;
    looks_at_vaults(case).await
}

async fn looks_at_another(case: Case) -> Result {
    case.wire().get("/prompts/8123").await?.status(201).map(drop)
}

const BUILDS: &Scenario = scenario!("a.b.builds", builds_on_a_vault);
const LOOKS: &Scenario = scenario!("a.b.looks", looks_at_vaults);
const LOOKS_TWICE: &Scenario = scenario!("a.b.looks-twice", looks_twice);
const PROMPTS: &Scenario = scenario!("a.b.prompts", looks_at_prompts);
const OTHERS: &Scenario = scenario!("a.b.other-prompts", looks_at_another);

#[tokio::test]
async fn a_failed_set_up_blocks_and_names_the_call() {
    let report = run(&[BUILDS], |_| Answer::nothing(500)).await;
    let record = &report.records[0];
    assert_eq!((record.outcome, record.call.as_deref()), (Outcome::Blocked, Some("POST /vaults")));
    assert_eq!((report.totals.blocked, report.totals.failed), (1, 0));
    assert_eq!(report.verdict, Verdict::Failed);
    let text = text::brief(&report);
    assert!(text.contains("next: make POST /vaults work, which blocks 1 scenario\n"), "{text}");
}

#[tokio::test]
async fn a_call_that_the_target_lacks_blocks_and_one_that_fails_at_times_fails() {
    let lacking = run(&[LOOKS], |_| Answer::nothing(404)).await;
    assert_eq!(lacking.records[0].outcome, Outcome::Blocked);
    let at_times = |line: &str| Answer::nothing(if line == "GET /vaults" { 200 } else { 404 });
    assert_eq!(run(&[LOOKS_TWICE], at_times).await.records[0].outcome, Outcome::Failed);
}

#[tokio::test]
async fn failures_that_differ_in_ids_only_have_one_cause_and_the_largest_comes_first() {
    let report = run(&[LOOKS, PROMPTS, OTHERS], |_| Answer::nothing(500)).await;
    let causes = report.causes();
    let sizes: Vec<_> = causes.iter().map(|cause| (cause.call, cause.records.len())).collect();
    assert_eq!(sizes, [("GET /prompts/{promptId}", 2), ("GET /vaults", 1)]);
    let json: Value = serde_json::from_str(&Format::Json.render(&report)).unwrap();
    assert_eq!(json["causes"][0]["scenarios"][1], "a.b.other-prompts");
    for (name, format) in Format::ALL {
        let shown = format.render(&report);
        let places = ["GET /prompts/{promptId}", "GET /vaults"].map(|call| shown.find(call));
        assert!(places[0].is_some() && places[0] < places[1], "{name}: {shown}");
    }
    let text = text::brief(&report);
    for part in ["[1] 2 failed at GET /prompts/{promptId}\n", "  again: curl ", "  alone: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("  also: a.b.other-prompts\n"), "{text}");
}

#[tokio::test]
async fn colours_are_there_where_they_are_wanted_and_not_in_a_pipe() {
    let stub = Stub::always(Answer::nothing(200)).await;
    let run = async |more: &[&str]| {
        let arguments = [&["--filter", "vaults.create.defaults"], more].concat();
        program::run(&stub.base_url, KEY, &arguments).await.out
    };
    assert!(run(&["--color", "always"]).await.contains("\u{1b}[1;31mverdict: failed\u{1b}[0m"));
    assert!(!run(&[]).await.contains('\u{1b}'));
    assert!(!run(&["--color", "never"]).await.contains('\u{1b}'));
}
