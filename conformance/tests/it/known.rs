//! The list of known failures: what it changes in a run, and that it cannot rot.

use jiff::civil::{Date, date};
use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

const TODAY: Date = date(2026, 6, 1);

fn parse(text: &str) -> std::result::Result<KnownFailures, String> {
    KnownFailures::parse("known.toml", text, TODAY, |id| id.starts_with("a."))
}

async fn passes(_: Case) -> Result {
    Ok(())
}

async fn fails(_: Case) -> Result {
    Err(Failure::failed("good", "bad"))
}

async fn breaks(_: Case) -> Result {
    Err(Failure::error("an answer", "none"))
}

const PASSES: &Scenario = scenario!("a.b.passes", passes);
const FAILS: &Scenario = scenario!("a.b.fails", fails);
const BREAKS: &Scenario = scenario!("a.b.breaks", breaks);
const SKIPPED: &Scenario = scenario!("a.b.skipped", [RevokedKey], passes);

async fn run(known: &str, scenarios: &[&'static Scenario]) -> Report {
    let stub = Stub::always(Answer::nothing(200)).await;
    let config = TargetConfig { revoked_api_key: None, ..stub.config() };
    let mut run = Run::new(Target::new(config).unwrap().into(), selection(scenarios));
    run.report.known = parse(known).unwrap();
    finish(run).await
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
    let known = entry("a.b.skipped", "one", None) + &entry("a.b.unselected", "two", None);
    let report = run(&known, &[PASSES, SKIPPED]).await;
    assert_eq!(report.records[1].outcome, Outcome::Skipped);
    let notes = [
        "known.toml line 2: a.b.skipped is a known failure and was skipped",
        "known.toml line 5: a.b.unselected is a known failure and was not selected",
    ];
    assert_eq!(report.notes, notes);
}

#[test]
fn a_list_that_is_wrong_is_refused_with_its_line() {
    let one = &entry("a.b.c", "why", None);
    let wrong = [
        (entry("x.y", "why", None), 2, "no scenario has the id \"x.y\""),
        (format!("{one}\n{one}"), 6, "is in known.toml line 2 too"),
        (entry("a.b", "  ", None), 3, "the reason for \"a.b\" is empty"),
        ("[[failure]]\nid = \"a.b\"".to_owned(), 1, "missing field `reason`"),
        (format!("{one}link = \"javascript:alert(1)\""), 4, "http:// or https://"),
        (format!("{one}until = 12:00:00"), 4, "expected local date"),
        (format!("{one}until = \"soon\""), 4, ""),
        (format!("{one}why = \"x\""), 4, "unknown field `why`"),
        (format!("{one}reason = \"x\""), 4, "duplicate key"),
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

#[tokio::test]
async fn a_list_that_is_wrong_keeps_a_run_from_beginning() {
    let stub = Stub::always(Answer::nothing(200)).await;
    let wrong = file("known-wrong", "known.toml", &entry("vaults.create", "x", None));
    for (file, part) in [(&*wrong, "known.toml line 2: "), ("/absent.toml", "absent.toml: ")] {
        let ran = program::run(&stub.base_url, KEY, &["--known-failures", file]).await;
        ran.refused(2, part);
    }
    assert_eq!(stub.seen(), [""; 0]);
}

#[tokio::test]
async fn the_exit_code_is_that_of_what_is_not_known() {
    let stub = Stub::always(Answer::Json(200, r#"{"data":[]}"#.into())).await;
    let id = "vaults.create.answer";
    let known = file("known-run-list", "known.toml", &entry(id, "x", None));
    let report = JsonReport::new("known-run");
    for (more, code) in [(id, 0), ("vaults.create.defaults", 1)] {
        let known = ["--timeout", "2", "--known-failures", &known];
        let arguments = [&known[..], &["--filter", id, "--filter", more]].concat();
        let arguments = report.with(&arguments);
        program::run(&stub.base_url, KEY, &arguments).await.ended(code, &[]);
        assert_eq!(report.read()["totals"]["known"], 1);
    }
}
