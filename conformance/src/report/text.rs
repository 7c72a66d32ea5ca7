//! The report as text, for a person: the causes of failures first, the verdict last, where a
//! terminal ends. And functions for the texts of the other formats.

use std::fmt::Write as _;

use super::causes::shortened;
use super::plain::{counted, curl, escape_control_chars, seconds};
use super::sentences::{Sentence, untested_sections};
use super::{Cause, Outcome, Record, Report, Totals, Verdict};
use crate::trace;

const CAUSES_SHOWN: usize = 5;
const OTHERS_SHOWN: usize = 3;

pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for (cause, n) in report.causes().iter().zip(1..) {
        let _ = writeln!(text, "[{n}] {}\n", cause.in_one_line());
        cause.records.iter().for_each(|shown| text += &format!("{}\n", record(shown)));
    }
    for shown in report.with(&[Outcome::Known, Outcome::Skipped]) {
        text.push_str(&record(shown));
    }
    for shown in report.with(&[Outcome::Passed]) {
        if !shown.steps.is_empty() {
            let _ = writeln!(text, "passed {}: {}", shown.id, shown.title);
            text += &trace::text(&shown.steps, 0);
        }
        if let Some(left) = &shown.left_behind {
            let _ = writeln!(text, "left behind by {}: {left}", shown.id);
        }
    }
    summary(&mut text, report, untestable(report));
    escape_control_chars(&text)
}

/// What fits a terminal: the largest causes with an example each, skips by their reason.
pub fn brief(report: &Report) -> String {
    let mut text = String::new();
    let causes = report.causes();
    for (cause, n) in causes.iter().zip(1..).take(CAUSES_SHOWN) {
        let _ = writeln!(text, "[{n}] {cause}");
        push_example(&mut text, cause);
        text.push('\n');
    }
    let (failed, others): (Vec<_>, Vec<_>) =
        causes.iter().zip(1..).skip(CAUSES_SHOWN).partition(|(one, _)| one.totals.failed > 0);
    text.extend(failed.iter().map(|(cause, n)| format!("[{n}] {}\n", cause.in_one_line())));
    text.extend(failed.first().map(|_| "\n"));
    if !others.is_empty() {
        let scenarios = others.iter().map(|(cause, _)| cause.records.len()).sum();
        let (more, of) = (counted(others.len(), "more cause"), counted(scenarios, "scenario"));
        let _ = writeln!(text, "and {more} with {of}; --verbose shows all\n");
    }
    let skips = report.skips();
    let is_new = |line: &String| !skips.iter().any(|(reason, _)| line.ends_with(reason));
    let mut lines: Vec<_> = untestable(report).into_iter().filter(is_new).collect();
    lines.extend(skips.iter().map(|(why, skipped)| format!("{} skipped: {why}", skipped.len())));
    summary(&mut text, report, lines);
    escape_control_chars(&text)
}

fn push_example(text: &mut String, cause: &Cause<'_>) {
    let [expected, got] = [cause.expected, cause.got].map(shortened);
    let _ = writeln!(text, "  expected {expected}\n       got {got}");
    let Some(record) = cause.records.first() else { return };
    let outcome = record.outcome.as_ref().to_uppercase();
    let _ = writeln!(text, "  {outcome} {}: {}", record.id, record.title);
    let sentence = record.rules.iter().flat_map(|rule| rule.sentences).next();
    if let Some(sentence) = sentence.filter(|_| record.outcome != Outcome::Blocked) {
        let _ = writeln!(text, "    > {}", shortened(sentence));
    }
    if let Some(exchange) = &record.exchange {
        for (sign, shown) in [('>', &exchange.request), ('<', &exchange.response)] {
            let (head, body) = shown.split_once("\n\n").unwrap_or((shown, ""));
            let lines = [head.lines().next().unwrap_or_default(), body].into_iter();
            let lines = lines.filter(|line| !line.is_empty());
            text.extend(lines.map(|line| format!("  {sign} {}\n", shortened(line))));
        }
    }
    push_commands(text, record);
    text.extend(cause.others(OTHERS_SHOWN).map(|others| format!("  also: {others}\n")));
}

