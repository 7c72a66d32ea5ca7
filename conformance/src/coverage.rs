//! Which scenarios prove which rule, and why some rules have none. The two
//! must add up: [`drift`] names every place where they do not.

mod excused;

pub use self::excused::{EXCUSES, Excuse};
use crate::{Scenario, rules, scenarios};

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
}

/// Every rule, in the order of `docs/api.md`.
pub fn matrix() -> Vec<Line> {
    let line = |rule: rules::Rule| Line {
        rule: rule.id,
        text: rule.text,
        scenarios: proofs(rule.id).map(|scenario| scenario.id).collect(),
        reason: excuse(rule.id).map(|excuse| excuse.reason),
    };
    rules::all().map(line).collect()
}

/// Every fault of the table and the list, in words; empty when all is well.
pub fn drift() -> Vec<String> {
    let mut faults = Vec::new();
    for rule in rules::all() {
        match (proofs(rule.id).next(), excuse(rule.id)) {
            (None, None) => {
                faults.push(format!("{} has neither a scenario nor a reason", rule.id));
            }
            (Some(scenario), Some(excuse)) => faults.push(format!(
                "the reason for {} is stale: {} proves {}",
                excuse.what, scenario.id, rule.id
            )),
            _ => {}
        }
    }
    for excuse in EXCUSES {
        if !rules::all().any(|rule| excuse.covers(rule.id)) {
            faults.push(format!("a reason is given for {}, which is no rule", excuse.what));
        }
        if excuse.reason.is_empty() {
            faults.push(format!("the reason for {} is empty", excuse.what));
        }
    }
    for scenario in scenarios::all() {
        for rule in scenario.rules {
            if rules::find(rule).is_none() {
                faults.push(format!("{} cites {rule}, which is no rule", scenario.id));
            }
        }
    }
    faults
}

fn proofs(rule: &str) -> impl Iterator<Item = &'static Scenario> {
    scenarios::all().filter(move |scenario| scenario.rules.contains(&rule))
}

fn excuse(rule: &str) -> Option<&'static Excuse> {
    EXCUSES.iter().find(|excuse| excuse.covers(rule))
}
