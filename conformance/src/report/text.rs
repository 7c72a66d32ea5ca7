//! The report as text, for a person: what needs attention first, the verdict last, where a terminal
//! leaves the eye. And what the other formats need of text.

use std::fmt::Write as _;

use super::{Outcome, ProfileVerdict, Record, Report, Totals, Verdict};
use crate::exchange::Exchange;

/// A longer shell line helps no reader; JSON has the whole.
const CURL_SHOWN: usize = 4000;

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
        Outcome::Skipped | Outcome::Known => {
            let (word, id) = (record.outcome.word(), record.id);
            return escape_control_chars(&format!("{word} {id}: {}\n", record.why()));
        }
    };
    let mut text = format!("{word} {}\n", record.id);
    push_facts(&mut text, record);
    if let Some(exchange) = &record.exchange {
        if exchange.last {
            text.push_str("  the last exchange of it:\n");
        }
        for (sign, shown) in [('>', &exchange.request), ('<', &exchange.response)] {
            for line in shown.lines() {
                let _ = writeln!(text, "  {sign} {line}");
            }
        }
    }
    push_commands(&mut text, record);
    let _ = writeln!(text, "  source: {}", record.source);
    escape_control_chars(&text)
}

/// What a failure is about: the fact, its rules with the sentences that they restate, what was
/// expected and what came, and the exchanges before the last one.
pub(super) fn push_facts(text: &mut String, record: &Record) {
    let _ = writeln!(text, "  {}", record.title);
    for rule in &record.rules {
        let _ = writeln!(text, "  {} {}", rule.id, rule.text);
        for sentence in rule.sentences {
            let _ = writeln!(text, "    > {sentence}");
        }
    }
    for (name, value) in record.facts() {
        let name = match name {
            "expected" | "got" => format!("{name:>8}"),
            _ => format!("{name}:"),
        };
        let _ = writeln!(text, "  {name} {}", value.replace('\n', "\n           "));
    }
    if !record.steps.is_empty() {
        text.push_str("  the exchanges before:\n");
    }
    for step in &record.steps {
        let _ = writeln!(text, "    {}", step.summary());
    }
}

/// How to see a failure again.
pub(super) fn push_commands(text: &mut String, record: &Record) {
    if let Some(exchange) = &record.exchange {
        let _ = writeln!(text, "  again: {}", curl(exchange));
    }
    if let Some(command) = &record.command {
        let _ = writeln!(text, "  alone: {command}");
    }
}

fn summary(text: &mut String, report: &Report) {
    let _ = writeln!(text, "{} on {}", report.suite, report.target);
    let (took, seed, totals) = (seconds(report.duration_ms), report.seed, &report.totals);
    let scenarios = totals.scenarios;
    let _ = writeln!(text, "{scenarios} scenarios in {took} (seed {seed}): {}", counts(totals));
    for notice in notices(report) {
        let _ = writeln!(text, "{notice}");
    }
    if report.verdicts.len() > 1 {
        for ProfileVerdict { profile, verdict, totals } in &report.verdicts {
            let (profile, verdict, counts) = (profile.word(), verdict.word(), counts(totals));
            let _ = writeln!(text, "profile {profile}: {verdict} ({counts})");
        }
    }
    let _ = writeln!(text, "verdict: {}", verdict(report));
}

/// What every format says of the whole run beside its verdict, each in one line.
pub(super) fn notices(report: &Report) -> Vec<String> {
    let mut notices = Vec::new();
    if report.totals.left_behind > 0 {
        let (count, run_id) = (report.totals.left_behind, &report.run_id);
        let left = "scenarios could not delete all they made; look for";
        notices.push(format!("{count} {left} {run_id:?} in names"));
    }
    if !report.filters.is_empty() {
        notices.push(format!("only a part was run: {}", report.filters.join(", ")));
    }
    notices.extend(report.blocked.iter().map(|blocked| format!("cannot test {blocked}")));
    notices.extend(report.notes.iter().chain(&report.problem).cloned());
    notices
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
pub(super) fn verdict(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Passed if report.totals.known > 0 => "passed, but for failures that are known",
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Partial => "partial: nothing failed, but not every core scenario ran",
        Verdict::Unfinished => "none: the run did not come to its end",
    }
}

/// Control characters could steer the reader's terminal and are forbidden in XML; marks of
/// direction could change the order of what is read.
pub(super) fn escape_control_chars(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            '\r' => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// On one line.
pub(super) fn one_line(text: &str) -> String {
    escape_control_chars(&text.lines().collect::<Vec<_>>().join(" "))
}

/// The shell line of an exchange, or what stands for one that is too long to read.
pub(super) fn curl(exchange: &Exchange) -> String {
    match exchange.curl.len() {
        ..=CURL_SHOWN => escape_control_chars(&exchange.curl),
        length => format!("a line of {length} bytes; see the JSON report"),
    }
}

/// A time as a person reads it.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// `[text](address)` as its text: the addresses are those of the page of rules.
pub(super) fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (word, address) = (before.rsplit_once('['), after.split_once(')'));
        let (Some((before, word)), Some((_, after))) = (word, address) else { break };
        shown.push_str(before);
        shown.push_str(word);
        rest = after;
    }
    shown + rest
}
