//! The commands that look at the suite itself and need no target.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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
    let in_one_line = |one: &Scenario| format!("{}: {}\n", heading(one), one.title);
    arguments.show(suite, in_json, in_one_line, "")
}

#[derive(Args)]
pub(super) struct ExplainArguments {
    #[command(flatten)]
    list: ListArguments,
    /// The transcripts, a file of the release; without it the `scenarios.json` beside the program.
    #[arg(long, value_name = "FILE")]
    transcripts: Option<PathBuf>,
}

/// The steps of each scenario.
type Transcripts = BTreeMap<String, Vec<trace::Step>>;

/// What scenarios do, for a reader who does not know Rust.
pub(super) fn explain(suite: &Suite, arguments: ExplainArguments) -> Result<Exit, Refusal> {
    let recorded = recorded(arguments.transcripts)?;
    let in_json = |Scenario { id, title, rules, .. }: &Scenario| {
        let steps = recorded.get(*id);
        json!({ "id": id, "title": title, "rules": rules, "steps": steps })
    };
    arguments.list.show(suite, in_json, |one| steps_in_lines(one, &recorded), "\n")
}

fn recorded(given: Option<PathBuf>) -> Result<Transcripts, String> {
    let beside = || {
        let folder = std::env::current_exe().ok()?.parent()?.to_owned();
        let places = ["scenarios.json", "../share/promptarium-conformance/scenarios.json"];
        places.into_iter().map(|place| folder.join(place)).find(|file| file.exists())
    };
    let Some(file) = given.or_else(beside) else { return Ok(Transcripts::new()) };
    let mut text = read_json("the transcripts", &file)?;
    let scenarios = text["scenarios"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let steps = |mut one: Value| serde_json::from_value(one["steps"].take()).unwrap_or_default();
    let scenario = |one: Value| Some((one["id"].as_str()?.to_owned(), steps(one)));
    Ok(scenarios.into_iter().filter_map(scenario).collect())
}

/// The content of a file. The error is one line that names it.
fn read_json(what: &str, file: &Path) -> Result<Value, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string());
    let json =
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    json.map_err(|error| format!("cannot read {what} {}: {error}", file.display()))
}

fn show(text: &str) -> Result<Exit, Refusal> {
    print(text)?;
    Ok(Exit::Passed)
}

impl ListArguments {
    /// Shows the selected scenarios as JSON, or as text with something between them.
    pub(super) fn show(
        self,
        suite: &Suite,
        in_json: impl Fn(&Scenario) -> Value,
        in_text: impl Fn(&Scenario) -> String,
        between: &str,
    ) -> Result<Exit, Refusal> {
        let scenarios = Selection::new(suite, self.filters)?.scenarios.into_iter();
        show(&match self.json {
            true => format!("{:#}\n", scenarios.map(&in_json).collect::<Value>()),
            false => scenarios.map(&in_text).collect::<Vec<_>>().join(between),
        })
    }
}

fn steps_in_lines(scenario: &Scenario, recorded: &Transcripts) -> String {
    let Scenario { id, title, rules, needs, .. } = scenario;
    let mut text = format!("{}\n{title}\n", heading(scenario));
    let sentences = rules.iter().filter_map(|rule| rules::find(rule));
    let mut sentences: Vec<_> = sentences.flat_map(|rule| rule.sentences).collect();
    sentences.dedup();
    text.extend(sentences.iter().map(|sentence| format!("  > {sentence}\n")));
    text.extend(needs.iter().map(|need| format!("  skipped: {}\n", need.missing())));
    match recorded.get(*id) {
        Some(steps) => text += &trace::text(steps, 0),
        None => {
            text.extend(trace::calls(id).iter().map(|call| format!("  looks at {call}\n")));
            text +=
                "  its steps: --transcripts with the scenarios.json of a release, or run --trace\n";
        }
    }
    text
}

pub(super) fn completions(mut command: clap::Command, shell: Shell) -> Result<Exit, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "promptarium-conformance", &mut script);
    show(&String::from_utf8_lossy(&script))
}

