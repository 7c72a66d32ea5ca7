//! Which clauses of the specification which rules state, which scenarios prove them, which
//! deliberate faults they were seen to catch, and why some have none. It must add up:
//! [`drift`] names every place where it does not.

mod clauses;
mod exemptions;
pub mod proof;

pub use self::clauses::{ClauseLine, clauses};
pub use self::exemptions::{EXEMPTIONS, Exemption, WITHOUT_FAULT};
use crate::{Profile, Scenario, rules, scenarios};

/// A rule and what stands behind it.
#[derive(Debug)]
pub struct Line {
    /// The rule's id.
    pub rule: &'static str,
    /// The rule's text.
    pub text: &'static str,
    /// The ids of the scenarios that prove it.
    pub scenarios: Vec<&'static str>,
    /// Why there is none.
    pub reason: Option<&'static str>,
    /// The ids of the deliberate faults that break it and are caught.
    pub faults: Vec<&'static str>,
    /// Why there is none.
    pub unproved: Option<&'static str>,
}

/// Every rule, in the order of `docs/api.md`.
pub fn matrix() -> Vec<Line> {
    let line = |rule: rules::Rule| Line {
        rule: rule.id,
        text: rule.text,
        scenarios: proofs(rule.id).map(|scenario| scenario.id).collect(),
        reason: exemption(rule.id).map(|exemption| exemption.reason),
        faults: faults(rule.id).collect(),
        unproved: proof::unproved().iter().find(|one| one.rule == rule.id).map(|one| one.reason),
    };
    rules::all().map(line).collect()
}

/// Every fault of the table and the list, in words; empty when all is well.
pub fn drift() -> Vec<String> {
    let mut drift = Vec::new();
    for rule in rules::all() {
        match (proofs(rule.id).next(), exemption(rule.id)) {
            (None, None) => {
                drift.push(format!("{} has neither a scenario nor a reason", rule.id));
            }
            (Some(scenario), Some(exemption)) => drift.push(format!(
                "the reason for {} is stale: {} proves {}",
                exemption.what, scenario.id, rule.id
            )),
            _ => {}
        }
        let unproved = proof::unproved().iter().any(|one| one.rule == rule.id);
        if let (Some(fault), true) = (faults(rule.id).next(), unproved) {
            drift.push(format!(
                "the reason why no fault breaks {0} is stale: {fault} breaks {0}",
                rule.id
            ));
        }
    }
    drift.extend(page_drift());
    drift.extend(clauses::drift());
    for exemption in EXEMPTIONS {
        if !rules::all().any(|rule| exemption.covers(rule.id)) {
            drift.push(format!("a reason is given for {}, which is no rule", exemption.what));
        }
        if exemption.reason.is_empty() {
            drift.push(format!("the reason for {} is empty", exemption.what));
        }
    }
    for scenario in scenarios::all() {
        for rule in scenario.rules {
            if rules::find(rule).is_none() {
                drift.push(format!("{} cites {rule}, which is no rule", scenario.id));
            }
        }
    }
    drift
}

/// The rules with neither a fault that is caught nor a reason for having none.
pub fn unproved() -> Vec<&'static str> {
    let reason = |rule: &str| proof::unproved().iter().any(|one| one.rule == rule);
    let bare = |rule: &rules::Rule| faults(rule.id).next().is_none() && !reason(rule.id);
    rules::all().filter(bare).map(|rule| rule.id).collect()
}

/// What the page of faults names that is not there.
fn page_drift() -> Vec<String> {
    let mut drift = Vec::new();
    for fault in proof::faults() {
        for rule in fault.rules.iter().filter(|rule| rules::find(rule).is_none()) {
            drift.push(format!("the fault {} breaks {rule}, which is no rule", fault.id));
        }
        for id in fault.scenarios.iter().chain(&fault.at_times) {
            if !scenarios::all().any(|scenario| scenario.id == *id) {
                drift.push(format!("the fault {} turns {id} red, which is no scenario", fault.id));
            }
        }
    }
    drift
}

/// The faults made to break the rule that a scenario of it catches. What else they
/// turn red proves nothing about the rules there.
fn faults(rule: &str) -> impl Iterator<Item = &'static str> {
    let breaks = move |fault: &&proof::Fault<'static>| {
        let caught = |one: &'static Scenario| fault.scenarios.contains(&one.id);
        fault.rules.first() == Some(&rule) && proofs(rule).any(caught)
    };
    proof::faults().iter().filter(breaks).map(|fault| fault.id)
}

/// The scenarios of the core that prove the rule.
fn core_proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    proofs(rule).filter(|scenario| scenario.profile == Profile::Core)
}

fn proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    scenarios::all().filter(move |scenario| scenario.rules.contains(&rule))
}

fn exemption(rule: &str) -> Option<&'static Exemption> {
    EXEMPTIONS.iter().find(|exemption| exemption.covers(rule))
}
