//! The specification, rules and scenarios belong together without a gap.

use std::collections::HashSet;

use promptarium_conformance::coverage::{self, EXEMPTIONS};
use promptarium_conformance::{rules, scenarios, spec};

#[test]
fn every_rule_has_either_a_scenario_or_a_reason() {
    for line in coverage::matrix() {
        assert_ne!(line.scenarios.is_empty(), line.reason.is_none(), "{}", line.rule);
        let rule = rules::find(line.rule).unwrap();
        assert!(!rule.sentences.is_empty(), "{} restates no sentence", line.rule);
    }
}

#[test]
fn every_clause_has_rules_and_either_a_scenario_or_a_reason() {
    for line in coverage::clauses() {
        let clause = format!("{}: {}", line.quote, line.says);
        assert!(!line.rules.is_empty(), "{clause}");
        assert_ne!(line.scenarios.is_empty(), line.reason.is_none(), "{clause}");
        assert_ne!(line.reason, Some(""), "{clause}");
    }
}

#[test]
fn every_rule_is_of_a_clause() {
    let clauses = coverage::clauses();
    let mut unnamed =
        rules::all().filter(|rule| !clauses.iter().any(|it| it.rules.contains(&rule.id)));
    assert_eq!(unnamed.next().map(|rule| rule.id), None);
}

#[test]
fn what_scenarios_clauses_and_reasons_name_is_there() {
    let exempt = EXEMPTIONS.iter().map(|(rule, _)| *rule);
    let named = exempt.chain(scenarios::all().flat_map(|scenario| scenario.rules).copied());
    let mut named = named.chain(coverage::clauses().into_iter().flat_map(|line| line.rules));
    assert_eq!(named.find(|rule| rules::find(rule).is_none()), None);
}

#[test]
fn every_quote_is_in_the_specification_word_for_word_and_has_a_name_of_its_own() {
    let mut ids = HashSet::new();
    for quote in &spec::spec().quotes {
        assert!(spec::TEXT.contains(&quote.text), "{}", quote.text);
        assert!(!quote.clauses.is_empty() && ids.insert(&quote.id), "{}", quote.id);
    }
    for prose in &spec::spec().prose {
        assert!(spec::TEXT.contains(&prose.text) && !prose.reason.is_empty(), "{}", prose.text);
    }
}

#[test]
fn every_sentence_and_table_row_is_in_a_clause_or_in_prose() {
    assert_eq!(uncovered(), [""; 0]);
}

/// What is left of the specification without its quotes and its prose, line by line. Headings of
/// chapters and of tables and the numbers of lists are left out.
fn uncovered() -> Vec<String> {
    let prose = spec::spec().prose.iter().map(|prose| prose.text.as_str());
    let mut pieces: Vec<_> = spec::spec().quotes.iter().map(|quote| quote.text.as_str()).collect();
    pieces.extend(prose);
    // A piece may be a part of a longer one.
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    let left = pieces.iter().fold(spec::TEXT.to_owned(), |text, piece| text.replace(piece, ""));
    let lines: Vec<_> = left.lines().collect();
    let is_heading = |at: usize| {
        let above_dashes = lines.get(at + 1).is_some_and(|next| next.starts_with("|---"));
        lines[at].starts_with('#') || above_dashes
    };
    let unnumbered = |line: &'_ str| {
        let number = line.find(". ").filter(|end| line[..*end].bytes().all(|b| b.is_ascii_digit()));
        line[number.unwrap_or_default()..].to_owned()
    };
    let words = (0..lines.len()).filter(|at| !is_heading(*at)).map(|at| unnumbered(lines[at]));
    words.filter(|line| line.contains(char::is_alphanumeric)).collect()
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
        let rules = scenario.rules.iter().collect::<HashSet<_>>().len();
        let needs = scenario.needs.iter().collect::<HashSet<_>>().len();
        let each_once = (rules, needs) == (scenario.rules.len(), scenario.needs.len());
        assert!(each_once, "{} names a rule or a need twice", scenario.id);
    }
}
