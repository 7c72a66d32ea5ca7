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
    pub unproved: Option<String>,
}

/// Every rule, in the order of `docs/api.md`.
pub fn matrix() -> Vec<Line> {
    let line = |rule: rules::Rule| Line {
        rule: rule.id,
        text: rule.text,
        scenarios: proofs(rule.id).map(|scenario| scenario.id).collect(),
        reason: exemption(rule.id).map(|exemption| exemption.reason),
        faults: faults(rule.id).collect(),
        unproved: why_no_fault(rule.id),
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
        if let (Some(fault), Some(_)) = (faults(rule.id).next(), why_no_fault(rule.id)) {
            drift.push(format!(
                "the reason why no fault breaks {0} is stale: {fault} breaks {0}",
                rule.id
            ));
        }
    }
    drift.extend(table_drift());
    drift.extend(clauses::drift());
    for exemption in EXEMPTIONS.iter().chain(WITHOUT_FAULT) {
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
    let bare = |rule: &&str| faults(rule).next().is_none() && why_no_fault(rule).is_none();
    rules::all().map(|rule| rule.id).filter(bare).collect()
}

/// Why no fault breaks the rule.
pub fn why_no_fault(rule: &str) -> Option<String> {
    let found = |reasons: &[Exemption], what| {
        let exemption = reasons.iter().find(|exemption| exemption.covers(rule))?;
        Some(format!("{what}: {}.", exemption.reason))
    };
    found(EXEMPTIONS, "There is no scenario").or_else(|| found(WITHOUT_FAULT, "No fault"))
}

/// What the table of faults names that is not there.
fn table_drift() -> Vec<String> {
    let mut drift = Vec::new();
    for fault in proof::faults() {
        if rules::find(fault.rule).is_none() {
            drift.push(format!("the fault {0} breaks {1}, which is no rule", fault.id, fault.rule));
        }
        for id in fault.red() {
            if !scenarios::all().any(|scenario| scenario.id == id) {
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
        fault.rule == rule && proofs(rule).any(caught)
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
