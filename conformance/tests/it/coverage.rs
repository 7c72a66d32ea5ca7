//! Scenarios and rules belong together without a gap.

use std::collections::HashSet;

use promptarium_conformance::{coverage, scenarios};

#[test]
fn clauses_rules_scenarios_and_reasons_fit_together() {
    let faults = coverage::drift();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn ids_are_unique_and_have_the_form_chapter_subject_fact() {
    let mut seen = HashSet::new();
    for scenario in scenarios::all() {
        let parts: Vec<_> = scenario.id.split('.').collect();
        assert_eq!(parts.len(), 3, "{}", scenario.id);
        for part in parts {
            let plain = part.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
            let whole = !part.is_empty() && !part.starts_with('-') && !part.ends_with('-');
            assert!(plain && whole, "{}", scenario.id);
        }
        assert!(seen.insert(scenario.id), "{} twice", scenario.id);
    }
    assert!(!seen.is_empty());
}

#[test]
fn every_scenario_says_what_it_proves_and_needs_a_thing_once() {
    for scenario in scenarios::all() {
        assert!(!scenario.title.trim().is_empty(), "{} has no title", scenario.id);
        assert!(!scenario.rules.is_empty(), "{} proves no rule", scenario.id);
        let rules: HashSet<_> = scenario.rules.iter().collect();
        assert_eq!(rules.len(), scenario.rules.len(), "{} cites a rule twice", scenario.id);
        let needs: HashSet<_> = scenario.needs.iter().collect();
        assert_eq!(needs.len(), scenario.needs.len(), "{} names a need twice", scenario.id);
    }
}

#[test]
fn what_a_clause_cannot_prove_is_said_of_each_clause_alone() {
    for line in coverage::clauses() {
        let proved = !line.scenarios.is_empty() && !line.faults.is_empty();
        assert_ne!(proved, line.reason.is_some(), "{}: {}", line.quote, line.says);
    }
}
