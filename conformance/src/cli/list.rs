//! The commands that look at the suite itself and need no target.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use clap_complete::Shell;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{Exit, Refusal, print};
use crate::coverage::{ClauseLine, Line};
use crate::report::Outcome;
use crate::report::sentences::{State, sentences};
use crate::selection::Filters;
use crate::{Scenario, Selection, Suite, coverage, rules, trace};

#[derive(Args)]
pub(super) struct ListArguments {
    #[command(flatten)]
    pub(super) filters: Filters,
    /// As JSON.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn list(suite: &Suite, arguments: ListArguments) -> Result<Exit, Refusal> {
    arguments.show(suite, in_json, in_one_line, "")
}

/// What scenarios do, for a reader who does not know Rust.
pub(super) fn explain(suite: &Suite, arguments: ListArguments) -> Result<Exit, Refusal> {
    arguments.show(suite, steps_in_json, steps_in_lines, "\n")
}

impl ListArguments {
    /// Shows the selected scenarios as JSON, or as text with something between them.
    pub(super) fn show(
        self,
        suite: &Suite,
        in_json: fn(&Scenario) -> Value,
        in_text: fn(&Scenario) -> String,
        between: &str,
    ) -> Result<Exit, Refusal> {
        let scenarios = Selection::new(suite, self.filters)?.scenarios.into_iter();
        print(&match self.json {
            true => format!("{:#}\n", scenarios.map(in_json).collect::<Value>()),
            false => scenarios.map(in_text).collect::<Vec<_>>().join(between),
        })?;
        Ok(Exit::Passed)
    }
}

fn in_one_line(scenario: &Scenario) -> String {
    format!("{}: {}\n", heading(scenario), scenario.title)
}

fn steps_in_json(scenario: &Scenario) -> Value {
    let Scenario { id, title, rules, .. } = scenario;
    let steps = trace::recorded(id).unwrap_or_default();
    json!({ "id": id, "title": title, "rules": rules, "steps": steps })
}

fn steps_in_lines(scenario: &Scenario) -> String {
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
            for line in trace::lines(steps, 0) {
                let _ = writeln!(text, "{line}");
            }
        }
        None => text.push_str("  no transcript; `run --trace` shows its steps\n"),
    }
    text
}

pub(super) fn completions(mut command: clap::Command, shell: Shell) -> Result<Exit, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "promptarium-conformance", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Passed)
}

/// The manual page, with the flags of `run`.
pub(super) fn man(command: clap::Command) -> Result<Exit, Refusal> {
    let (run, mut page) = (command.find_subcommand("run").cloned().unwrap_or_default(), Vec::new());
    clap_mangen::Man::new(command)
        .render(&mut page)
        .and_then(|()| clap_mangen::Man::new(run).render_options_section(&mut page))
        .map_err(|error| format!("no manual page: {error}"))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Passed)
}

fn heading(Scenario { id, rules, .. }: &Scenario) -> String {
    format!("{id} ({})", rules.join(", "))
}

fn in_json(scenario: &Scenario) -> Value {
    let needs: Vec<_> = scenario.needs.iter().map(|need| need.missing()).collect();
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "rules": scenario.rules,
        "needs": needs,
        "source": scenario.source,
    })
}

/// Every clause of the specification with its rules and scenarios, or with the reason why there are
/// none; then the same by rule.
pub(super) fn coverage(as_json: bool) -> Result<Exit, Refusal> {
    let (clauses, matrix) = (coverage::clauses(), coverage::matrix());
    print(&match as_json {
        true => format!("{:#}\n", json!({ "clauses": clauses, "rules": matrix })),
        false => clause_table(&clauses) + &table(&matrix),
    })?;
    Ok(Exit::Passed)
}

pub(super) fn coverage_of_run(file: &Path, as_json: bool) -> Result<Exit, Refusal> {
    let wrong = |what: String| format!("cannot read the report {}: {what}", file.display());
    let report = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let report: Value =
        serde_json::from_slice(&report).map_err(|error| wrong(error.to_string()))?;
    let records = report["records"].as_array().ok_or_else(|| wrong("no records".to_owned()))?;
    let outcome = |record: &Value| {
        Some((record["id"].as_str()?.to_owned(), Outcome::deserialize(&record["outcome"]).ok()?))
    };
    let outcomes: Option<BTreeMap<_, _>> = records.iter().map(outcome).collect();
    let outcomes = outcomes.ok_or_else(|| wrong("a record without id or outcome".to_owned()))?;
    let sentences = sentences(|id| outcomes.get(id).copied());
    if as_json {
        print(&format!("{:#}\n", json!({ "sentences": sentences })))?;
        return Ok(Exit::Passed);
    }
    let mut text = String::new();
    for sentence in &sentences {
        let _ = write!(text, "{}{} {}", sentence.before, sentence.state.mark(), sentence.text);
        let bad = sentence.scenarios.iter().filter(|(_, it)| **it != Outcome::Passed);
        let bad: Vec<_> = bad.map(|(id, outcome)| format!("{id} {}", outcome.as_ref())).collect();
        if !bad.is_empty() {
            let _ = write!(text, " [{}]", bad.join(", "));
        }
    }
    let count = |state| sentences.iter().filter(|one| one.state == state).count();
    let [held, broken, untested] = [State::Held, State::Broken, State::Untested].map(count);
    let _ = writeln!(
        text,
        "\n{} sentences: {held} held, {broken} broken, {untested} not tested",
        sentences.len()
    );
    print(&text)?;
    Ok(Exit::Passed)
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
    }
    let reasons = clauses.iter().filter(|line| line.reason.is_some()).count();
    let proved = clauses.len() - reasons;
    let _ = writeln!(
        text,
        "{} clauses: {proved} with scenarios, {reasons} with a reason\n",
        clauses.len()
    );
    text
}

fn table(matrix: &[Line]) -> String {
    let mut text = String::new();
    for line in matrix {
        let _ = writeln!(text, "{} {}", line.rule, line.text);
        let _ = writeln!(text, "      scenarios: {}", cell(&line.scenarios, line.reason));
    }
    let count = |holds: fn(&Line) -> bool| matrix.iter().filter(|line| holds(line)).count();
    let _ = writeln!(
        text,
        "{} rules: {} with scenarios, {} with a reason for having none",
        matrix.len(),
        count(|line| !line.scenarios.is_empty()),
        count(|line| line.reason.is_some()),
    );
    text
}

fn cell(ids: &[&str], reason: Option<&str>) -> String {
    if ids.is_empty() {
        return format!("none: {}", reason.unwrap_or("and no reason is written"));
    }
    ids.join(", ")
}
