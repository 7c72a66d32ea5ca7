//! The list of known failures: what it changes in a run, and that it cannot rot.

use std::path::Path;

use jiff::civil::{Date, date};
use promptarium_conformance::report::{Outcome, Record, Report, Verdict, text};
use promptarium_conformance::{Case, Failure, KnownFailures, Run, Scenario, Selection};
use serde_json::Value;

use crate::isolation::{scenario, selection};
use crate::program::{self, folder};
use crate::stub::{Answer, KEY, Stub};

const TODAY: Date = date(2026, 6, 1);

fn parse(text: &str) -> Result<KnownFailures, String> {
    KnownFailures::parse("known.toml", text, TODAY, |id| id.starts_with("a."))
}

async fn passes(_: Case) -> Result<(), Failure> {
    Ok(())
}

async fn fails(_: Case) -> Result<(), Failure> {
    Err(Failure::failed("good", "bad"))
}

async fn breaks(_: Case) -> Result<(), Failure> {
    Err(Failure::error("an answer", "none"))
}

const PASSES: &Scenario = scenario!("a.b.passes", passes);
const FAILS: &Scenario = scenario!("a.b.fails", fails);
const BREAKS: &Scenario = scenario!("a.b.breaks", breaks);
const SKIPPED: &Scenario = scenario!("a.b.skipped", [RevokedKey], passes);

async fn run(known: &str, scenarios: &[&'static Scenario]) -> Report {
    let stub = Stub::start(|_| Answer::Json(200, "{}".into())).await;
    let mut config =
        promptarium_conformance::TargetConfig::new(stub.base_url.parse().unwrap(), KEY);
    config.image_model = "elsewhere/model".into();
    let target = promptarium_conformance::Target::new(config).unwrap();
    let selection: Selection = selection(scenarios);
    let mut run = Run::new(target.into(), selection);
    run.report.known = parse(known).unwrap();
    run.run(std::future::pending(), |_, _| {}).await
}

fn record<'r>(report: &'r Report, scenario: &Scenario) -> &'r Record {
    report.records.iter().find(|record| record.id == scenario.id).unwrap()
}

fn entry(id: &str, reason: &str, until: Option<&str>) -> String {
    let until = until.map(|until| format!("until = {until}\n")).unwrap_or_default();
    format!("[[failure]]\nid = \"{id}\"\nreason = \"{reason}\"\n{until}")
}

