//! The proof of the suite: the alternative server with one named bug at a time, each of which some
//! scenario finds. The bugs are written from the specification and from what developers get wrong,
//! in the handlers; those in single fields are the product of a field and a slip.
//!
//! `bugs.tsv` has a line for each: its name, and a scenario that finds it, which a usual run tries.
//! With the variable `PROMPTARIUM_BUGS`, all scenarios are tried on a bug that those of its line do not
//! find, and the line is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use libtest_mimic::{Failed, Trial};
use promptarium_conformance::report::Outcome;
use promptarium_conformance::scenarios::fields::request::Request;
use promptarium_conformance::scenarios::fields::table::{FIELDS, Field, Kind, Presence};
use promptarium_conformance::{Run, Scenario, Target, run, scenarios, spec};
use regex::Regex;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::alternative::{self, Choices, Secrets};
use crate::config;

const AT_ONCE: usize = 24;

/// What sanitizers, columns and loose types make of a text.
const STORED: &str = "escaped quotes-escaped tags one-space one-line three-bytes unescaped number \
    null-word small";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent")
}

type Lines = BTreeMap<String, Vec<&'static Scenario>>;

type Found = Result<Option<&'static Scenario>, Failed>;

fn read_lines() -> Lines {
    let text = fs::read_to_string(folder().join("bugs.tsv")).unwrap_or_default();
    let line = |line: &str| {
        let (name, found) = line.split_once('\t')?;
        let is_listed = |one: &&Scenario| found.split(' ').any(|id| id == one.id);
        Some((name.to_owned(), scenarios::all().filter(is_listed).collect()))
    };
    text.lines().filter_map(line).collect()
}

fn write_lines(lines: &Lines) -> std::io::Result<()> {
    let ids = |found: &[&Scenario]| found.iter().map(|one| one.id).collect::<Vec<_>>().join(" ");
    let lines = lines.iter().filter(|(_, found)| !found.is_empty());
    let text: String = lines.map(|(name, found)| format!("{name}\t{}\n", ids(found))).collect();
    fs::write(folder().join("bugs.tsv"), text)
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
    let Ok(literal) = Regex::new(r#""([a-z0-9-]{2,}\.[a-z0-9-]{2,})""#) else { return names };
    let sources = fs::read_dir(folder().join("alternative")).into_iter().flatten().flatten();
    let sources = sources.map(|entry| entry.path()).chain([folder().join("alternative.rs")]);
    for text in sources.filter_map(|file| fs::read_to_string(file).ok()) {
        let found = literal.captures_iter(&text).map(|found| found[1].to_owned());
        let is_other =
            |one: &String| ["png", "example", "models-2"].iter().any(|end| one.ends_with(end));
        names.extend(found.filter(|one| !is_other(one)));
    }
    names
}

pub(crate) fn trials(handle: &Handle) -> Vec<Trial> {
    let (lines, names) = (read_lines(), names());
    let other: Vec<_> = names.iter().filter(|name| !lines.contains_key(*name)).collect();
    let other = other.into_iter().chain(lines.keys().filter(|name| !names.contains(*name)));
    let (other, unproved): (Vec<_>, _) = (other.cloned().collect(), unproved(&lines));
    let mut trials = vec![
        Trial::test("bugs::each_has_a_line_and_each_line_a_bug", move || {
            none(&other, "PROMPTARIUM_BUGS=new cargo test --test independent -- bugs writes them")
        }),
        Trial::test("bugs::of_each_statement_one_is_found", move || {
            none(&unproved, "a statement whose scenarios find no bug")
        }),
    ];
    let lines = Arc::new(Mutex::new(lines));
    for name in names {
        let (handle, lines) = (handle.clone(), Arc::clone(&lines));
        trials.push(Trial::test(format!("bugs::{name}"), move || {
            handle.block_on(found(&name, &lines))
        }));
    }
    trials
}

async fn found(bug: &str, lines: &Mutex<Lines>) -> Result<(), Failed> {
    let listed = lines.lock().await.get(bug).cloned().unwrap_or_default();
    let mut red = red(bug, listed, AT_ONCE).await?;
    if red.is_none() && std::env::var_os("PROMPTARIUM_BUGS").is_some() {
        red = red_alone(bug).await?;
        let mut lines = lines.lock().await;
        lines.insert(bug.to_owned(), red.into_iter().collect());
        write_lines(&lines)?;
    }
    if red.is_some() { Ok(()) } else { Err("no scenario of its line finds it".into()) }
}

fn none(found: &[String], hint: &str) -> Result<(), Failed> {
    if found.is_empty() { Ok(()) } else { Err(format!("{hint}:\n{}", found.join("\n")).into()) }
}

/// The statements of the specification that have scenarios, of which none finds a bug.
fn unproved(lines: &Lines) -> Vec<String> {
    let rules: BTreeSet<_> = lines.values().flatten().flat_map(|one| one.rules).copied().collect();
    let quotes = spec::spec().quotes.iter();
    let clauses = quotes.flat_map(|quote| quote.clauses.iter().map(move |clause| (quote, clause)));
    let open = clauses.filter(|(_, clause)| {
        clause.reason.is_none() && !clause.rules.iter().any(|rule| rules.contains(&**rule))
    });
    open.map(|(quote, clause)| {
        format!("{}: {} ({})", quote.id, clause.says, clause.rules.join(", "))
    })
    .collect()
}

/// The first of these scenarios that fails on a server with this bug, so many at once.
async fn red(bug: &str, chosen: Vec<&'static Scenario>, at_once: usize) -> Found {
    let choices = Choices::with_bug(bug.to_owned().leak());
    let server = alternative::start(Secrets::tolerant(), choices).await?;
    let config =
        config(&server, choices, Secrets::tolerant()).map_err(|error| error.to_string())?;
    let target = Arc::new(Target::new(config)?);
    let one = |(number, scenario): (usize, &'static Scenario)| {
        let (target, tag) = (Arc::clone(&target), format!("bug-{number}"));
        async move {
            let never = std::future::pending();
            let record = run::one(&target, scenario, &tag, Run::DEADLINE, never).await;
            let is_red = matches!(record.outcome, Outcome::Failed | Outcome::Error);
            is_red.then_some(scenario)
        }
    };
    let (last, others): (Vec<_>, Vec<_>) =
        chosen.into_iter().enumerate().partition(|(_, scenario)| scenario.last);
    let together = futures::stream::iter(others).map(one).buffer_unordered(at_once);
    let all = together.chain(futures::stream::iter(last).then(one));
    Ok(std::pin::pin!(all.filter_map(std::future::ready)).next().await)
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
async fn red_alone(bug: &str) -> Found {
    let mut scenarios = ordered(bug);
    let mut at_once = if bug.starts_with("cache.") { 1 } else { AT_ONCE };
    loop {
        let Some(found) = red(bug, scenarios.clone(), at_once).await? else { return Ok(None) };
        if red(bug, vec![found], 1).await?.is_some() {
            return Ok(Some(found));
        }
        scenarios.retain(|one| found.id != one.id);
        at_once = 1;
    }
}
