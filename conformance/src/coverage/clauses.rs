//! The clauses of the specification, each with what proves it.

use std::collections::BTreeSet;

use crate::rules;
use crate::spec::{self, Clause, Quote};

/// The rules whose chapter is not from the specification.
const HTTP: &str = "HT-";

/// A clause and what stands behind it.
#[derive(Debug)]
pub struct ClauseLine {
    /// Its quote's name.
    pub quote: &'static str,
    /// The words of the specification.
    pub text: &'static str,
    /// What of them it is about.
    pub says: &'static str,
    /// The rules that state it.
    pub rules: Vec<&'static str>,
    /// The scenarios of the core that prove them.
    pub scenarios: Vec<&'static str>,
    /// Why there is none.
    pub reason: Option<&'static str>,
    /// The deliberate faults that break these rules and are caught.
    pub faults: Vec<&'static str>,
}

/// Every clause, in the order of the text.
pub fn clauses() -> Vec<ClauseLine> {
    let quotes = spec::spec().quotes.iter();
    quotes.flat_map(|quote| quote.clauses.iter().map(|clause| line(quote, clause))).collect()
}

fn line(quote: &'static Quote, clause: &'static Clause) -> ClauseLine {
    let rules: Vec<_> = clause.rules.iter().map(String::as_str).collect();
    let scenarios = rules.iter().flat_map(|rule| super::core_proofs(rule)).map(|one| one.id);
    let scenarios: BTreeSet<_> = scenarios.collect();
    let faults: BTreeSet<_> = rules.iter().flat_map(|rule| super::faults(rule)).collect();
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

/// Clauses without rules, scenarios, faults or reasons, and rules without a clause.
pub(super) fn drift() -> Vec<String> {
    let mut drift = Vec::new();
    let mut named = BTreeSet::new();
    for line in clauses() {
        let at = format!("the clause {} ({})", line.quote, line.says);
        for rule in &line.rules {
            if rules::find(rule).is_none() {
                drift.push(format!("{at} names {rule}, which is no rule"));
            }
        }
        if line.rules.is_empty() {
            drift.push(format!("{at} has no rule"));
        }
        match line.reason {
            Some("") => drift.push(format!("the reason for {at} is empty")),
            Some(_) => {}
            None if line.scenarios.is_empty() => {
                drift.push(format!("{at} has neither a scenario of the core nor a reason"));
            }
            None if line.faults.len() < 2 => {
                drift.push(format!("{at} is not broken by two different faults"));
            }
            None => {}
        }
        named.extend(line.rules);
    }
    for rule in rules::all() {
        let is_http = rule.id.starts_with(HTTP);
        if !is_http && !named.contains(rule.id) {
            drift.push(format!("no clause of the specification names {}", rule.id));
        }
        if rule.sentences.is_empty() {
            drift.push(format!("{} restates no sentence", rule.id));
        }
    }
    let uncovered = spec::uncovered().into_iter();
    drift.extend(uncovered.map(|line| format!("in no clause: {line}")));
    drift
}
