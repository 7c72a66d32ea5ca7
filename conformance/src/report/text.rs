//! The record as text, for a person: what needs attention first, the verdict
//! last, where a terminal leaves the eye.

use std::fmt::Write as _;

use super::plain::{curl, escape_control_chars, seconds};
use super::{Outcome, ProfileVerdict, Record, Report, Totals, Verdict};
use crate::exchange::Exchange;
use crate::known::KnownFailure;
use crate::target::Blocked;

/// The whole report as text.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for shown in report.with(&[Outcome::Failed, Outcome::Error]) {
        let _ = writeln!(text, "{}", record(shown));
    }
    for shown in report.with(&[Outcome::Known, Outcome::Skipped]) {
        text.push_str(&record(shown));
    }
    for shown in report.with(&[Outcome::Passed]) {
        if let Some(left) = &shown.left_behind {
            let _ = writeln!(text, "left behind by {}: {left}", shown.id);
        }
    }
    summary(&mut text, report);
    escape_control_chars(&text)
}

/// One record, in as many lines as its outcome asks for.
pub fn record(record: &Record) -> String {
    let word = match record.outcome {
        Outcome::Failed => "FAILED",
        Outcome::Error => "ERROR",
        Outcome::Passed => "passed",
        Outcome::Skipped => {
            let reason = record.reason.as_deref().unwrap_or("without a reason");
            return escape_control_chars(&format!("skipped {}: {reason}\n", record.id));
        }
        Outcome::Known => {
            let known = record.known.as_ref().map(known).unwrap_or_default();
            return escape_control_chars(&format!("known {}: {known}\n", record.id));
        }
    };
    let mut text = format!("{word} {}\n", record.id);
    facts(&mut text, record);
    if let Some(exchange) = &record.exchange {
        push_exchange(&mut text, exchange);
    }
    if let Some(command) = &record.command {
        let _ = writeln!(text, "  alone: {command}");
    }
    let _ = writeln!(text, "  source: {}", record.source);
    escape_control_chars(&text)
}

/// What a failure is about: the fact, its rules with the sentences that they restate, what was
/// expected and what came, and the exchanges before the last one.
pub(super) fn facts(text: &mut String, record: &Record) {
    let _ = writeln!(text, "  {}", record.title);
    for rule in &record.rules {
        let _ = writeln!(text, "  {} {}", rule.id, rule.text);
        for sentence in rule.sentences {
            let _ = writeln!(text, "    > {sentence}");
        }
    }
    for (name, value) in [("expected", &record.expected), ("got", &record.got)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name:>8} {}", value.replace('\n', "\n           "));
        }
    }
    if let Some(entry) = &record.known {
        let _ = writeln!(text, "  known: {}", known(entry));
    }
    if let Some(left) = &record.left_behind {
        let _ = writeln!(text, "  left behind: {left}");
    }
    if !record.steps.is_empty() {
        let _ = writeln!(text, "  the exchanges before:");
    }
    for step in &record.steps {
        let _ = writeln!(text, "    {}", step.summary());
    }
}

/// What the list of known failures says, in one line.
pub(super) fn known(entry: &KnownFailure) -> String {
    let mut text = entry.reason.clone();
    if let Some(link) = &entry.link {
        let _ = write!(text, " ({link})");
    }
    if let Some(until) = entry.until {
        let over = if entry.expired { ", which is over" } else { "" };
        let _ = write!(text, "; until {until}{over}");
    }
    let _ = write!(text, "; {}", entry.place);
    text
}

fn push_exchange(text: &mut String, exchange: &Exchange) {
    if exchange.is_last() {
        let _ = writeln!(text, "  the last exchange of it:");
    }
    for line in exchange.request().lines() {
        let _ = writeln!(text, "  > {line}");
    }
    for line in exchange.response().lines() {
        let _ = writeln!(text, "  < {line}");
    }
    let _ = writeln!(text, "  again: {}", curl(exchange));
}

fn summary(text: &mut String, report: &Report) {
    let Totals { scenarios, left_behind, .. } = report.totals;
    let _ = writeln!(text, "{} on {}", report.suite, report.target);
    let (took, seed) = (seconds(report.duration_ms), report.seed);
    let _ =
        writeln!(text, "{scenarios} scenarios in {took} (seed {seed}): {}", counts(&report.totals));
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
    for Blocked { what, reason, remedy } in &report.blocked {
        let _ = writeln!(text, "cannot test {what}: {reason}; {remedy}");
    }
    for note in report.notes.iter().chain(&report.problem) {
        let _ = writeln!(text, "{note}");
    }
    if report.verdicts.len() > 1 {
        for ProfileVerdict { profile, verdict, totals } in &report.verdicts {
            let (profile, verdict, counts) = (profile.word(), verdict.word(), counts(totals));
            let _ = writeln!(text, "profile {profile}: {verdict} ({counts})");
        }
    }
    let _ = writeln!(text, "verdict: {}", verdict(report));
}

/// How many came to what; what nobody listed as known is not spoken of.
pub(super) fn counts(totals: &Totals) -> String {
    let Totals { passed, failed, errors, skipped, known, .. } = totals;
    let mut text = format!("{passed} passed, {failed} failed, {errors} errors, {skipped} skipped");
    if *known > 0 {
        let _ = write!(text, ", {known} known to fail");
    }
    text
}

/// The verdict and what it says.
pub(super) fn verdict(report: &Report) -> String {
    let known = report.totals.known;
    let text = match report.verdict {
        Verdict::Passed if known > 0 => "passed, but for failures that are known",
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Partial => "partial: nothing failed, but not every core scenario ran",
        Verdict::Unfinished => "none: the run did not come to its end",
    };
    text.to_owned()
}
