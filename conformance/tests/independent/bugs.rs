//! The proof of the suite: the alternative server with one named bug at a time, each of which some
//! scenario finds. The bugs are written from the specification and from what developers get wrong,
//! in the handlers; those in single fields are the product of a field and a slip.
//!
//! `bugs.tsv` has a line for each: its name, and a scenario that finds it, which a usual run tries;
//! `PROMPTARIUM_BUGS=new` tries all scenarios on the bugs without a line, and
//! `PROMPTARIUM_BUGS=all` on all of them, and writes the lines; `PROMPTARIUM_BUGS=cache.,page.` tries
//! those whose names begin so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use libtest_mimic::{Failed, Trial};
use promptarium_conformance::report::{Outcome, Record};
use promptarium_conformance::scenarios::fields::request::Request;
use promptarium_conformance::scenarios::fields::table::{FIELDS, Field, Kind, Presence};
use promptarium_conformance::{Run, Scenario, Target, run, scenarios, spec};
use regex::Regex;
use tokio::runtime::Handle;

use crate::alternative::{self, Choices, Secrets};
use crate::config;

/// Scenarios on one server at once.
const AT_ONCE: usize = 24;
/// So many bugs are tried for a scenario whose statement no line proves.
const LIKELY: usize = 12;
/// One scenario that finds a bug is enough.
const ENOUGH: usize = 1;

/// What sanitizers, columns and loose types make of a text.
const STORED: &str = "escaped quotes-escaped tags one-space one-line three-bytes unescaped number \
    null-word small";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent")
}

/// The scenarios that find each bug.
type Lines = BTreeMap<String, Vec<String>>;

fn lines() -> Lines {
    let text = fs::read_to_string(folder().join("bugs.tsv")).unwrap_or_default();
    let line = |line: &str| {
        let (name, found) = line.split_once('\t')?;
        Some((name.to_owned(), found.split(' ').map(str::to_owned).collect()))
    };
    text.lines().filter_map(line).collect()
}

/// What goes wrong in a field of this kind.
fn slips(field: &Field) -> Vec<&'static str> {
    let of_model = field.name == "modelId" && field.presence == Presence::Optional;
    let words = match field.kind {
        Kind::Text(0, _) => "one-more one-less unlimited cut bytes utf16 number-taken",
        Kind::Text(..) => "one-more one-less unlimited cut bytes utf16 number-taken empty-taken",
        Kind::Ratio(_) => "one-more one-less unlimited cut",
        Kind::AnyText if of_model => "any-taken prefix-only slash-only unanchored",
        Kind::AnyText => "number-taken",
        Kind::OneOf(..) => "any-case unknown-ignored beginning last-refused",
        Kind::Uri => "any-taken",
        Kind::Uris(_) => {
            "one-more one-less unlimited any-taken first-checked distinct single-taken"
        }
        Kind::Id | Kind::PositiveId => "text-taken float-cut bool-taken list-taken",
        Kind::Ids(..) => {
            "one-more one-less unlimited distinct single-taken texts-taken floats-cut others-dropped"
        }
        Kind::Integer(..) => {
            "text-taken float-cut bool-taken clamped 32-bits last-refused zero-taken"
        }
        Kind::Object => "any-taken empty-list",
    };
    let left_out: &[_] = match field.request {
        // A model may take less (S-38).
        Request::Generate => &["one-less", "bytes", "utf16", "last-refused"],
        // Types of media have no case, and parameters (S-43).
        Request::RequestSlot => &["any-case", "beginning", "unknown-ignored"],
        _ => &[],
    };
    let nullable = field.presence.takes_null() || matches!(field.kind, Kind::Object);
    let optional = !nullable && field.presence == Presence::Optional;
    let required = field.presence == Presence::Required && matches!(field.kind, Kind::Text(..));
    let is_shown =
        "title prompt platform name description".split(' ').any(|name| name == field.name);
    let stored = if is_shown && field.request != Request::Generate { STORED } else { "" };
    let slips =
        words.split(' ').chain(stored.split_whitespace()).filter(|slip| !left_out.contains(slip));
    let slips = slips.chain(optional.then_some("null-absent"));
    slips.chain((required && field.name != "prompt").then_some("missing-taken")).collect()
}