#[tokio::test]
async fn what_is_known_to_fail_leaves_the_verdict_passed_and_an_entry_that_is_over_fails_it() {
    let fails = entry("a.b.fails", "one", None);
    let breaks = entry("a.b.breaks", "two", Some("2026-06-01"));
    let both = fails + &breaks;
    let over = entry("a.b.fails", "old", Some("2026-05-31"));
    let all_known = "verdict: passed, but for failures that are known";
    let told = "known a.b.breaks: two; until 2026-06-01; known.toml line 5";
    let is_over = "known: old; until 2026-05-31, which is over";
    let rows: [(_, &[&'static Scenario], _, _, &[&str]); 5] = [
        (both.clone(), &[PASSES, FAILS, BREAKS], Verdict::Passed, 2, &[all_known, told]),
        (both, &[FAILS], Verdict::Passed, 1, &[all_known]),
        (breaks, &[FAILS, BREAKS], Verdict::Failed, 1, &["a.b.fails"]),
        (entry("a.b.passes", "old", None), &[PASSES], Verdict::Failed, 0, &["remove the entry"]),
        (over, &[FAILS], Verdict::Failed, 0, &[is_over]),
    ];
    for (known, scenarios, verdict, count, parts) in rows {
        let report = run(&known, scenarios).await;
        assert_eq!((report.verdict, report.totals.known), (verdict, count), "{known}");
        let text = text::render(&report);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        for record in report.records.iter().filter(|one| one.outcome == Outcome::Known) {
            assert!(record.expected.is_some() && record.command.is_some());
        }
    }
}

#[tokio::test]
async fn an_entry_that_did_not_run_is_noted() {
    let known = "[[failure]]\nid = \"a.b.skipped\"\nreason = \"one\"\n\
        [[failure]]\nid = \"a.b.unselected\"\nreason = \"two\"\n";
    let report = run(known, &[PASSES, SKIPPED]).await;
    assert_eq!(record(&report, SKIPPED).outcome, Outcome::Skipped);
    assert_eq!(
        report.notes,
        [
            "known.toml line 2: a.b.skipped is a known failure and was skipped",
            "known.toml line 5: a.b.unselected is a known failure and was not selected",
        ]
    );
}

#[test]
fn a_list_that_is_wrong_is_refused_with_its_line() {
    let entry = "[[failure]]\nid = \"a.b.c\"\nreason = \"why\"\n";
    let wrong = [
        (
            "[[failure]]\nid = \"x.y\"\nreason = \"why\"".to_owned(),
            2,
            "no scenario has the id \"x.y\"",
        ),
        (format!("{entry}\n{entry}"), 6, "is in known.toml line 2 too"),
        (
            "[[failure]]\nid = \"a.b\"\nreason = \"  \"".to_owned(),
            3,
            "the reason for \"a.b\" is empty",
        ),
        ("[[failure]]\nid = \"a.b\"".to_owned(), 1, "missing field `reason`"),
        (format!("{entry}link = \"javascript:alert(1)\""), 4, "http:// or https://"),
        (format!("{entry}until = 12:00:00"), 4, "expected local date"),
        (format!("{entry}until = \"soon\""), 4, ""),
        (format!("{entry}why = \"x\""), 4, "unknown field `why`"),
        (format!("{entry}reason = \"x\""), 4, "duplicate key"),
        ("failures".to_owned(), 1, ""),
        ("\n\n[[failures]]\n".to_owned(), 3, "unknown field `failures`"),
    ];
    for (text, line, part) in wrong {
        let told = parse(&text).unwrap_err();
        assert!(told.starts_with(&format!("known.toml line {line}: ")), "{told}\n{text}");
        assert!(told.contains(part), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    assert!(parse("# nothing is known").is_ok());
}

fn written(folder: &Path, text: &str) -> String {
    let file = folder.join("known.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[tokio::test]
async fn a_list_that_is_wrong_keeps_a_run_from_beginning() {
    let stub = Stub::start(|_| Answer::Json(200, "{}".into())).await;
    let folder = folder("known-wrong");
    let wrong = written(&folder, "[[failure]]\nid = \"vaults.create\"\nreason = \"x\"\n");
    let absent = folder.join("absent.toml").display().to_string();
    for (file, part) in [(&wrong, "known.toml line 2: "), (&absent, "absent.toml: ")] {
        let ran = program::run(&stub.base_url, KEY, &["--known-failures", file]).await;
        ran.refused(2, part);
    }
    assert_eq!(stub.seen(), [""; 0]);
}

#[tokio::test]
async fn the_exit_code_is_that_of_what_is_not_known() {
    let stub = Stub::start(|_| Answer::Json(200, r#"{"data":[]}"#.into())).await;
    let folder = folder("known-run");
    let id = "vaults.create.answer";
    let known = written(&folder, &format!("[[failure]]\nid = \"{id}\"\nreason = \"x\"\n"));
    let json = folder.join("report.json");
    let report = format!("json={}", json.display());
    let arguments = ["--timeout", "2", "--known-failures", &known, "--report", &report];
    for (more, code) in [(id, 0), ("vaults.create.defaults", 1)] {
        let arguments = [&arguments[..], &["--filter", id, "--filter", more]].concat();
        program::run(&stub.base_url, KEY, &arguments).await.ended(code, &[]);
        let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        assert_eq!(report["totals"]["known"], 1);
    }
}
