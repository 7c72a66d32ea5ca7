//! What a run found of each sentence of the specification.

use std::collections::BTreeMap;

use serde::Serialize;
use strum::AsRefStr;

use super::{Outcome, Report};
use crate::coverage::proofs;
use crate::spec::{self, Quote};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, AsRefStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Every selected scenario of it passed.
    Held,
    /// One failed or had no result, known or not.
    Broken,
    /// None was selected, or some were skipped or blocked, or no scenario can prove it.
    Untested,
}

/// A sentence, a paragraph or a table row, with the scenarios of the core that prove it.
#[derive(Clone, Debug, Serialize)]
pub struct Sentence {
    pub id: &'static str,
    pub section: &'static str,
    pub text: &'static str,
    /// The text between the sentence before and this one.
    #[serde(skip)]
    pub before: &'static str,
    pub state: State,
    pub scenarios: BTreeMap<&'static str, Outcome>,
}

impl State {
    /// The sign of it where there is no colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Held => "✓",
            Self::Broken => "✗",
            Self::Untested => "·",
        }
    }
}

impl Report {
    pub fn sentences(&self) -> Vec<Sentence> {
        sentences(|id| self.outcome(id))
    }
}

/// Every sentence, in the order of the text. `outcome` is that of a selected scenario.
pub fn sentences(outcome: impl Fn(&str) -> Option<Outcome>) -> Vec<Sentence> {
    let (mut rest, mut section) = (spec::TEXT, "");
    let sentence = |quote: &'static Quote| {
        let (before, after) = rest.split_once(quote.text.as_str()).unwrap_or(("", rest));
        let heading = before.lines().rfind(|line| line.starts_with("##"));
        section = heading.map_or(section, |line| line.trim_start_matches(['#', ' ']));
        rest = after;
        let rules = quote.clauses.iter().filter(|clause| clause.reason.is_none());
        let proofs = rules.flat_map(|clause| &clause.rules).flat_map(|rule| proofs(rule));
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
        Sentence { id: &quote.id, section, text: &quote.text, before, state, scenarios }
    };
    spec::spec().quotes.iter().map(sentence).collect()
}

/// The sections with selected scenarios of which none has a result.
pub fn untested_sections(sentences: &[Sentence]) -> Vec<&'static str> {
    let is_result = |it: &Outcome| !matches!(it, Outcome::Skipped | Outcome::Blocked);
    let selected = sentences.iter().filter(|one| !one.scenarios.is_empty());
    let (tested, others): (Vec<_>, Vec<_>) =
        selected.partition(|one| one.scenarios.values().any(is_result));
    let mut sections: Vec<_> = others.iter().map(|one| one.section).collect();
    sections.dedup();
    sections.retain(|name| !name.is_empty() && tested.iter().all(|one| one.section != *name));
    sections
}
