//! The record as one page of HTML that needs nothing else: no script to read it,
//! nothing to be loaded. Whatever a target said is escaped by `maud`; a policy in
//! the page itself forbids what escaping alone could not.

mod details;
mod overview;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::plain::{escape_control_chars, seconds};
use super::{Outcome, Report, text};
use crate::target::Blocked;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/filter.js");

/// What the page may do: wear this style, run this script, nothing else. The
/// hashes are those of the two files.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
    style-src 'sha256-sUeAmqGivxOV5NiDE//zz/B1ap4gcaAK21T++2XYE9c='; script-src 'sha256-vpZTdVEOiAjzr+ZcxwqNiKwJDHAyFZneYAXyXVMDdGA='";

/// The whole report as one page.
pub fn render(report: &Report) -> String {
    let title = format!("{} · {}", report.verdict.word(), escape_control_chars(&report.target));
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
                    (overview::chapters(report))
                    (details::failures(report))
                    (details::known(report))
                    (details::skipped(report))
                    (details::all(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

fn head(report: &Report) -> Markup {
    let totals = report.totals;
    let counts = [
        (totals.passed, Outcome::Passed, "passed"),
        (totals.failed, Outcome::Failed, "failed"),
        (totals.errors, Outcome::Error, "errors"),
        (totals.skipped, Outcome::Skipped, "skipped"),
        (totals.known, Outcome::Known, "known"),
    ];
    html! {
        header {
            p.verdict.(report.verdict.word()) { (text::verdict(report)) }
            h1 { (escape_control_chars(&report.target)) }
            p.quiet {
                (report.suite) ", profile " (report.profile_words()) ", begun "
                time { (report.started_at) } ", took " (seconds(report.duration_ms))
                ", seed " (report.seed) ", run " (report.run_id)
            }
            @for note in report.problem.iter().chain(&report.notes) {
                p.note { (escape_control_chars(note)) }
            }
            @for Blocked { what, reason, remedy } in &report.blocked {
                p.note {
                    b { "Cannot test " (escape_control_chars(what)) } ": " (escape_control_chars(reason)) "; "
                    (escape_control_chars(remedy))
                }
            }
            @if !report.filters.is_empty() {
                p.note { "Only a part was run: " (report.filters.join(", ")) }
            }
            @if totals.left_behind > 0 {
                p.note {
                    (totals.left_behind) " scenarios could not delete all they made; look for "
                    code { (report.run_id) } " in names"
                }
            }
            ul.counts {
                @for (count, outcome, name) in counts {
                    @if count > 0 || matches!(outcome, Outcome::Passed | Outcome::Failed) {
                        li.(outcome.word()) { b { (count) } " " (name) }
                    }
                }
            }
            (command("The same run again", &report.command()))
        }
    }
}

/// A line for a shell, with what it is for.
fn command(name: &str, line: &str) -> Markup {
    html! { div.command { span.quiet { (name) } pre { code { (escape_control_chars(line)) } } } }
}

/// What stands for an outcome beside its word, for whoever sees no colours.
fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✓",
        Outcome::Failed => "✗",
        Outcome::Error => "!",
        Outcome::Skipped => "–",
        Outcome::Known => "~",
    }
}