/// The text with colours: what is bad in red, what was not tested in yellow, what passed in green.
pub fn coloured(text: &str) -> String {
    let line = |line: &str| {
        let word = line.trim_start().split(' ').next().unwrap_or_default();
        let colour = match (word, line.strip_prefix("verdict: ")) {
            (_, Some(verdict)) if verdict.starts_with("passed") => "1;32",
            (_, Some(verdict)) if verdict.starts_with("failed") => "1;31",
            (_, Some(_)) | ("next:", _) => "1;33",
            ("FAILED" | "ERROR" | "got", _) => "31",
            ("BLOCKED" | "skipped" | "known", _) => "33",
            ("expected", _) => "32",
            (">" | "<" | "again:" | "alone:" | "also:" | "source:", _) => "2",
            _ if line.contains(" skipped: ") => "33",
            (number, _) if number.starts_with('[') => "1",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{colour}m{line}\x1b[0m\n")
    };
    text.lines().map(line).collect()
}

pub fn record(record: &Record) -> String {
    if matches!(record.outcome, Outcome::Skipped | Outcome::Known) {
        let (word, id) = (record.outcome.as_ref(), record.id);
        return escape_control_chars(&format!("{word} {id}: {}\n", record.why()));
    }
    let mut text = format!("{} {}\n", record.outcome.as_ref().to_uppercase(), record.id);
    push_facts(&mut text, record);
    if let Some(exchange) = &record.exchange {
        if exchange.last {
            text.push_str("  its last exchange:\n");
        }
        for (sign, shown) in [('>', &exchange.request), ('<', &exchange.response)] {
            text.extend(shown.lines().map(|line| format!("  {sign} {line}\n")));
        }
    }
    push_commands(&mut text, record);
    let _ = writeln!(text, "  source: {}", record.source);
    escape_control_chars(&text)
}

/// The fact that a scenario tests, its rules with the sentences that they restate, the expected
/// and the received value, and the steps.
fn push_facts(text: &mut String, record: &Record) {
    let _ = writeln!(text, "  {}", record.title);
    for rule in &record.rules {
        let _ = writeln!(text, "  {} {}", rule.id, rule.text);
        text.extend(rule.sentences.iter().map(|sentence| format!("    > {sentence}\n")));
    }
    for (name, value) in record.facts() {
        let name = match name {
            "expected" | "got" => format!("{name:>8}"),
            _ => format!("{name}:"),
        };
        let _ = writeln!(text, "  {name} {}", value.replace('\n', "\n           "));
    }
    if !record.steps.is_empty() {
        text.push_str("  its steps:\n");
    }
    text.extend(trace::last_lines(&record.steps).iter().map(|line| format!("  {line}\n")));
}

fn push_commands(text: &mut String, record: &Record) {
    let again = record.exchange.as_ref().and_then(curl);
    text.extend(again.map(|line| format!("  again: {line}\n")));
    text.extend(record.command.iter().map(|line| format!("  alone: {line}\n")));
}

fn summary(text: &mut String, report: &Report, not_tested: Vec<String>) {
    let _ = writeln!(text, "{} on {}", report.suite, report.target);
    let (took, seed, totals) = (seconds(report.duration_ms), report.seed, &report.totals);
    let scenarios = counted(totals.scenarios, "scenario");
    let _ = writeln!(text, "{scenarios} in {took} (seed {seed}): {}", counts(totals));
    text.extend(not_tested.into_iter().chain(notes(report)).map(|notice| notice + "\n"));
    let _ = writeln!(text, "verdict: {}", verdict(report));
}

/// What every format says of the whole run beside its verdict, each in one line.
pub(super) fn notices(report: &Report) -> Vec<String> {
    [untestable(report), notes(report)].concat()
}

fn untestable(report: &Report) -> Vec<String> {
    report.untestable.iter().map(|one| format!("cannot test {one}")).collect()
}

fn notes(report: &Report) -> Vec<String> {
    let mut notices: Vec<_> = report.next_step().into_iter().collect();
    if report.totals.left_behind > 0 {
        let (count, run_id) = (report.totals.left_behind, &report.run_id);
        let left = "scenarios could not delete all they made; look for";
        notices.push(format!("{count} {left} \"{run_id}\" in names"));
    }
    let filters = report.filters.join(", ");
    notices.extend(report.filters.first().map(|_| format!("only a part was run: {filters}")));
    notices.extend(report.notes.iter().chain(&report.problem).cloned());
    notices
}

/// How many scenarios have each outcome; known failures only if there are any.
pub(super) fn counts(totals: &Totals) -> String {
    let is_shown = |(count, outcome, _): &_| *count > 0 || *outcome != Outcome::Known;
    let shown = totals.counts().into_iter().filter(is_shown);
    shown.map(|(count, _, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The verdict and what it says; after a run that skipped scenarios, also which sections of the
/// specification it has not tested.
pub(super) fn verdict(report: &Report) -> String {
    let verdict = match report.verdict {
        Verdict::Passed if report.totals.known > 0 => "passed, but for failures that are known",
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Partial => "partial: nothing failed, but not every core scenario ran",
        Verdict::Unfinished => "none: the run stopped before its end",
    };
    let sentences = if report.totals.skipped > 0 { report.sentences() } else { Vec::new() };
    let sections = untested_sections(&sentences);
    let is_skipped = |sentence: &&Sentence| {
        !sections.contains(&sentence.section)
            && sentence.scenarios.values().any(|outcome| *outcome == Outcome::Skipped)
    };
    let others = sentences.iter().filter(is_skipped).count();
    let others = (others > 0).then(|| format!("a part of {}", counted(others, "sentence")));
    let sections = sections.into_iter().map(|section| format!("“{section}”"));
    match sections.chain(others).collect::<Vec<_>>() {
        untested if untested.is_empty() => verdict.to_owned(),
        untested => format!("{verdict}; not tested: {}", untested.join(", ")),
    }
}
