//! The command `explain`: what scenarios do, for a reader who does not know Rust.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::list::{ListArguments, heading};
use super::{Exit, Refusal};
use crate::{Scenario, Suite, rules, trace};

pub(super) fn explain(suite: &Suite, arguments: ListArguments) -> Result<Exit, Refusal> {
    arguments.tell(suite, in_json, in_lines, "\n")
}

fn in_json(scenario: &Scenario) -> Value {
    let Scenario { id, title, profile, rules, silent, .. } = scenario;
    let steps = trace::recorded(id).unwrap_or_default();
    json!({
        "id": id, "title": title, "profile": profile, "rules": rules, "silent": silent,
        "steps": steps,
    })
}

fn in_lines(scenario: &Scenario) -> String {
    let Scenario { id, title, rules, needs, .. } = scenario;
    let mut text = format!("{}\n{title}\n", heading(scenario));
    let sentences = rules.iter().filter_map(|rule| rules::find(rule));
    let mut sentences: Vec<_> = sentences.flat_map(|rule| rule.sentences).collect();
    sentences.dedup();
    for sentence in sentences {
        let _ = writeln!(text, "  > {sentence}");
    }
    for need in *needs {
        let _ = writeln!(text, "  skipped: {}", need.missing());
    }
    match trace::recorded(id) {
        Some(steps) => {
            for line in trace::lines(steps) {
                let _ = writeln!(text, "{line}");
            }
        }
        None => text.push_str("  no transcript; `run --trace` shows its steps\n"),
    }
    text
}
