//! The commands that look at the suite itself and need no target.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::{Exit, Refusal, tell};
use crate::coverage::{ClauseLine, Line};
use crate::selection::Filters;
use crate::{Scenario, Selection, Suite, coverage};

#[derive(Args)]
pub(super) struct ListArguments {
    #[command(flatten)]
    filters: Filters,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// The selected scenarios, one a line or as a JSON array.
pub(super) fn list(suite: &Suite, arguments: ListArguments) -> Result<Exit, Refusal> {
    let filters = arguments.filters.or_all_profiles();
    let selected = Selection::new(suite, filters).map_err(|line| Refusal(Exit::Usage, line))?;
    let scenarios = selected.scenarios.into_iter();
    tell(&match arguments.json {
        true => format!("{:#}\n", scenarios.map(in_json).collect::<Value>()),
        false => scenarios.map(in_one_line).collect(),
    });
    Ok(Exit::Passed)
}

fn in_one_line(Scenario { id, title, profile, rules, .. }: &Scenario) -> String {
    format!("{id} ({}; {}): {title}\n", profile.word(), rules.join(", "))
}

fn in_json(scenario: &Scenario) -> Value {
    let needs: Vec<_> = scenario.needs.iter().map(|need| need.missing()).collect();
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "rules": scenario.rules,
        "profile": scenario.profile,
        "needs": needs,
        "source": scenario.source,
    })
}

/// Every clause of the specification with its rules, scenarios and the deliberate faults that
/// they were seen to catch, or with the reason why there are none; then the same by rule.
pub(super) fn coverage(as_json: bool) -> Exit {
    let (clauses, matrix) = (coverage::clauses(), coverage::matrix());
    tell(&match as_json {
        true => format!("{:#}\n", json!({ "clauses": clauses, "rules": matrix })),
        false => clause_table(&clauses) + &table(&matrix),
    });
    Exit::Passed
}

fn clause_table(clauses: &[ClauseLine]) -> String {
    let (mut text, mut before) = (String::new(), "");
    for line in clauses {
        if line.quote != before {
            let _ = writeln!(text, "{}\n  > {}", line.quote, line.text);
            before = line.quote;
        }
        let _ = writeln!(text, "  {} ({})", line.says, line.rules.join(", "));
        let _ = writeln!(text, "      scenarios: {}", cell(&line.scenarios, line.reason));
        let _ = writeln!(text, "      faults: {}", cell(&line.faults, line.reason));
    }
    let reasons = clauses.iter().filter(|line| line.reason.is_some()).count();
    let proved = clauses.len() - reasons;
    let _ = writeln!(
        text,
        "{} clauses: {proved} with scenarios of the core and faults, {reasons} with a reason\n",
        clauses.len()
    );
    text
}

fn table(matrix: &[Line]) -> String {
    let mut text = String::new();
    for line in matrix {
        let _ = writeln!(text, "{} {}", line.rule, line.text);
        let _ = writeln!(text, "      scenarios: {}", cell(&line.scenarios, line.reason));
        let _ = writeln!(text, "      faults: {}", cell(&line.faults, line.unproved.as_deref()));
    }
    let count = |holds: fn(&Line) -> bool| matrix.iter().filter(|line| holds(line)).count();
    let _ = writeln!(
        text,
        "{} rules: {} with scenarios, {} with a reason for having none; {} with faults that are \
         caught, {} with a reason for having none; {} faults",
        matrix.len(),
        count(|line| !line.scenarios.is_empty()),
        count(|line| line.reason.is_some()),
        count(|line| !line.faults.is_empty()),
        count(|line| line.unproved.is_some()),
        coverage::proof::faults().len(),
    );
    text
}

fn cell(ids: &[&str], reason: Option<&str>) -> String {
    if ids.is_empty() {
        return format!("none: {}", reason.unwrap_or("and no reason is written"));
    }
    ids.join(", ")
}
