//! The record as text, for a person: what needs attention first, the verdict
//! last, where a terminal leaves the eye.

use std::fmt::Write as _;

use super::{Outcome, Record, Report, Totals, Verdict};
use crate::Profile;
use crate::wire::Exchange;

/// A longer shell line helps nobody on a terminal; JSON has the whole.
const CURL_SHOWN: usize = 4000;

/// The whole report as text.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for shown in &report.records {
        if matches!(shown.outcome, Outcome::Failed | Outcome::Error) {
            let _ = writeln!(text, "{}  alone: {}\n", record(shown), alone(report, shown));
        }
    }
    for shown in &report.records {
        match (shown.outcome, &shown.left_behind) {
            (Outcome::Skipped, _) => text.push_str(&record(shown)),
            (Outcome::Passed, Some(left)) => {
                let _ = writeln!(text, "left behind by {}: {left}", shown.id);
            }
            _ => {}
        }
    }
    summary(&mut text, report);
    harmless(&text)
}

/// One record, in as many lines as its outcome asks for.
pub fn record(record: &Record) -> String {
    let word = match record.outcome {
        Outcome::Failed => "FAILED",
        Outcome::Error => "ERROR",
        Outcome::Passed => "passed",
        Outcome::Skipped => {
            let reason = record.reason.as_deref().unwrap_or("without a reason");
            return harmless(&format!("skipped {}: {reason}\n", record.id));
        }
    };
    let mut text = format!("{word} {}\n  {}\n", record.id, record.title);
    for rule in &record.rules {
        let _ = writeln!(text, "  {} {}", rule.id, rule.text);
    }
    for (name, value) in [("expected", &record.expected), ("got", &record.got)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name:>8} {}", value.replace('\n', "\n           "));
        }
    }
    if let Some(left) = &record.left_behind {
        let _ = writeln!(text, "  left behind: {left}");
    }
    if let Some(exchange) = &record.exchange {
        push_exchange(&mut text, exchange);
    }
    harmless(&text)
}

fn push_exchange(text: &mut String, exchange: &Exchange) {
    for line in exchange.request().lines() {
        let _ = writeln!(text, "  > {line}");
    }
    for line in exchange.reply().lines() {
        let _ = writeln!(text, "  < {line}");
    }
    let curl = exchange.curl();
    if curl.len() <= CURL_SHOWN {
        let _ = writeln!(text, "  again: {curl}");
    } else {
        let _ = writeln!(text, "  again: a line of {} bytes; see the JSON report", curl.len());
    }
}

/// The command that runs one scenario; keys come from the environment.
fn alone(report: &Report, record: &Record) -> String {
    let profile = match record.profile {
        Profile::Core => "core",
        Profile::Reference => "reference",
    };
    let (target, id) = (&report.target, record.id);
    format!("promptarium-conformance run --base-url '{target}' --profile {profile} --filter {id}")
}

fn summary(text: &mut String, report: &Report) {
    let Totals { scenarios, passed, failed, skipped, errors, left_behind } = report.totals;
    let seconds = report.duration_ms / 1000;
    let tenths = report.duration_ms % 1000 / 100;
    let _ = writeln!(text, "{} on {}", report.suite, report.target);
    let _ = writeln!(
        text,
        "{scenarios} scenarios in {seconds}.{tenths} s (seed {}): {passed} passed, \
         {failed} failed, {errors} errors, {skipped} skipped",
        report.seed
    );
    if left_behind > 0 {
        let _ = writeln!(
            text,
            "{left_behind} scenarios could not delete all they made; look for {:?} in names",
            report.run_id
        );
    }
    if !report.filters.is_empty() {
        let _ = writeln!(text, "only a part was run: {}", report.filters.join(", "));
    }
    if let Some(problem) = &report.problem {
        let _ = writeln!(text, "{problem}");
    }
    let verdict = match report.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Partial => "partial: nothing failed, but not every core scenario ran",
        Verdict::Unfinished => "none: the run did not come to its end",
    };
    let _ = writeln!(text, "verdict: {verdict}");
}

/// Control characters of a reply could steer the reader's terminal.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            '\r' => {}
            _ if character.is_control() => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}
