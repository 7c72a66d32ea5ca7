//! The result of one scenario.

use serde::{Deserialize, Serialize};
use strum::AsRefStr;

use crate::exchange::Exchange;
use crate::known::{KnownFailure, KnownFailures};
use crate::rules::{self, Rule};
use crate::trace::Step;
use crate::{Scenario, Verdict};

#[derive(Clone, Debug, Default, Serialize)]
pub struct Record {
    pub id: &'static str,
    pub source: &'static str,
    pub title: &'static str,
    pub rules: Vec<Rule>,
    pub outcome: Outcome,
    pub reason: Option<String>,
    /// The call that it failed at, such as `POST /vaults`.
    pub call: Option<String>,
    pub expected: Option<String>,
    pub got: Option<String>,
    pub exchange: Option<Exchange>,
    /// What a scenario did that did not pass, or any under `--trace`, oldest first.
    pub steps: Vec<Step>,
    /// The command that runs it alone, if there is something to look into.
    pub command: Option<String>,
    pub known: Option<KnownFailure>,
    /// What the scenario made and could not delete. It changes no outcome, for
    /// a target that cannot delete has scenarios of its own that say so.
    pub left_behind: Option<String>,
    /// How long it took, cleaning up included.
    pub duration_ms: u64,
}

impl Record {
    pub(crate) fn new(scenario: &Scenario, outcome: Outcome) -> Self {
        let text = "(no such rule in docs/reference/api.md)";
        let rule = |id: &&'static str| rules::find(id).unwrap_or(Rule { id, text, sentences: &[] });
        Self {
            id: scenario.id,
            source: scenario.source,
            title: scenario.title,
            rules: scenario.rules.iter().map(rule).collect(),
            outcome,
            ..Self::default()
        }
    }

    /// That it passed means nothing on a target that gives everybody the same answer.
    pub(crate) fn meaningless(self, reason: &str) -> Self {
        if self.outcome != Outcome::Passed {
            return self;
        }
        Self {
            outcome: Outcome::Error,
            call: Some("the check before the run".into()),
            expected: Some("a target that tells a good request from a bad one".into()),
            got: Some(reason.to_owned()),
            ..self
        }
    }

    /// The record, as the list of known failures makes it count.
    pub(crate) fn judged(self, known: &KnownFailures) -> Self {
        let Some(entry) = known.entries.get(self.id) else { return self };
        let known = Some(entry.clone());
        match self.outcome {
            outcome if outcome.is_bad() && !entry.expired => {
                Self { outcome: Outcome::Known, known, ..self }
            }
            Outcome::Passed => Self {
                outcome: Outcome::Failed,
                call: Some("the list of known failures".into()),
                expected: Some(format!("a failure, as {} lists it as known", entry.place)),
                got: Some("the scenario passed; remove the entry from the list".to_owned()),
                known,
                ..self
            },
            _ => Self { known, ..self },
        }
    }

    pub(crate) fn skipped(scenario: &Scenario, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(scenario, Outcome::Skipped) }
    }

    /// What was expected and received; empty where there is nothing to say.
    pub(super) fn values(&self) -> (&str, &str) {
        let [expected, got] = [&self.expected, &self.got].map(Option::as_deref);
        (expected.unwrap_or_default(), got.unwrap_or_default())
    }

    /// Why it was skipped, or what the list of known failures says.
    pub(super) fn why(&self) -> String {
        match (&self.known, &self.reason) {
            (Some(known), _) if self.outcome == Outcome::Known => known.to_string(),
            (_, Some(reason)) => reason.clone(),
            _ => "without a reason".to_owned(),
        }
    }

    /// What every format shows of a failure beside its rules and exchanges, each with its name.
    pub(super) fn facts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let facts = [
            ("blocked by", self.call.clone().filter(|_| self.outcome == Outcome::Blocked)),
            ("expected", self.expected.clone()),
            ("got", self.got.clone()),
            ("known", self.known.as_ref().map(ToString::to_string)),
            ("left behind", self.left_behind.clone()),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// The first part of its id, such as `prompts`.
    pub fn chapter(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, AsRefStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    /// The target failed a step that only prepares what the scenario looks at, or lacks the call
    /// that it looks at. Counts against the target.
    Blocked,
    #[default]
    Skipped,
    /// It ran and had no result. Counts against the target.
    Error,
    /// It failed or had no result, as the list says, and does not count against the target.
    Known,
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Failed => Self::Failed,
            Verdict::Error => Self::Error,
            Verdict::Blocked => Self::Blocked,
            Verdict::Skipped => Self::Skipped,
        }
    }
}

impl Outcome {
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Error | Self::Blocked)
    }
}
