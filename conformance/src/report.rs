//! What a run found, in one record that every format is written from.

mod files;
pub mod json;
pub mod text;

use std::time::Duration;

use serde::Serialize;

pub use self::files::{Format, Output, Outputs};
use crate::rules::Rule;
use crate::wire::Exchange;
use crate::{Profile, Scenario};

/// What one scenario came to.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The scenario's id.
    pub id: &'static str,
    /// The fact in one sentence.
    pub title: &'static str,
    /// The rules it proves, with their texts.
    pub rules: Vec<Rule>,
    /// Its profile.
    pub profile: Profile,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// What a rule asks for.
    pub expected: Option<String>,
    /// What was seen.
    pub got: Option<String>,
    /// The request and reply that show it.
    pub exchange: Option<Exchange>,
    /// What the scenario made and could not delete. It changes no outcome, for
    /// a target that cannot delete has scenarios of its own that say so.
    pub left_behind: Option<String>,
    /// How long it took, cleaning up included.
    pub duration_ms: u64,
}

impl Record {
    pub(crate) fn new(scenario: &Scenario, outcome: Outcome) -> Self {
        let unknown = |id| Rule { id, text: "(no such rule in docs/api.md)" };
        let rule = |id: &&'static str| crate::rules::find(id).unwrap_or_else(|| unknown(id));
        Self {
            id: scenario.id,
            title: scenario.title,
            rules: scenario.rules.iter().map(rule).collect(),
            profile: scenario.profile,
            outcome,
            reason: None,
            expected: None,
            got: None,
            exchange: None,
            left_behind: None,
            duration_ms: 0,
        }
    }

    pub(crate) fn skipped(scenario: &Scenario, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(scenario, Outcome::Skipped) }
    }
}

/// What came of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The target did what the rules ask for.
    Passed,
    /// It did not.
    Failed,
    /// The scenario did not run.
    Skipped,
    /// It ran and came to no verdict. Counts against the target.
    Error,
}

/// What the whole run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every scenario passed, or only scenarios beyond the core were skipped.
    Passed,
    /// At least one failed or came to no verdict.
    Failed,
    /// None failed, and a core scenario did not run.
    Partial,
    /// The run did not come to its end.
    Unfinished,
}

/// How many scenarios came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// All that were selected and have a record.
    pub scenarios: usize,
    /// The target did what the rules ask for.
    pub passed: usize,
    /// It did not.
    pub failed: usize,
    /// Did not run.
    pub skipped: usize,
    /// Came to no verdict.
    pub errors: usize,
    /// Could not delete all they made.
    pub left_behind: usize,
}

/// A run and everything it found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The form of this record; it grows when a field changes its meaning.
    pub format: u32,
    /// The program and its version.
    pub suite: String,
    /// The API root that was asked.
    pub target: String,
    /// The profile that was asked for.
    pub profile: Profile,
    /// The filters that were given; none means every scenario of the profile.
    pub filters: Vec<String>,
    /// The number the order was made from.
    pub seed: u64,
    /// The mark in the names of everything the run made.
    pub run_id: String,
    /// When it began (RFC 3339, UTC).
    pub started_at: String,
    /// How long it took so far.
    pub duration_ms: u64,
    /// What it came to.
    pub verdict: Verdict,
    /// What kept the run from its end.
    pub problem: Option<String>,
    /// How many scenarios came to what.
    pub totals: Totals,
    /// One record a scenario, in the order of the list.
    pub records: Vec<Record>,
}

impl Report {
    /// Takes a record on, in its place.
    pub(crate) fn add(&mut self, record: Record, place: impl Fn(&str) -> usize) {
        let at = self.records.partition_point(|other| place(other.id) < place(record.id));
        self.records.insert(at, record);
        self.totals = Totals::of(&self.records);
    }

    /// Ends the run: nothing is added any more.
    pub(crate) fn close(&mut self, problem: Option<String>) {
        self.verdict = self.judge(problem.is_some());
        self.problem = problem;
    }

    pub(crate) fn took(&mut self, duration: Duration) {
        self.duration_ms = whole_ms(duration);
    }

    /// A run without a single verdict has shown nothing, so it cannot pass.
    fn judge(&self, cut_short: bool) -> Verdict {
        let core_skipped =
            |record: &Record| record.outcome == Outcome::Skipped && record.profile == Profile::Core;
        if self.totals.failed + self.totals.errors > 0 {
            Verdict::Failed
        } else if cut_short || self.totals.passed == 0 || self.records.iter().any(core_skipped) {
            Verdict::Partial
        } else {
            Verdict::Passed
        }
    }
}

impl Totals {
    fn of(records: &[Record]) -> Self {
        let count = |outcome| records.iter().filter(|record| record.outcome == outcome).count();
        Self {
            scenarios: records.len(),
            passed: count(Outcome::Passed),
            failed: count(Outcome::Failed),
            skipped: count(Outcome::Skipped),
            errors: count(Outcome::Error),
            left_behind: records.iter().filter(|record| record.left_behind.is_some()).count(),
        }
    }
}

pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
