//! What a run found of each sentence of the specification.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use strum::AsRefStr;

use super::{Outcome, Report};
use crate::coverage::core_proofs;
use crate::spec::{self, Piece, Quote};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, AsRefStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Every scenario of it that was selected passed.
    Held,
    /// One failed or came to no verdict, known or not.
    Broken,
    /// None was selected, or some were skipped or blocked, or no scenario can prove it.
    Untested,
}

/// A sentence, a paragraph or a table row, with the scenarios of the core that prove it.
#[derive(Clone, Debug, Serialize)]
pub struct Sentence {
    pub id: &'static str,
    /// The heading that it stands below.
    pub section: &'static str,
    pub text: &'static str,
    pub state: State,
    /// What its scenarios came to, as far as they were selected.
    pub scenarios: BTreeMap<&'static str, Outcome>,
}

impl State {
    /// What stands for it where there is no colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Held => "✓",
            Self::Broken => "✗",
            Self::Untested => "·",
        }
    }
}

impl Report {
    /// What was found of each sentence of the specification.
    pub fn sentences(&self) -> Vec<Sentence> {
        let outcomes = self.records.iter().map(|record| (record.id, record.outcome));
        let outcomes: HashMap<_, _> = outcomes.collect();
        sentences(|id| outcomes.get(id).copied())
    }
}

/// Every sentence, in the order of the text. `outcome` is that of a selected scenario.
pub fn sentences(outcome: impl Fn(&str) -> Option<Outcome>) -> Vec<Sentence> {
    let mut section = "";
    let mut sentences = Vec::new();
    for piece in spec::pieces() {
        match piece {
            Piece::Text(text) => {
                let mut headings = text.lines().filter(|line| line.starts_with("##"));
                section = headings
                    .next_back()
                    .map_or(section, |line| line.trim_start_matches(['#', ' ']));
            }
            Piece::Quote(quote) => sentences.push(sentence(quote, section, &outcome)),
        }
    }
    sentences
}

fn sentence(
    quote: &'static Quote,
    section: &'static str,
    outcome: impl Fn(&str) -> Option<Outcome>,
) -> Sentence {
    let rules = quote.clauses.iter().filter(|clause| clause.reason.is_none());
    let proofs = rules.flat_map(|clause| &clause.rules).flat_map(|rule| core_proofs(rule));
    let scenarios: BTreeMap<_, _> =
        proofs.filter_map(|scenario| Some((scenario.id, outcome(scenario.id)?))).collect();
    let any = |these: &[Outcome]| scenarios.values().any(|outcome| these.contains(outcome));
    let state = if any(&[Outcome::Failed, Outcome::Error, Outcome::Known]) {
        State::Broken
    } else if scenarios.is_empty() || any(&[Outcome::Skipped, Outcome::Blocked]) {
        State::Untested
    } else {
        State::Held
    };
    Sentence { id: &quote.id, section, text: &quote.text, state, scenarios }
}

/// The sections of which a scenario was selected and none came to a verdict.
pub fn untested_sections(sentences: &[Sentence]) -> Vec<&'static str> {
    let mut sections: Vec<(&str, bool, bool)> = Vec::new();
    for Sentence { section, scenarios, .. } in sentences {
        let tested =
            scenarios.values().any(|it| !matches!(it, Outcome::Skipped | Outcome::Blocked));
        match sections.iter_mut().find(|(name, ..)| name == section) {
            Some((_, selected, is_tested)) => {
                *selected |= !scenarios.is_empty();
                *is_tested |= tested;
            }
            None => sections.push((section, !scenarios.is_empty(), tested)),
        }
    }
    let untested = sections.into_iter().filter(|(_, selected, tested)| *selected && !tested);
    untested.map(|(section, ..)| section).collect()
}