/// The manual page, with the flags of `run`.
pub(super) fn man(command: clap::Command) -> Result<Exit, Refusal> {
    let (run, mut page) = (command.find_subcommand("run").cloned().unwrap_or_default(), Vec::new());
    clap_mangen::Man::new(command)
        .render(&mut page)
        .and_then(|()| clap_mangen::Man::new(run).render_options_section(&mut page))
        .map_err(|error| format!("no manual page: {error}"))?;
    show(&String::from_utf8_lossy(&page))
}

fn heading(Scenario { id, rules, .. }: &Scenario) -> String {
    format!("{id} ({})", rules.join(", "))
}

fn in_json(scenario: &Scenario) -> Value {
    let needs: Vec<_> = scenario.needs.iter().map(|need| need.missing()).collect();
    let Scenario { id, title, rules, source, .. } = scenario;
    json!({ "id": id, "title": title, "rules": rules, "needs": needs, "source": source })
}

/// Every clause of the specification with its rules and scenarios, or with the reason why there are
/// none; then the same by rule.
pub(super) fn coverage(as_json: bool) -> Result<Exit, Refusal> {
    let (clauses, matrix) = (coverage::clauses(), coverage::matrix());
    show(&match as_json {
        true => format!("{:#}\n", json!({ "clauses": clauses, "rules": matrix })),
        false => clause_table(&clauses) + &table(&matrix),
    })
}

pub(super) fn coverage_of_run(file: &Path, as_json: bool) -> Result<Exit, Refusal> {
    let report = read_json("the report", file)?;
    let wrong = |what| format!("cannot read the report {}: {what}", file.display());
    let records = report["records"].as_array().ok_or_else(|| wrong("no records"))?;
    let outcome = |record: &Value| {
        Some((record["id"].as_str()?.to_owned(), Outcome::deserialize(&record["outcome"]).ok()?))
    };
    let outcomes: Option<BTreeMap<_, _>> = records.iter().map(outcome).collect();
    let outcomes = outcomes.ok_or_else(|| wrong("a record without id or outcome"))?;
    let sentences = sentences(|id| outcomes.get(id).copied());
    if as_json {
        return show(&format!("{:#}\n", json!({ "sentences": sentences })));
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
    let all = sentences.len();
    let counts = format!("{held} held, {broken} broken, {untested} not tested");
    show(&format!("{text}\n{all} sentences: {counts}\n"))
}

fn clause_table(clauses: &[ClauseLine]) -> String {
    let mut text = String::new();
    for lines in clauses.chunk_by(|one, next| one.quote == next.quote) {
        let _ = writeln!(text, "{}\n  > {}", lines[0].quote, lines[0].text);
        for line in lines {
            let _ = writeln!(text, "  {} ({})", line.says, line.rules.join(", "));
            let _ = writeln!(text, "      scenarios: {}", cell(&line.scenarios, line.reason));
        }
    }
    let (all, reasons) = (clauses.len(), clauses.iter().filter(|it| it.reason.is_some()).count());
    let proved = all - reasons;
    text + &format!("{all} clauses: {proved} with scenarios, {reasons} with a reason\n\n")
}

fn table(matrix: &[Line]) -> String {
    let mut text = String::new();
    for line in matrix {
        let _ = writeln!(text, "{} {}", line.rule, line.text);
        let _ = writeln!(text, "      scenarios: {}", cell(&line.scenarios, line.reason));
    }
    let proved = matrix.iter().filter(|line| !line.scenarios.is_empty()).count();
    let (all, reasons) = (matrix.len(), matrix.iter().filter(|it| it.reason.is_some()).count());
    let _ = write!(text, "{all} rules: {proved} with scenarios, ");
    text + &format!("{reasons} with a reason for having none\n")
}

fn cell(ids: &[&str], reason: Option<&str>) -> String {
    if ids.is_empty() {
        return format!("none: {}", reason.unwrap_or("and no reason is written"));
    }
    ids.join(", ")
}
