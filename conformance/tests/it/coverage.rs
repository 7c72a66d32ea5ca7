//! Scenarios and rules belong together without a gap.

use std::collections::HashSet;

use promptarium_conformance::{coverage, scenarios};

#[test]
fn every_rule_has_a_scenario_or_a_reason_and_no_reason_is_stale() {
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

/// Old ids in files of known failures lead to the scenarios that cover them now.
#[test]
fn every_renamed_id_leads_to_a_scenario_and_is_none_itself() {
    let exists = |id: &str| scenarios::all().any(|scenario| scenario.id == id);
    for line in include_str!("../../src/renamed.tsv").lines() {
        let (old, new) = line.split_once('\t').unwrap();
        assert!(!exists(old), "{old} is still a scenario");
        assert!(exists(new), "{old} leads to {new}, which is no scenario");
    }
}