/// Every bug: those of fields, and the names in the sources of the server.
fn names() -> BTreeSet<String> {
    let bodies = FIELDS.iter().filter(|field| field.request.has_body());
    let of_field = |field: &Field| {
        let (request, name) = (field.request.as_ref().to_owned(), field.name);
        slips(field).into_iter().map(move |slip| format!("{request}.{name}.{slip}"))
    };
    let mut names: BTreeSet<String> = bodies.flat_map(of_field).collect();
    let literal = Regex::new(r#""([a-z0-9-]{2,}\.[a-z0-9-]{2,})""#).into_iter().next();
    let Some(literal) = literal else { return names };
    let sources = fs::read_dir(folder().join("alternative")).into_iter().flatten().flatten();
    let sources = sources.map(|entry| entry.path()).chain([folder().join("alternative.rs")]);
    for text in sources.filter_map(|file| fs::read_to_string(file).ok()) {
        let found = literal.captures_iter(&text).map(|found| found[1].to_owned());
        names
            .extend(found.filter(|one| {
                !["png", "example", "models-2"].iter().any(|end| one.ends_with(end))
            }));
    }
    names
}

pub(crate) fn trials(handle: &Handle) -> Vec<Trial> {
    let (lines, names) = (lines(), names());
    let mode = std::env::var("PROMPTARIUM_BUGS").unwrap_or_default();
    if !mode.is_empty() {
        let handle = handle.clone();
        return vec![Trial::test("bugs::written", move || {
            handle.block_on(write(lines, names, &mode))
        })];
    }
    let listed: BTreeSet<_> = lines.keys().cloned().collect();
    let mut trials = vec![
        Trial::test("bugs::each_has_a_line_and_each_line_a_bug", move || {
            let other: Vec<_> = names.symmetric_difference(&listed).cloned().collect();
            none(
                &other,
                "PROMPTARIUM_BUGS=new cargo test --test independent -- bugs writes the lines",
            )
        }),
        Trial::test("bugs::of_each_statement_one_is_found", {
            let lines = lines.clone();
            move || none(&unproved(&lines), "a statement whose scenarios find no bug")
        }),
    ];
    for (name, found) in lines {
        let handle = handle.clone();
        trials.push(Trial::test(format!("bugs::{name}"), move || {
            let is_listed = |one: &&Scenario| found.iter().any(|id| *id == one.id);
            let chosen = scenarios::all().filter(is_listed).collect();
            let red = handle.block_on(red(&name, chosen, AT_ONCE))?;
            if red.is_empty() { Err(format!("not found by {found:?}").into()) } else { Ok(()) }
        }));
    }
    trials
}

fn none(found: &[String], hint: &str) -> Result<(), Failed> {
    if found.is_empty() { Ok(()) } else { Err(format!("{hint}:\n{}", found.join("\n")).into()) }
}

/// The statements of the specification that have scenarios, of which none finds a bug.
fn unproved(lines: &Lines) -> Vec<String> {
    let finds = |id: &str| lines.values().flatten().any(|one| one == id);
    let rules: BTreeSet<_> =
        scenarios::all().filter(|one| finds(one.id)).flat_map(|one| one.rules).copied().collect();
    let clauses = spec::spec()
        .quotes
        .iter()
        .flat_map(|quote| quote.clauses.iter().map(move |clause| (quote, clause)));
    let open = clauses.filter(|(_, clause)| {
        clause.reason.is_none() && !clause.rules.iter().any(|rule| rules.contains(&**rule))
    });
    open.map(|(quote, clause)| {
        format!("{}: {} ({})", quote.id, clause.says, clause.rules.join(", "))
    })
    .collect()
}

/// The scenarios of these that fail on a server with this bug, so many at once.
async fn red(
    bug: &str,
    chosen: Vec<&'static Scenario>,
    at_once: usize,
) -> Result<Vec<String>, Failed> {
    let choices = Choices::with_bug(bug.to_owned().leak());
    let server = alternative::start(Secrets::tolerant(), choices).await?;
    let config =
        config(&server, choices, Secrets::tolerant()).map_err(|error| error.to_string())?;
    let target = Arc::new(Target::new(config)?);
    let one = |(number, scenario): (usize, &'static Scenario)| {
        let (target, tag) = (Arc::clone(&target), format!("bug-{number}"));
        async move { run::one(&target, scenario, &tag, Run::DEADLINE, std::future::pending()).await }
    };
    let (last, others): (Vec<_>, Vec<_>) =
        chosen.into_iter().enumerate().partition(|(_, scenario)| scenario.last);
    let together = futures::stream::iter(others).map(one).buffer_unordered(at_once);
    let alone = futures::stream::iter(last).then(one);
    let records = together.chain(alone);
    let is_red = |record: &Record| matches!(record.outcome, Outcome::Failed | Outcome::Error);
    let found = records.filter(|record| std::future::ready(is_red(record)));
    Ok(found.map(|record| record.id.to_owned()).take(ENOUGH).collect().await)
}

/// All scenarios, those first that a bug of this name is likely to meet.
fn ordered(bug: &str) -> Vec<&'static Scenario> {
    let parts: Vec<_> = bug.split(['.', '-']).collect();
    let likeness =
        |scenario: &Scenario| parts.iter().filter(|part| scenario.id.contains(**part)).count();
    let mut all: Vec<_> = scenarios::all().collect();
    all.sort_by_key(|scenario| std::cmp::Reverse(likeness(scenario)));
    all
}

