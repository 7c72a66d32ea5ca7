//! The record as JUnit XML, for programs that show tests: a suite for each chapter,
//! a case for each scenario.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::plain::{escape_control_chars, one_line};
use super::text;
use super::{Outcome, Record, Report, Totals, Verdict};

pub fn render(report: &Report) -> String {
    let mut document = quick_junit::Report::new(safe(&report.suite));
    document.set_time(Duration::from_millis(report.duration_ms));
    document.add_test_suite(of_the_run(report));
    for (chapter, records) in report.chapters() {
        let mut suite = suite(report, chapter, Totals::of(records.iter().copied()).duration_ms);
        suite.add_test_cases(records.into_iter().map(case));
        document.add_test_suite(suite);
    }
    // All that XML forbids is escaped before, so writing cannot fail.
    let text = document.to_string().unwrap_or_default();
    // The schema of Jenkins' xUnit plugin does not know it at the root; each suite has its own.
    match text.split_once(" skipped=\"") {
        Some((root, rest)) => root.to_owned() + rest.split_once('"').map_or(rest, |(_, rest)| rest),
        None => text,
    }
}

fn suite(report: &Report, name: &str, duration_ms: u64) -> TestSuite {
    let mut suite = TestSuite::new(safe(name));
    suite.set_time(Duration::from_millis(duration_ms));
    suite.timestamp = report.started_at.parse().ok();
    suite
}

/// What belongs to no chapter: the causes of failures, and how to run it again. A run that stopped
/// early must not look like a passed one, so it has a case for that.
fn of_the_run(report: &Report) -> TestSuite {
    let mut suite = suite(report, "run", 0);
    let mut add = |name, value: &str| {
        suite.add_property(Property::new(name, safe(value)));
    };
    for cause in report.causes() {
        let example = cause.records.first().map(|record| record.id).unwrap_or_default();
        add("cause", &format!("{}; for example {example}", cause.in_one_line()));
    }
    for notice in text::notices(report) {
        add("note", &notice);
    }
    add("target", &report.target);
    add("seed", &report.seed.to_string());
    add("run id", &report.run_id);
    add("command", &report.command());
    let unfinished = report.verdict == Verdict::Unfinished;
    let problem = unfinished.then_some("the run stopped before its end");
    if let Some(problem) = report.problem.as_deref().or(problem) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unfinished").set_message(safe(problem));
        let mut case = TestCase::new("run.end", status);
        case.set_classname("run").set_time(Duration::ZERO);
        suite.add_test_case(case);
    }
    suite
}

fn case(record: &Record) -> TestCase {
    let mut case = TestCase::new(safe(record.id), status(record));
    case.set_classname(safe(record.chapter()));
    case.set_time(Duration::from_millis(record.duration_ms));
    if let Some(left) = &record.left_behind {
        // The same schema knows no properties of a case.
        case.set_system_out(safe(&format!("left behind: {}", one_line(left))));
    }
    case
}

fn status(record: &Record) -> TestCaseStatus {
    let (expected, got) = record.values();
    let mut status = match record.outcome {
        Outcome::Passed => return TestCaseStatus::success(),
        Outcome::Skipped | Outcome::Known => TestCaseStatus::skipped(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Error | Outcome::Blocked => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let message = match record.outcome {
        Outcome::Skipped => record.why(),
        Outcome::Known => format!("known failure: {}", record.why()),
        _ => format!("expected {expected}; got {got}"),
    };
    status.set_type(record.outcome.as_ref()).set_message(safe(&one_line(&message)));
    if record.outcome != Outcome::Skipped {
        status.set_description(safe(&text::record(record)));
    }
    status
}

/// The library would omit what XML forbids; a report shows it escaped.
fn safe(text: &str) -> XmlString {
    XmlString::new(escape_control_chars(text))
}
