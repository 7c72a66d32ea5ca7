//! The records themselves: failures open and first, the rest folded.

use maud::{Markup, html};

use super::super::plain::{curl, escape_control_chars, seconds, without_links};
use super::super::text::counts;
use super::super::{Outcome, Record, Report, Totals};
use super::{command, mark};

/// A section with its heading; nothing if there is nothing to show in it.
fn section<T>(id: &str, title: &str, shown: &[T], each: impl Fn(&T) -> Markup) -> Markup {
    html! {
        @if !shown.is_empty() {
            section id=(id) {
                h2 { (title) }
                @for one in shown { (each(one)) }
            }
        }
    }
}

/// One example of each cause open, the other scenarios folded.
pub(super) fn causes(report: &Report) -> Markup {
    section("causes", "Causes of failures", &report.causes(), |cause| {
        html! {
            h3 { (escape_control_chars(&cause.to_string())) }
            @if let Some((example, others)) = cause.records.split_first() {
                (failure(example))
                @if !others.is_empty() {
                    details {
                        summary { (others.len()) " more" }
                        @for record in others { (folded(record)) }
                    }
                }
            }
        }
    })
}

fn folded(record: &Record) -> Markup {
    html! {
        details {
            summary { code { (record.id) } " " span.quiet { (record.title) } }
            (failure(record))
        }
    }
}

pub(super) fn known(report: &Report) -> Markup {
    let known: Vec<_> = report.with(&[Outcome::Known]).collect();
    section("known", "Known failures", &known, |record| folded(record))
}

/// By reason, since one missing key skips many.
pub(super) fn skipped(report: &Report) -> Markup {
    section("skipped", "Skipped", &report.skips(), |(reason, records)| {
        html! {
            details {
                summary { (escape_control_chars(reason)) " " span.quiet { (records.len()) } }
                ul.rows { @for record in records { (row(record)) } }
            }
        }
    })
}

pub(super) fn all(report: &Report) -> Markup {
    html! {
        section.all id="all" {
            h2 { "All scenarios" }
            p.filter hidden {
                label { "Filter " input type="search" placeholder="id, title, rule or outcome"; }
            }
            @for (chapter, records) in report.chapters() {
                @let totals = Totals::of(records.iter().copied());
                details {
                    summary {
                        (chapter) " "
                        span.quiet { (counts(&totals)) ", in " (seconds(totals.duration_ms)) }
                    }
                    ul.rows { @for record in records { (row(record)) } }
                }
            }
        }
    }
}

fn row(record: &Record) -> Markup {
    let rules: Vec<_> = record.rules.iter().map(|rule| rule.id).collect();
    html! {
        li.(record.outcome.as_ref()) id=[(!record.outcome.is_bad()).then_some(record.id)] {
            span.mark title=(record.outcome.as_ref()) { (mark(record.outcome)) }
            div {
                @if record.outcome.is_bad() {
                    a href={ "#" (record.id) } { code { (record.id) } }
                } @else {
                    code { (record.id) }
                }
                " " span { (record.title) }
                " " span.quiet {
                    (record.outcome.as_ref()) " · " (rules.join(", ")) " · " (record.duration_ms) " ms"
                }
                @if let Some(left) = &record.left_behind {
                    p.note { "Left behind: " (escape_control_chars(left)) }
                }
            }
        }
    }
}

fn failure(record: &Record) -> Markup {
    html! {
        article.(record.outcome.as_ref()) id=(record.id) {
            h3 {
                span.mark { (mark(record.outcome)) } " " code { (record.id) } " "
                span.word { (record.outcome.as_ref()) }
            }
            p { (record.title) }
            @for rule in &record.rules {
                p.rule { b { (rule.id) } " " (prose(rule.text)) }
                @for sentence in rule.sentences { blockquote { (prose(&cells(sentence))) } }
            }
            dl {
                @for (name, value) in record.facts() {
                    dt { (name) } dd.(name.replace(' ', "-")) { (escape_control_chars(&value)) }
                }
                @if let Some(link) = record.known.as_ref().and_then(|known| known.link.as_ref()) {
                    dt { "link" } dd { a href=(link) rel="noopener noreferrer" { (escape_control_chars(link)) } }
                }
            }
            (steps(record))
            @if let Some(exchange) = &record.exchange {
                div.exchange {
                    @let last = ["The last request", "The last reply"];
                    @let names = if exchange.last { last } else { ["Request", "Response"] };
                    @for (name, shown) in names.into_iter().zip([&exchange.request, &exchange.response]) {
                        div {
                            span.quiet { (name) }
                            pre tabindex="0" { code { (escape_control_chars(shown)) } }
                        }
                    }
                }
                @if let Some(line) = curl(exchange) { (command("The request again", &line)) }
            }
            @if let Some(line) = &record.command { (command("The scenario alone", line)) }
        }
    }
}

/// What a scenario did, each step with its answer and what was checked of it.
fn steps(record: &Record) -> Markup {
    html! {
        @if !record.steps.is_empty() {
            details {
                summary { "Its steps" }
                ol.steps {
                    @for step in &record.steps {
                        li {
                            code { (escape_control_chars(&step.summary())) }
                            @for check in &step.checks { p { "✓ " (escape_control_chars(check)) } }
                            @for check in &step.failed { p { "✗ " (escape_control_chars(check)) } }
                            @if let Some(answer) = &step.answer {
                                pre tabindex="0" { code { (escape_control_chars(answer)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The Markdown of a rule: code between backticks, and links as their words.
pub(super) fn prose(text: &str) -> Markup {
    let text = without_links(text);
    html! {
        @for (n, part) in text.split('`').enumerate() {
            @if n % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The cells of a table row, or a line of text, without its Markdown.
pub(super) fn cells(line: &str) -> String {
    line.trim_matches(['|', ' ']).replace(" | ", " · ").replace("**", "")
}
