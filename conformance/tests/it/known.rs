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
const SKIPPED: &Scenario = scenario!("a.b.skipped", [LocalProvider], passes);

async fn run(known: &str, scenarios: &[&'static Scenario]) -> Report {
    let stub = Stub::start(|_| Answer::Json(200, "{}".into())).await;
    let mut config =
        promptarium_conformance::TargetConfig::new(stub.base_url.parse().unwrap(), KEY);
    config.image_model = "elsewhere/model".into();
    let target = promptarium_conformance::Target::new(config).unwrap();
    let selection: Selection = selection(scenarios);
    let run = Run::new(target.into(), selection).known(parse(known).unwrap());
    run.run(std::future::pending(), |_, _| {}).await
}

fn record<'r>(report: &'r Report, scenario: &Scenario) -> &'r Record {
    report.records.iter().find(|record| record.id == scenario.id).unwrap()
}

const ALL: &str = "[[failure]]\nid = \"a.b.fails\"\nreason = \"one\"\n\
    [[failure]]\nid = \"a.b.breaks\"\nreason = \"two\"\nuntil = 2026-06-01\n";

#[tokio::test]
async fn what_is_known_to_fail_leaves_the_verdict_passed_and_is_counted() {
    let report = run(ALL, &[PASSES, FAILS, BREAKS]).await;
    assert_eq!(report.verdict, Verdict::Passed);
    assert_eq!((report.totals.known, report.totals.passed), (2, 1));
    assert_eq!((report.totals.failed, report.totals.errors), (0, 0));
    for (scenario, reason) in [(FAILS, "one"), (BREAKS, "two")] {
        let record = record(&report, scenario);
        assert_eq!(record.outcome, Outcome::Known);
        assert_eq!(record.known.as_ref().unwrap().reason, reason);
        assert!(record.expected.is_some() && record.command.is_some());
    }
    let text = text::render(&report);
    assert!(text.contains("verdict: passed, but for failures that are known"), "{text}");
    assert!(text.contains("known a.b.breaks: two; until 2026-06-01; known.toml line 5"), "{text}");
}

#[tokio::test]
async fn a_run_of_known_failures_alone_has_shown_something() {
    assert_eq!(run(ALL, &[FAILS]).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn what_fails_and_is_not_listed_fails_the_run() {
    let known = "[[failure]]\nid = \"a.b.breaks\"\nreason = \"two\"\n";
    let report = run(known, &[FAILS, BREAKS]).await;
    assert_eq!((report.verdict, report.totals.failed), (Verdict::Failed, 1));
    assert_eq!(record(&report, FAILS).known, None);
}

#[tokio::test]
async fn an_entry_that_passes_fails_the_run() {
    let report = run("[[failure]]\nid = \"a.b.passes\"\nreason = \"old\"\n", &[PASSES]).await;
    assert_eq!(report.verdict, Verdict::Failed);
    let record = record(&report, PASSES);
    assert_eq!(record.outcome, Outcome::Failed);
    assert!(record.expected.as_ref().unwrap().contains("known.toml line 2"));
    assert!(record.got.as_ref().unwrap().contains("remove the entry"));
}

#[tokio::test]
async fn an_entry_past_its_day_fails_the_run() {
    let known = "[[failure]]\nid = \"a.b.fails\"\nreason = \"old\"\nuntil = 2026-05-31\n";
    let report = run(known, &[FAILS]).await;
    assert_eq!(report.verdict, Verdict::Failed);
    assert!(record(&report, FAILS).known.as_ref().unwrap().expired);
    let text = text::render(&report);
    assert!(text.contains("known: old; until 2026-05-31, which is over"), "{text}");
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
        (format!("{entry}\n{entry}"), 6, "stands in known.toml line 2 too"),
        (
            "[[failure]]\nid = \"a.b\"\nreason = \"  \"".to_owned(),
            3,
            "the reason for \"a.b\" is empty",
        ),
        ("[[failure]]\nid = \"a.b\"".to_owned(), 1, "missing field `reason`"),
        (format!("{entry}link = \"javascript:alert(1)\""), 4, "http:// or https://"),
        (format!("{entry}until = 12:00:00"), 4, "a day, such as 2027-01-31"),
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
