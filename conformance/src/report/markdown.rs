//! The record as short Markdown, for the summary of a CI run.
//! Text of a target is in blocks of code, where it is not markup.

use std::fmt::Write as _;

use super::plain::{counted, escape_control_chars, one_line, seconds};
use super::text;
use super::{Outcome, Record, Report, Totals, Verdict};

/// GitHub refuses a summary of more than 1 MiB, and the step with it.
const BYTES_MAX: usize = 900 << 10;
/// How many scenarios are named in one list; the others are counted.
const LISTED: usize = 100;

/// The whole report, or as many causes of failures as have room.
pub fn render(report: &Report) -> String {
    let mut page = head(report);
    let tail = table(report) + &tail(report);
    causes(&mut page, report, BYTES_MAX.saturating_sub(tail.len()));
    page.push_str(&tail);
    page
}

fn head(report: &Report) -> String {
    let mark = match report.verdict {
        Verdict::Passed => "✅",
        Verdict::Failed => "❌",
        Verdict::Partial | Verdict::Unfinished => "⚠️",
    };
    let mut page = format!("## {mark} Conformance: {}\n\n", text::verdict(report));
    let (took, counts) = (seconds(report.duration_ms), text::counts(&report.totals));
    let scenarios = counted(report.totals.scenarios, "scenario");
    let _ = writeln!(page, "{scenarios} in {took}: {counts}.\n");
    let _ = writeln!(page, "On {}, seed {}.", code(&report.target), report.seed);
    page.extend(text::notices(report).iter().map(|notice| format!("\n> {}\n", escaped(notice))));
    page
}

fn table(report: &Report) -> String {
    let chapters = report.chapters();
    if chapters.is_empty() {
        return String::new();
    }
    let mut page = "\n| Chapter | Passed | Failed | Blocked | Errors | Skipped | Known |\n\
        |---|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for (name, records) in chapters {
        let bad = if records.iter().any(|record| record.outcome.is_bad()) { "**" } else { "" };
        let counts = Totals::of(records).counts().map(|(count, ..)| count.to_string());
        let _ = writeln!(page, "| {bad}{}{bad} | {} |", escaped(name), counts.join(" | "));
    }
    page
}

/// Each cause with one example, as a whole or not at all, while `bytes_max` is not reached.
fn causes(page: &mut String, report: &Report, bytes_max: usize) {
    let mut left_out = 0;
    for (cause, n) in report.causes().iter().zip(1..) {
        page.push_str(if n == 1 { "\n### Causes of failures\n" } else { "" });
        let example = cause.records.first().map(|record| failure(record)).unwrap_or_default();
        let mut shown = format!("\n{n}. {}\n{example}", escaped(&cause.to_string()));
        let others = cause.others(LISTED);
        shown.extend(others.map(|others| format!("\nAlso: {}\n", escaped(&others))));
        if left_out == 0 && page.len() + shown.len() < bytes_max {
            page.push_str(&shown);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ = writeln!(page, "\n{left_out} more causes have no room here; see the HTML report.");
    }
}

fn failure(record: &Record) -> String {
    let (id, title) = (escaped(record.id), escaped(record.title));
    format!("\n#### {id}\n\n{title}\n\n{}", block("text", &text::record(record)))
}

fn tail(report: &Report) -> String {
    let mut page = String::new();
    let known = report.with(&[Outcome::Known]).map(|it| format!("{}: {}", it.id, it.why()));
    let skips = report.skips().into_iter();
    let skips = skips.map(|(reason, skipped)| format!("{} skipped: {reason}", skipped.len()));
    for (name, lines) in
        [("Known failures", known.collect()), ("Skipped", skips.collect::<Vec<_>>())]
    {
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n<details><summary>{name}</summary>\n");
        page.extend(lines.iter().take(LISTED).map(|line| format!("- {}\n", escaped(line))));
        if lines.len() > LISTED {
            let _ = writeln!(page, "- and {} more", lines.len() - LISTED);
        }
        page.push_str("\n</details>\n");
    }
    page + &format!("\nThe same run again:\n\n{}", block("sh", &report.command()))
}

/// A block whose fence is longer than any row of backticks in it.
fn block(language: &str, text: &str) -> String {
    let text = escape_control_chars(text);
    let fence = "`".repeat(longest_row(&text).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

fn code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let fence = "`".repeat(longest_row(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn longest_row(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}

/// Plain words, none of which is markup, a mention or a reference.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '@' | '#' => shown += &format!("&#{};", u32::from(character)),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => shown.extend(['\\', character]),
            _ => shown.push(character),
        }
    }
    shown
}
