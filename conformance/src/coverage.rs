//! Which clauses of the specification which rules state, which scenarios prove them, which
//! deliberate faults they were seen to catch, and why some have none. Tests check that it adds up.

pub mod proof;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::spec::{self, Clause, Quote};
use crate::{Profile, Scenario, rules, scenarios};

/// The rules without a scenario, each with the reason. A test fails if one no longer holds.
pub const EXEMPTIONS: &[(&str, &str)] = &[
    ("UP-18", "it says what a client does, and a run is over long before the 7200 seconds are"),
    (
        "LI-16",
        "a run is over long before the 7200 seconds are; with a clock of their own the tests of \
         the reference server wait for them",
    ),
    ("VE-03", "a promise about the time after the next version; there is none yet"),
];

/// A rule with its scenarios and faults.
#[derive(Debug, Serialize)]
pub struct Line {
    pub rule: &'static str,
    pub text: &'static str,
    pub scenarios: Vec<&'static str>,
    #[serde(rename = "whyNoScenario")]
    pub reason: Option<&'static str>,
    pub faults: Vec<&'static str>,
    #[serde(rename = "whyNoFault")]
    pub unproved: Option<String>,
}

/// A clause with its rules, scenarios and faults.
#[derive(Debug, Serialize)]
pub struct ClauseLine {
    pub quote: &'static str,
    pub text: &'static str,
    pub says: &'static str,
    pub rules: Vec<&'static str>,
    pub scenarios: Vec<&'static str>,
    #[serde(rename = "whyNoScenario")]
    pub reason: Option<&'static str>,
    pub faults: Vec<&'static str>,
}

pub fn clauses() -> Vec<ClauseLine> {
    let quotes = spec::spec().quotes.iter();
    quotes.flat_map(|quote| quote.clauses.iter().map(|clause| line(quote, clause))).collect()
}

fn line(quote: &'static Quote, clause: &'static Clause) -> ClauseLine {
    let rules: Vec<_> = clause.rules.iter().map(String::as_str).collect();
    let scenarios = rules.iter().flat_map(|rule| core_proofs(rule)).map(|one| one.id);
    let scenarios: BTreeSet<_> = scenarios.collect();
    let faults: BTreeSet<_> = rules.iter().flat_map(|rule| faults(rule)).collect();
    ClauseLine {
        quote: &quote.id,
        text: &quote.text,
        says: &clause.says,
        reason: clause.reason.as_deref(),
        // What cannot be proved is stated by rules that other clauses may prove in part.
        scenarios: scenarios.into_iter().filter(|_| clause.reason.is_none()).collect(),
        faults: faults.into_iter().filter(|_| clause.reason.is_none()).collect(),
        rules,
    }
}

pub fn matrix() -> Vec<Line> {
    let line = |rule: rules::Rule| Line {
        rule: rule.id,
        text: rule.text,
        scenarios: proofs(rule.id).map(|scenario| scenario.id).collect(),
        reason: exemption(rule.id),
        faults: faults(rule.id).collect(),
        unproved: why_no_fault(rule.id),
    };
    rules::all().map(line).collect()
}

/// Why no fault breaks the rule.
pub fn why_no_fault(rule: &str) -> Option<String> {
    Some(format!("There is no scenario: {}.", exemption(rule)?))
}

/// The faults made to break the rule that a scenario of it catches. What else they
/// turn red proves nothing about the rules there.
fn faults(rule: &str) -> impl Iterator<Item = &'static str> {
    let breaks = move |fault: &&proof::Fault<'static>| {
        let caught = |one: &'static Scenario| fault.scenarios.contains(&one.id);
        fault.rule == rule && proofs(rule).any(caught)
    };
    proof::faults().iter().filter(breaks).map(|fault| fault.id)
}

pub(crate) fn core_proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    proofs(rule).filter(|scenario| scenario.profile == Profile::Core)
}

fn proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    scenarios::all().filter(move |scenario| scenario.rules.contains(&rule))
}

fn exemption(rule: &str) -> Option<&'static str> {
    EXEMPTIONS.iter().find(|(exempt, _)| *exempt == rule).map(|(_, reason)| *reason)
}