/// A scenario that finds the bug also where no other runs beside it. Where what others do makes it
/// fail, or hides the bug as it does with caches, they run one after the other.
async fn red_alone(bug: &str) -> Result<Vec<String>, Failed> {
    let mut scenarios = ordered(bug);
    let mut at_once = if bug.starts_with("cache.") { 1 } else { AT_ONCE };
    loop {
        let found = red(bug, scenarios.clone(), at_once).await?;
        let alone = scenarios.iter().filter(|one| found.iter().any(|id| *id == one.id)).copied();
        let again = red(bug, alone.collect(), 1).await?;
        if found.is_empty() || !again.is_empty() {
            return Ok(again);
        }
        scenarios.retain(|one| !found.iter().any(|id| *id == one.id));
        at_once = 1;
    }
}

async fn write(mut lines: Lines, names: BTreeSet<String>, mode: &str) -> Result<(), Failed> {
    let exists = |id: &String| scenarios::all().any(|one| one.id == id);
    let is_asked = |name: &String| {
        mode == "all" || mode != "new" && mode.split(',').any(|start| name.starts_with(start))
    };
    lines.retain(|name, found| names.contains(name) && !is_asked(name) && found.iter().all(exists));
    let is_new = |name: &String| !lines.contains_key(name) && (mode == "new" || is_asked(name));
    let new: Vec<_> = names.into_iter().filter(is_new).collect();
    let mut found = futures::stream::iter(new)
        .map(|name| async move { (red_alone(&name).await, name) })
        .buffer_unordered(3);
    let mut survivors = Vec::new();
    while let Some((red, name)) = found.next().await {
        let red = red?;
        if red.is_empty() {
            survivors.push(name);
            continue;
        }
        lines.insert(name, red);
        let text: String =
            lines.iter().map(|(name, red)| format!("{name}\t{}\n", red.join(" "))).collect();
        fs::write(folder().join("bugs.tsv"), text)?;
    }
    for scenario in open_scenarios(&lines) {
        let parts: Vec<_> = scenario.id.split(['.', '-']).collect();
        let likeness = |name: &str| parts.iter().filter(|part| name.contains(**part)).count();
        let mut likely: Vec<_> = lines.keys().cloned().collect();
        likely.sort_by_key(|name| std::cmp::Reverse(likeness(name)));
        for name in likely.into_iter().take(LIKELY) {
            let found = red(&name, vec![scenario], 1).await?;
            if !found.is_empty() {
                lines.entry(name).or_default().extend(found);
                break;
            }
        }
    }
    let text: String =
        lines.iter().map(|(name, red)| format!("{name}\t{}\n", red.join(" "))).collect();
    fs::write(folder().join("bugs.tsv"), text)?;
    none(&survivors, "nobody finds these")
}

/// The scenarios of statements that no line proves yet.
fn open_scenarios(lines: &Lines) -> Vec<&'static Scenario> {
    let open = unproved(lines).join(" ");
    let is_open = |one: &&Scenario| one.rules.iter().any(|rule| open.contains(rule));
    scenarios::all().filter(is_open).collect()
}
