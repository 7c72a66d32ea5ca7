//! The text of the specification, each sentence with what the run found of it.

use maud::{Markup, html};

use super::super::Report;
use super::super::sentences::Sentence;
use super::details::{cells, prose};

pub(super) fn specification(report: &Report) -> Markup {
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
