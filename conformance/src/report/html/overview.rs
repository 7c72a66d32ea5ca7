//! How the chapters fared, as bars: what is bad at their beginning, where bars
//! are compared.

use maud::{Markup, html};

use super::super::{Report, Totals};

/// A part of a bar that is not empty is at least this share of the longest bar.
const SHARE_MIN: usize = 100;

pub(super) fn chapters(report: &Report) -> Markup {
    let chapters = report.chapters();
    let longest = chapters.iter().map(|chapter| chapter.totals.scenarios).max().unwrap_or_default();
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
                                td.wide { (bar(chapter.totals, longest)) }
                                td.number {
                                    (chapter.totals.passed) span.quiet { " of " (chapter.totals.scenarios) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

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
