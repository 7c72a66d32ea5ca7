//! The record as one page of HTML that needs nothing else: no script to read it,
//! nothing to be loaded. Whatever a target said is escaped by `maud`; a policy in
//! the page itself forbids what escaping alone could not.

mod details;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{self, escape_control_chars, seconds};
use super::{Outcome, Report, Totals};

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
                    (overview(report))
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
            @for notice in text::notices(report) {
                p.note { (escape_control_chars(&notice)) }
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

/// How the chapters fared, as bars: what is bad at their beginning, where bars are compared.
fn overview(report: &Report) -> Markup {
    let chapters = report.chapters();
    let longest = chapters.iter().map(|chapter| chapter.records.len()).max().unwrap_or_default();
    html! {
        @if !chapters.is_empty() {
            section.overview {
                h2 { "Chapters" }
                table {
                    thead {
                        tr { th scope="col" { "Chapter" } th.wide scope="col" { } th scope="col" { "Passed" } }
                    }
                    tbody {
                        @for chapter in &chapters {
                            tr {
                                th scope="row" {
                                    a href={ "#chapter-" (chapter.name) } { (chapter.name) }
                                }
                                td.wide { (bar(chapter.totals(), longest)) }
                                td.number {
                                    (chapter.totals().passed) span.quiet { " of " (chapter.records.len()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A part of a bar that is not empty is at least this share of the longest bar.
const SHARE_MIN: usize = 100;

/// Drawn with attributes, as the page's policy forbids styles of single elements.
fn bar(totals: Totals, longest: usize) -> Markup {
    let Totals { passed, failed, errors, skipped, known, .. } = totals;
    let parts = [
        ("failed", failed),
        ("error", errors),
        ("known", known),
        ("skipped", skipped),
        ("passed", passed),
    ];
    let words: Vec<_> = parts.iter().filter(|(_, count)| *count > 0).collect();
    let label: Vec<_> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let mut at = 0;
    let placed: Vec<_> = words
        .into_iter()
        .map(|(word, count)| {
            let width = (count * SHARE_MIN).max(longest);
            at += width;
            (word, at - width, width)
        })
        .collect();
    let whole = at.max(longest * SHARE_MIN).max(1);
    html! {
        svg.bar viewBox={ "0 0 " (whole) " 1" } preserveAspectRatio="none" role="img" aria-label=(label.join(", ")) {
            title { (label.join(", ")) }
            @for (word, x, width) in placed {
                rect.(word) x=(x) y="0" width=(width) height="1" {}
            }
        }
    }
}
