//! The record as one page of HTML that needs nothing else: no script to read it,
//! nothing to be loaded. Text of a target is escaped by `maud`; a policy in
//! the page itself forbids what escaping alone could not.

mod details;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::details::{cells, prose};
use super::plain::{escape_control_chars, seconds};
use super::sentences::{Sentence, State};
use super::{Outcome, Report, text};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/filter.js");

/// What the page may do: use this style and this script, by the hashes of the two files.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
    style-src 'sha256-gNGRylbZyMvd0a0Rmrq1yDz928MFzsbqZTT9FtsFcU8='; script-src 'sha256-vpZTdVEOiAjzr+ZcxwqNiKwJDHAyFZneYAXyXVMDdGA='";

pub fn render(report: &Report) -> String {
    let title = format!("{} · {}", report.verdict.as_ref(), escape_control_chars(&report.target));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Conformance " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (head(report))
                    (contents(report))
                    (details::causes(report))
                    (details::known(report))
                    (details::skipped(report))
                    (specification(report))
                    (details::all(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

fn head(report: &Report) -> Markup {
    html! {
        header {
            p.verdict.(report.verdict.as_ref()) { (text::verdict(report)) }
            h1 { (escape_control_chars(&report.target)) }
            p.quiet {
                (report.suite) ", begun "
                time { (report.started_at) } ", took " (seconds(report.duration_ms))
                ", seed " (report.seed) ", run " (report.run_id)
            }
            @for notice in text::notices(report) {
                p.note { (escape_control_chars(&notice)) }
            }
            ul.counts {
                @for (count, outcome, name) in report.totals.counts() {
                    @if count > 0 || outcome == Outcome::Passed {
                        li.(outcome.as_ref()) { b { (count) } " " (name) }
                    }
                }
            }
            (command("The same run again", &report.command()))
        }
    }
}

fn contents(report: &Report) -> Markup {
    let broken = report.sentences().iter().filter(|one| one.state == State::Broken).count();
    let sections = [
        ("causes", "Causes of failures", report.causes().len()),
        ("known", "Known failures", report.with(&[Outcome::Known]).count()),
        ("skipped", "Skipped", report.skips().len()),
        ("specification", "Broken sentences of the specification", broken),
        ("all", "All scenarios", report.records.len()),
    ];
    html! {
        nav {
            @for (id, name, count) in sections {
                @if count > 0 { a href={ "#" (id) } { (name) " (" (count) ")" } " " }
            }
        }
    }
}

/// The text of the specification, each sentence with what the run found of it.
fn specification(report: &Report) -> Markup {
    html! {
        section.specification {
            h2 { "The specification" }
            p.quiet {
                "Each sentence as this run found it: held (✓), broken (✗), or not tested (·), as no "
                "scenario of it was selected or some did not run."
            }
            @for found in report.sentences() {
                @for line in found.before.lines() { (between(line)) }
                (sentence(&found))
            }
        }
    }
}

/// A line that states nothing which a scenario could prove.
fn between(line: &str) -> Markup {
    let words = line.trim_matches(['#', ' ', '|', '-', ',', '.', ':']);
    let text = cells(line.trim_start_matches([',', '.', ' ']));
    html! {
        @if line.starts_with("## ") { h3 { (words) } }
        @else if line.starts_with('#') { h4 { (words) } }
        @else if words.chars().any(char::is_alphabetic) { p.quiet { (prose(&text)) } }
    }
}

fn sentence(found: &Sentence) -> Markup {
    let text = cells(found.text);
    html! {
        details.sentence.(found.state.as_ref()) id={ "sentence-" (found.id) } {
            summary {
                span.mark title=(found.state.as_ref()) { (found.state.mark()) } " " (prose(&text))
            }
            ul {
                @for (id, outcome) in &found.scenarios {
                    li { a href={ "#" (id) } { code { (id) } } " " span.quiet { (outcome.as_ref()) } }
                }
                @if found.scenarios.is_empty() { li.quiet { "no scenario of this run" } }
            }
        }
    }
}

fn command(name: &str, line: &str) -> Markup {
    html! { div.command { span.quiet { (name) } pre { code { (escape_control_chars(line)) } } } }
}

/// The sign of an outcome beside its word, for readers who see no colours.
fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✓",
        Outcome::Failed => "✗",
        Outcome::Blocked => "⊘",
        Outcome::Error => "!",
        Outcome::Skipped => "–",
        Outcome::Known => "~",
    }
}
