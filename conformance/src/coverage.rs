//! Which clauses of the specification which rules state, which scenarios prove them, and why some
//! have none. Tests check that it adds up.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::spec::{self, Clause, Quote};
use crate::{Scenario, rules, scenarios};

/// The rules without a scenario, each with the reason. A test fails if one no longer holds.
pub const EXEMPTIONS: &[(&str, &str)] = &[
    ("UP-18", "it says what a client does, and a run is over long before the 7200 seconds are"),
    (
        "LI-16",
        "a run is over long before the 7200 seconds are; with a clock of their own the tests of \
         the reference server wait for them",
    ),
    ("GE-18", "which values a model supports depends on the model"),
    ("KE-03", "the shapes of requests and records of keys are not shown"),
    ("KE-06", "how a browser session begins is not shown"),
    ("KE-07", "the paths and shapes of these calls are not shown"),
    ("ER-03", "details may name fields, and need not"),
    ("ER-11", "the path that addresses a key is not shown"),
    ("VE-02", "a promise about the time of the next version; there is none yet"),
    ("VE-03", "a promise about the time after the next version; there is none yet"),
];

#[derive(Debug, Serialize)]
pub struct Line {
    pub rule: &'static str,
    pub text: &'static str,
    pub scenarios: Vec<&'static str>,
    #[serde(rename = "whyNoScenario")]
    pub reason: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct ClauseLine {
    pub quote: &'static str,
    pub text: &'static str,
    pub says: &'static str,
    pub rules: Vec<&'static str>,
    pub scenarios: Vec<&'static str>,
    #[serde(rename = "whyNoScenario")]
    pub reason: Option<&'static str>,
}

pub fn clauses() -> Vec<ClauseLine> {
    let quotes = spec::spec().quotes.iter();
    quotes.flat_map(|quote| quote.clauses.iter().map(|clause| line(quote, clause))).collect()
}

fn line(quote: &'static Quote, clause: &'static Clause) -> ClauseLine {
    let rules: Vec<_> = clause.rules.iter().map(String::as_str).collect();
    let scenarios = rules.iter().flat_map(|rule| proofs(rule)).map(|one| one.id);
    let scenarios: BTreeSet<_> = scenarios.collect();
    ClauseLine {
        quote: &quote.id,
        text: &quote.text,
        says: &clause.says,
        reason: clause.reason.as_deref(),
        // What cannot be proved is stated by rules that other clauses may prove in part.
        scenarios: scenarios.into_iter().filter(|_| clause.reason.is_none()).collect(),
        rules,
    }
}

pub fn matrix() -> Vec<Line> {
    let line = |rule: rules::Rule| Line {
        rule: rule.id,
        text: rule.text,
        scenarios: proofs(rule.id).map(|scenario| scenario.id).collect(),
        reason: EXEMPTIONS.iter().find(|(exempt, _)| *exempt == rule.id).map(|(_, reason)| *reason),
    };
    rules::all().map(line).collect()
}

pub(crate) fn proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    scenarios::all().filter(move |scenario| scenario.rules.contains(&rule))
}
