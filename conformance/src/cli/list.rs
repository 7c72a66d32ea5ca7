//! The commands that look at the suite itself and need no target.

use std::fmt::Write as _;

use promptarium_conformance::{Profile, Scenario, coverage, scenarios};
use serde_json::{Value, json};

use super::{Exit, tell, warn};

/// Every scenario, one a line, or as a JSON array.
pub(super) fn list(as_json: bool) -> Exit {
    let mut text = String::new();
    if as_json {
        let all: Value = scenarios::all().map(in_json).collect();
        let _ = writeln!(text, "{all:#}");
    } else {
        for scenario in scenarios::all() {
            let rules = scenario.rules.join(", ");
            let (id, title) = (scenario.id, scenario.title);
            let profile = if scenario.profile == Profile::Core { "core" } else { "reference" };
            let _ = writeln!(text, "{id} ({profile}; {rules}): {title}");
        }
    }
    tell(&text);
    Exit::Passed
}

fn in_json(scenario: &Scenario) -> Value {
    let needs: Vec<_> = scenario.needs.iter().map(|need| need.missing()).collect();
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "rules": scenario.rules,
        "profile": scenario.profile,
        "needs": needs,
    })
}

/// Every rule with its scenarios, or with the reason why there is none.
pub(super) fn coverage() -> Exit {
    let matrix = coverage::matrix();
    let mut text = String::new();
    for line in &matrix {
        let proof = if line.scenarios.is_empty() {
            format!("none: {}", line.reason.unwrap_or("and no reason is written"))
        } else {
            line.scenarios.join(", ")
        };
        let _ = writeln!(text, "{} {}\n      {proof}", line.rule, line.text);
    }
    let proved = matrix.iter().filter(|line| !line.scenarios.is_empty()).count();
    let excused = matrix.iter().filter(|line| line.reason.is_some()).count();
    let _ = writeln!(
        text,
        "{} rules: {proved} with scenarios, {excused} with a reason for having none",
        matrix.len()
    );
    tell(&text);
    let faults = coverage::drift();
    for fault in &faults {
        warn(fault);
    }
    if faults.is_empty() { Exit::Passed } else { Exit::Failed }
}
