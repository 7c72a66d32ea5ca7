//! The results of a run, in one record that every format is written from.

mod causes;
mod extracts;
mod files;
pub mod html;
pub mod junit;
pub mod markdown;
mod plain;
mod record;
pub mod sentences;
pub mod text;

use std::time::Duration;

use serde::Serialize;
use strum::AsRefStr;

pub use self::causes::Cause;
pub use self::files::{Format, Output, Outputs};
pub use self::record::{Outcome, Record};
use crate::exchange::{Exchange, quoted};
use crate::known::KnownFailures;
use crate::target::{NOT_IMPLEMENTED, Untestable};

/// The result of a run; the worst is last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, AsRefStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No scenario failed but known ones, and every one ran.
    Passed,
    /// None failed, and a scenario did not run.
    Partial,
    /// At least one failed, was blocked or had no result.
    Failed,
    /// The run stopped before its end.
    #[default]
    Unfinished,
}

/// How many scenarios have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// All that were selected and have a record.
    pub scenarios: usize,
    pub passed: usize,
    pub failed: usize,
    /// Could not be tested, as a call they build on failed.
    pub blocked: usize,
    pub skipped: usize,
    pub errors: usize,
    /// Failed as the list of known failures says.
    pub known: usize,
    /// Could not delete all they made.
    pub left_behind: usize,
    #[serde(skip)]
    pub duration_ms: u64,
}

/// A run and everything it found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The version of this format; it grows when a field changes its meaning.
    pub format: u32,
    pub suite: String,
    pub target: String,
    /// The filters that were given; none means every scenario.
    pub filters: Vec<String>,
    pub excluded: Vec<String>,
    pub seed: u64,
    /// The id in the names of everything the run created.
    pub run_id: String,
    /// When it began (RFC 3339, UTC).
    pub started_at: String,
    pub duration_ms: u64,
    pub verdict: Verdict,
    /// What kept the run from its end.
    pub problem: Option<String>,
    /// What the preflight found not to be testable, and why.
    pub untestable: Vec<Untestable>,
    /// What else there is to know, such as known failures that were not selected.
    pub notes: Vec<String>,
    /// A call that gave two resources one id.
    #[serde(skip)]
    pub twice: Option<&'static str>,
    /// All other flags that are not at their defaults, ready for a shell.
    #[serde(skip)]
    pub flags: Vec<String>,
    #[serde(skip)]
    pub known: KnownFailures,
    pub totals: Totals,
    /// One record a scenario, in the order of the list.
    pub records: Vec<Record>,
}

impl Report {
    /// Adds a record and returns its place in the order of the list.
    pub(crate) fn add(&mut self, record: Record, place: impl Fn(&str) -> usize) -> usize {
        let mut record = record.judged(&self.known);
        if record.outcome.is_bad() || record.outcome == Outcome::Known {
            let mut words = self.words(vec![format!("--filter {}", record.id)]);
            // Where the request cannot be sent again, the way to look is to run the scenario so.
            if record.exchange.as_ref().is_some_and(|exchange| exchange.curl.is_none()) {
                words.push("--keep --trace".to_owned());
            }
            record.command = Some(words.join(" "));
        }
        let at = self.records.partition_point(|other| place(other.id) < place(record.id));
        self.insert(at, record);
        at
    }

    /// Adds what another copy of this report has at this place.
    fn insert(&mut self, at: usize, record: Record) {
        self.totals.count(&record);
        self.records.insert(at.min(self.records.len()), record);
    }

    /// Marks as blocked what failed only because the target lacks the call.
    pub(crate) fn block_where_missing(&mut self, implements: impl Fn(&str) -> bool) {
        for record in self.records.iter_mut().filter(|one| one.outcome == Outcome::Failed) {
            let status = record.exchange.as_ref().and_then(Exchange::status);
            let missing = NOT_IMPLEMENTED.iter().any(|code| Some(&*code.to_string()) == status);
            if missing && record.call.as_ref().is_some_and(|call| !implements(call)) {
                record.outcome = Outcome::Blocked;
            }
        }
        self.totals = Totals::of(&self.records);
    }

    /// Ends the run: nothing is added any more.
    pub(crate) fn close(&mut self, problem: Option<String>) {
        self.verdict = self.judge(problem.is_some());
        self.problem = problem;
        for (id, entry) in &self.known.entries {
            let what = match self.outcome(id) {
                None => "was not selected",
                Some(Outcome::Skipped) => "was skipped",
                Some(_) => continue,
            };
            self.notes.push(format!("{}: {id} is a known failure and {what}", entry.place));
        }
    }

    /// The command that runs the same scenarios in the same order.
    pub fn command(&self) -> String {
        let filters = self.filters.iter().map(|pattern| ("--filter", pattern));
        let excluded = self.excluded.iter().map(|pattern| ("--exclude", pattern));
        let patterns = filters.chain(excluded).map(|(flag, pattern)| match pattern.contains(' ') {
            true => format!("{flag} {}", quoted(pattern)),
            false => format!("{flag} {pattern}"),
        });
        let mut words = self.words(patterns.collect());
        let known = self.known.file.iter();
        words.extend(known.map(|file| format!("--known-failures {}", quoted(file))));
        words.join(" ")
    }

    /// The words of a command that runs these scenarios. Keys come from the environment.
    fn words(&self, patterns: Vec<String>) -> Vec<String> {
        let run = format!("promptarium-conformance run --base-url {}", quoted(&self.target));
        [vec![run], patterns, vec![format!("--seed {}", self.seed)], self.flags.clone()].concat()
    }

    pub(crate) fn outcome(&self, id: &str) -> Option<Outcome> {
        self.records.iter().find(|record| record.id == id).map(|record| record.outcome)
    }

    /// The records with one of these outcomes, in the order of the list.
    pub fn with(&self, outcomes: &[Outcome]) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| outcomes.contains(&record.outcome))
    }

    /// A run without a single result has shown nothing, so it cannot pass.
    fn judge(&self, cut_short: bool) -> Verdict {
        let Totals { passed, failed, blocked, errors, known, skipped, .. } = self.totals;
        match failed + errors + blocked {
            0 if cut_short || passed + known == 0 || skipped > 0 => Verdict::Partial,
            0 => Verdict::Passed,
            _ => Verdict::Failed,
        }
    }
}

impl Totals {
    fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut totals = Self::default();
        records.into_iter().for_each(|record| totals.count(record));
        totals
    }

    /// How many scenarios have each outcome, with its word.
    fn counts(&self) -> [(usize, Outcome, &'static str); 6] {
        [
            (self.passed, Outcome::Passed, "passed"),
            (self.failed, Outcome::Failed, "failed"),
            (self.blocked, Outcome::Blocked, "blocked"),
            (self.errors, Outcome::Error, "errors"),
            (self.skipped, Outcome::Skipped, "skipped"),
            (self.known, Outcome::Known, "known to fail"),
        ]
    }

    fn count(&mut self, record: &Record) {
        self.scenarios += 1;
        self.duration_ms += record.duration_ms;
        self.left_behind += usize::from(record.left_behind.is_some());
        *match record.outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Blocked => &mut self.blocked,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Error => &mut self.errors,
            Outcome::Known => &mut self.known,
        } += 1;
    }
}

pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
