//! Runs scenarios: several at once, in a random order that a seed repeats, each isolated from the
//! others, and with everything deleted that they created.

mod one;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use rand::SeedableRng;
use rand::seq::SliceRandom;

pub use self::one::one;
use crate::probe::indiscriminate;
use crate::report::{Record, Report, whole_ms};
use crate::run_id::RunId;
use crate::selection::Selection;
use crate::{Scenario, Target};

/// A run that has not begun.
pub struct Run {
    target: Arc<Target>,
    selection: Selection,
    run_id: RunId,
    /// How many scenarios run at once.
    pub jobs: NonZeroUsize,
    /// How long one scenario may take, before scaling.
    pub deadline: Duration,
    /// Whether scenarios that pass end with an error if the target answers bad requests as good
    /// ones.
    pub check_sanity: bool,
    /// Whether no further scenario is started after the first failure.
    pub fail_fast: bool,
    /// The report before anything has run, with the seed of the order and the known failures.
    pub report: Report,
}

impl Run {
    /// How many scenarios run at once by default.
    pub const JOBS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
    /// How long one scenario may take by default.
    pub const DEADLINE: Duration = Duration::from_secs(60);

    /// A run of these scenarios with a seed of its own.
    pub fn new(target: Arc<Target>, selection: Selection) -> Self {
        let now = jiff::Timestamp::now();
        let run_id = RunId::new(now);
        let report = Report {
            format: 4,
            suite: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            target: target.base_url().to_owned(),
            filters: selection.filters.clone(),
            excluded: selection.excluded.clone(),
            seed: u64::from(rand::random::<u32>()),
            run_id: run_id.to_string(),
            started_at: now.to_string(),
            flags: target.config.flags(),
            ..Report::default()
        };
        Self {
            target,
            selection,
            jobs: Self::JOBS,
            deadline: Self::DEADLINE,
            run_id,
            check_sanity: false,
            fail_fast: false,
            report,
        }
    }

    /// What is in the names of all it creates.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Runs all scenarios and calls `on_record` with each record and the report so far. Once
    /// `stop` is done no scenario is started, those that run are cancelled, and what they
    /// created is deleted all the same.
    pub async fn run(
        self,
        stop: impl Future<Output = ()>,
        mut on_record: impl FnMut(&Record, &Report),
    ) -> Report {
        let begun = Instant::now();
        let mut report = self.report.clone();
        report.started_at = format!("{:.3}", jiff::Timestamp::now());
        let place = |id: &str| self.selection.scenarios.iter().position(|one| one.id == id);
        let (has_failed, stop) = (AtomicBool::new(false), stop.shared());
        let (last, others): (Vec<_>, Vec<_>) =
            self.order().into_iter().enumerate().partition(|(_, scenario)| scenario.last);
        let start = |(n, scenario)| self.one(n, scenario, &has_failed, stop.clone());
        let together = futures::stream::iter(others).map(start).buffer_unordered(self.jobs.get());
        let alone = futures::stream::iter(last).then(start);
        let mut records = pin!(together.chain(alone));
        let meaningless = if self.check_sanity { indiscriminate(&self.target).await } else { None };
        let meaningless = meaningless.map(|reason| self.target.secrets.redact(reason));
        while let Some(record) = records.next().await {
            let record = match &meaningless {
                Some(reason) => record.meaningless(reason),
                None => record,
            };
            let at = report.add(record, |id| place(id).unwrap_or(usize::MAX));
            let record = &report.records[at];
            let is_first = || !has_failed.swap(true, Ordering::Relaxed);
            if self.fail_fast && record.outcome.is_bad() && is_first() {
                report.notes.push(format!("stopped after {} failed (--fail-fast)", record.id));
            }
            report.duration_ms = whole_ms(begun.elapsed());
            on_record(&report.records[at], &report);
        }
        report.duration_ms = whole_ms(begun.elapsed());
        report.twice = self.target.given_twice();
        report.notes.extend(self.target.pace.notes(self.jobs.get()));
        report.block_where_missing(|call| self.target.implements(call));
        let stopped = stop.clone().now_or_never();
        report.close(stopped.map(|()| "the run was stopped before its end".to_owned()));
        report
    }

    async fn one(
        &self,
        n: usize,
        scenario: &'static Scenario,
        has_failed: &AtomicBool,
        stop: impl Future<Output = ()> + Clone,
    ) -> Record {
        if stop.clone().now_or_never().is_some() {
            return Record::skipped(scenario, "the run was stopped before its turn");
        }
        if has_failed.load(Ordering::Relaxed) {
            return Record::skipped(scenario, "another scenario had failed");
        }
        let tag = format!("{}-{n}", self.run_id);
        let deadline = self.target.scaled(self.deadline);
        one(&self.target, scenario, &tag, deadline, stop).await
    }

    fn order(&self) -> Vec<&'static Scenario> {
        let mut scenarios = self.selection.scenarios.clone();
        scenarios.shuffle(&mut rand::rngs::StdRng::seed_from_u64(self.report.seed));
        scenarios
    }
}
