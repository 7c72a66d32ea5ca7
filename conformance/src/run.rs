//! Runs scenarios: several at once, in a random order that a seed repeats, each isolated from the
//! others, and with everything deleted that they created.

mod one;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use tokio::sync::watch;

pub use self::one::one;
use crate::known::KnownFailures;
use crate::probe::indiscriminate;
use crate::report::{Record, Report, Totals, Verdict, whole_ms};
use crate::run_id::RunId;
use crate::selection::Selection;
use crate::target::Untestable;
use crate::{Scenario, Target};

/// A run that has not begun.
pub struct Run {
    target: Arc<Target>,
    selection: Selection,
    jobs: NonZeroUsize,
    deadline: Duration,
    run_id: RunId,
    active: Active,
    check_sanity: bool,
    fail_fast: bool,
    report: Report,
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
            format: 3,
            suite: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            target: target.base_url().to_owned(),
            profiles: selection.profiles.clone(),
            filters: selection.filters.clone(),
            excluded: selection.excluded.clone(),
            seed: u64::from(rand::random::<u32>()),
            run_id: run_id.to_string(),
            started_at: now.to_string(),
            duration_ms: 0,
            verdict: Verdict::Unfinished,
            verdicts: Vec::new(),
            problem: None,
            untestable: Vec::new(),
            notes: Vec::new(),
            flags: target.config.flags(),
            known: KnownFailures::default(),
            totals: Totals::default(),
            records: Vec::new(),
        };
        Self {
            target,
            selection,
            jobs: Self::JOBS,
            deadline: Self::DEADLINE,
            run_id,
            active: Active::default(),
            check_sanity: false,
            fail_fast: false,
            report,
        }
    }

    /// How many scenarios run at once.
    #[must_use]
    pub fn jobs(self, jobs: NonZeroUsize) -> Self {
        Self { jobs, ..self }
    }

    /// The seed of the order.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.report.seed = seed;
        self
    }

    /// How long one scenario may take, before scaling.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Which failures are known, and so do not count.
    #[must_use]
    pub fn known(mut self, known: KnownFailures) -> Self {
        self.report.known = known;
        self
    }

    /// What the preflight found not to be testable, for the report.
    #[must_use]
    pub fn untestable(mut self, untestable: Vec<Untestable>) -> Self {
        self.report.untestable = untestable;
        self
    }

    /// Checks first whether the target tells a valid request from an invalid one. If it does not,
    /// no scenario passes: it ends with an error.
    #[must_use]
    pub fn check_sanity(self) -> Self {
        Self { check_sanity: true, ..self }
    }

    /// With `true`, starts no further scenario after the first failure.
    #[must_use]
    pub fn fail_fast(self, fail_fast: bool) -> Self {
        Self { fail_fast, ..self }
    }

    /// The scenarios that run at the moment, for a progress display.
    pub fn active(&self) -> Active {
        self.active.clone()
    }

    /// What is in the names of all it creates.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The report before anything has run.
    pub fn opening(&self) -> Report {
        self.report.clone()
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
        let (phase, current) = watch::channel(Phase::Running);
        let mut records = pin!(
            futures::stream::iter(self.order().into_iter().enumerate())
                .map(|(n, scenario)| self.one(n, scenario, current.clone()))
                .buffer_unordered(self.jobs.get())
        );
        let mut stop = pin!(stop);
        let meaningless = if self.check_sanity { indiscriminate(&self.target).await } else { None };
        let meaningless = meaningless.map(|reason| self.target.secrets.redact(reason));
        loop {
            let record = tokio::select! {
                record = records.next() => record,
                () = &mut stop, if *current.borrow() != Phase::Stopping => {
                    phase.send_replace(Phase::Stopping);
                    continue;
                }
            };
            let Some(record) = record else { break };
            let record = match &meaningless {
                Some(reason) => record.meaningless(reason),
                None => record,
            };
            let at = report.add(record, |id| place(id).unwrap_or(usize::MAX));
            let record = &report.records[at];
            if self.fail_fast && record.outcome.is_bad() && *current.borrow() == Phase::Running {
                phase.send_replace(Phase::Draining);
                report.notes.push(format!("stopped after {} failed (--fail-fast)", record.id));
            }
            report.duration_ms = whole_ms(begun.elapsed());
            on_record(&report.records[at], &report);
        }
        report.duration_ms = whole_ms(begun.elapsed());
        report.block_where_missing(|call| self.target.implements(call));
        let stopped = *current.borrow() == Phase::Stopping;
        report.close(stopped.then(|| "the run was stopped before its end".to_owned()));
        report
    }

    async fn one(
        &self,
        n: usize,
        scenario: &'static Scenario,
        current: watch::Receiver<Phase>,
    ) -> Record {
        let phase = *current.borrow();
        match phase {
            Phase::Running => {}
            Phase::Draining => return Record::skipped(scenario, "another scenario had failed"),
            Phase::Stopping => {
                return Record::skipped(scenario, "the run was stopped before its turn");
            }
        }
        let tag = format!("{}-{n}", self.run_id);
        let deadline = self.target.scaled(self.deadline);
        self.active.begin(scenario.id);
        let record = one(&self.target, scenario, &tag, deadline, stopping(current)).await;
        self.active.end(scenario.id);
        record
    }

    fn order(&self) -> Vec<&'static Scenario> {
        let mut scenarios = self.selection.scenarios.clone();
        scenarios.shuffle(&mut rand::rngs::StdRng::seed_from_u64(self.report.seed));
        scenarios
    }
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// No scenario is started any more; those that run may end.
    Draining,
    /// Scenarios that run are cancelled.
    Stopping,
}

/// Done once the run is stopping.
async fn stopping(mut current: watch::Receiver<Phase>) {
    if current.wait_for(|phase| *phase == Phase::Stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The scenarios of a run that have begun and not ended, oldest first. A clone sees the same.
#[derive(Clone, Debug, Default)]
pub struct Active(Arc<Mutex<Vec<(&'static str, Instant)>>>);

impl Active {
    /// The one that has been running for the longest time, and for how long.
    pub fn oldest(&self) -> Option<(&'static str, Duration)> {
        let oldest = self.lock().first().copied();
        oldest.map(|(id, begun)| (id, begun.elapsed()))
    }

    fn begin(&self, id: &'static str) {
        self.lock().push((id, Instant::now()));
    }

    fn end(&self, id: &str) {
        self.lock().retain(|(other, _)| *other != id);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(&'static str, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Active;

    #[test]
    fn the_oldest_is_the_first_that_has_not_ended() {
        let all = Active::default();
        let oldest = || all.oldest().map(|(id, _)| id);
        assert_eq!(oldest(), None);
        all.begin("a.b.first");
        all.begin("a.b.second");
        assert_eq!(oldest(), Some("a.b.first"));
        all.end("a.b.first");
        assert_eq!(oldest(), Some("a.b.second"));
    }
}
