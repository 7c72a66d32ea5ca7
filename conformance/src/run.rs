//! Runs scenarios: several at once, in a random order that a seed repeats, each isolated from the
//! others, and with everything deleted that they created.

mod active;
mod one;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use tokio::sync::watch;

pub use self::active::Active;
pub use self::one::one;
use crate::known::KnownFailures;
use crate::probe::indiscriminate;
use crate::report::{Record, Report, Totals, Verdict};
use crate::run_id::RunId;
use crate::selection::Selection;
use crate::target::Blocked;
use crate::{Scenario, Target};

/// A run that has not begun.
pub struct Run {
    target: Arc<Target>,
    selection: Selection,
    jobs: NonZeroUsize,
    seed: u64,
    deadline: Duration,
    known: KnownFailures,
    run_id: RunId,
    active: Active,
    blocked: Vec<Blocked>,
    check_sanity: bool,
    fail_fast: bool,
}

impl Run {
    /// How many scenarios run at once by default.
    pub const JOBS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
    /// How long one scenario may take by default.
    pub const DEADLINE: Duration = Duration::from_secs(60);

    /// A run of these scenarios with a seed of its own.
    pub fn new(target: Arc<Target>, selection: Selection) -> Self {
        Self {
            target,
            selection,
            jobs: Self::JOBS,
            seed: u64::from(rand::random::<u32>()),
            deadline: Self::DEADLINE,
            known: KnownFailures::default(),
            run_id: RunId::new(jiff::Timestamp::now()),
            active: Active::default(),
            blocked: Vec::new(),
            check_sanity: false,
            fail_fast: false,
        }
    }

    /// How many scenarios run at once.
    #[must_use]
    pub fn jobs(self, jobs: NonZeroUsize) -> Self {
        Self { jobs, ..self }
    }

    /// The seed of the order.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How long one scenario may take, before scaling.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Which failures are known, and so do not count.
    #[must_use]
    pub fn known(self, known: KnownFailures) -> Self {
        Self { known, ..self }
    }

    /// What the preflight found not to be testable, for the report.
    #[must_use]
    pub fn blocked(self, blocked: Vec<Blocked>) -> Self {
        Self { blocked, ..self }
    }

    /// Checks first whether the target tells a valid request from an invalid one. If it does not,
    /// no scenario passes: it ends with an error.
    #[must_use]
    pub fn check_sanity(self) -> Self {
        Self { check_sanity: true, ..self }
    }

    /// Starts no further scenario after the first failure.
    #[must_use]
    pub fn fail_fast(self) -> Self {
        Self { fail_fast: true, ..self }
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
        Report {
            format: 2,
            suite: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            target: self.target.base_url().to_owned(),
            profiles: self.selection.profiles.clone(),
            filters: self.selection.filters.clone(),
            excluded: self.selection.excluded.clone(),
            seed: self.seed,
            run_id: self.run_id.to_string(),
            started_at: now(),
            duration_ms: 0,
            verdict: Verdict::Unfinished,
            verdicts: Vec::new(),
            problem: None,
            blocked: self.blocked.clone(),
            notes: Vec::new(),
            flags: self.target.config.flags(),
            known: self.known.clone(),
            totals: Totals::default(),
            records: Vec::new(),
        }
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
        let mut report = self.opening();
        let place = |id: &str| self.selection.scenarios.iter().position(|one| one.id == id);
        let (phase, current) = watch::channel(Phase::Running);
        let mut records = pin!(
            futures::stream::iter(self.order().into_iter().enumerate())
                .map(|(n, scenario)| self.one(n, scenario, current.clone()))
                .buffer_unordered(self.jobs.get())
        );
        let mut stop = pin!(stop);
        let indiscriminate_target =
            if self.check_sanity { indiscriminate(&self.target).await } else { None };
        let indiscriminate_target =
            indiscriminate_target.map(|reason| self.target.secrets.redact(reason));
        loop {
            let record = tokio::select! {
                record = records.next() => record,
                () = &mut stop, if *current.borrow() != Phase::Stopping => {
                    phase.send_replace(Phase::Stopping);
                    continue;
                }
            };
            let Some(record) = record else { break };
            let record = match &indiscriminate_target {
                Some(reason) => record.blocked_by(reason),
                None => record,
            };
            let at = report.add(record, |id| place(id).unwrap_or(usize::MAX));
            let record = &report.records[at];
            if self.fail_fast && record.outcome.is_bad() && *current.borrow() == Phase::Running {
                phase.send_replace(Phase::Draining);
                report.notes.push(format!("stopped after {} failed (--fail-fast)", record.id));
            }
            report.took(begun.elapsed());
            on_record(&report.records[at], &report);
        }
        report.took(begun.elapsed());
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
        let _active = self.active.begin(scenario.id);
        one(&self.target, scenario, &tag, deadline, stopping(current)).await
    }

    fn order(&self) -> Vec<&'static Scenario> {
        let mut scenarios = self.selection.scenarios.clone();
        scenarios.shuffle(&mut rand::rngs::StdRng::seed_from_u64(self.seed));
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

fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
