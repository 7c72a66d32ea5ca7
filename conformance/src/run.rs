//! Carries scenarios out: several at once, in a random order that can be had
//! again, each apart from the others, and nothing left behind.

mod at_work;
mod mark;
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

pub use self::at_work::AtWork;
pub use self::mark::Mark;
pub use self::one::one;
use crate::known::KnownFailures;
use crate::probe::doubt;
use crate::report::{Record, Report, Totals, Untestable, Verdict};
use crate::selection::Selection;
use crate::{Scenario, Target};

/// A run to be carried out.
pub struct Run {
    target: Arc<Target>,
    selection: Selection,
    jobs: NonZeroUsize,
    seed: u64,
    deadline: Duration,
    known: KnownFailures,
    mark: Mark,
    at_work: AtWork,
    untestable: Vec<Untestable>,
    sceptical: bool,
}

impl Run {
    /// How many scenarios run at once unless told otherwise.
    pub const JOBS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
    /// How long one scenario may take unless told otherwise.
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
            mark: Mark::new(jiff::Timestamp::now()),
            at_work: AtWork::default(),
            untestable: Vec::new(),
            sceptical: false,
        }
    }

    /// How many scenarios run at once.
    #[must_use]
    pub fn jobs(self, jobs: NonZeroUsize) -> Self {
        Self { jobs, ..self }
    }

    /// What the order is made from.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How long one scenario may take, before it is stretched.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Which failures are known, and so do not count.
    #[must_use]
    pub fn known(self, known: KnownFailures) -> Self {
        Self { known, ..self }
    }

    /// What is known not to be testable, for the report.
    #[must_use]
    pub fn untestable(self, untestable: Vec<Untestable>) -> Self {
        Self { untestable, ..self }
    }

    /// Looks first whether the target tells a good request from a bad one. Where it
    /// does not, no scenario passes: it comes to no verdict.
    #[must_use]
    pub fn sceptical(self) -> Self {
        Self { sceptical: true, ..self }
    }

    /// What is being done, for whoever shows it while the run goes on.
    pub fn at_work(&self) -> AtWork {
        self.at_work.clone()
    }

    /// What stands in the names of all it makes.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The report as it is before anything has run.
    pub fn opening(&self) -> Report {
        Report {
            format: 2,
            suite: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            target: self.target.base_url().to_owned(),
            profiles: self.selection.profiles.clone(),
            filters: self.selection.filters.clone(),
            seed: self.seed,
            run_id: self.mark.to_string(),
            started_at: now(),
            duration_ms: 0,
            verdict: Verdict::Unfinished,
            verdicts: Vec::new(),
            problem: None,
            untestable: self.untestable.clone(),
            notes: Vec::new(),
            flags: self.target.config.flags(),
            known: self.known.clone(),
            totals: Totals::default(),
            records: Vec::new(),
        }
    }

    /// Runs everything and tells of each record as it comes, together with the
    /// report so far. Once `stop` is done no scenario is begun, those at work
    /// are given up, and what they made is deleted all the same.
    pub async fn carry_out(
        self,
        stop: impl Future<Output = ()>,
        mut told: impl FnMut(&Record, &Report),
    ) -> Report {
        let begun = Instant::now();
        let mut report = self.opening();
        let place = |id: &str| self.selection.scenarios.iter().position(|one| one.id == id);
        let (stopping, heard) = watch::channel(false);
        let mut records = pin!(
            futures::stream::iter(self.order().into_iter().enumerate())
                .map(|(n, scenario)| self.one(n, scenario, heard.clone()))
                .buffer_unordered(self.jobs.get())
        );
        let mut stop = pin!(stop);
        let mut stopped = false;
        let doubt = if self.sceptical { doubt(&self.target).await } else { None };
        let doubt = doubt.map(|reason| self.target.secrets.blank(reason));
        loop {
            let record = tokio::select! {
                record = records.next() => record,
                () = &mut stop, if !stopped => {
                    stopped = true;
                    stopping.send_replace(true);
                    continue;
                }
            };
            let Some(record) = record else { break };
            let record = match &doubt {
                Some(reason) => record.doubted(reason),
                None => record,
            };
            let at = report.add(record, |id| place(id).unwrap_or(usize::MAX));
            report.took(begun.elapsed());
            told(&report.records[at], &report);
        }
        report.took(begun.elapsed());
        report.close(stopped.then(|| "the run was stopped before its end".to_owned()));
        report
    }

    async fn one(
        &self,
        n: usize,
        scenario: &'static Scenario,
        stopping: watch::Receiver<bool>,
    ) -> Record {
        if *stopping.borrow() {
            return Record::skipped(scenario, "the run was stopped before its turn");
        }
        let tag = format!("{}-{n}", self.mark);
        let deadline = self.target.stretched(self.deadline);
        let _at_work = self.at_work.begin(scenario.id);
        one(&self.target, scenario, &tag, deadline, heard(stopping)).await
    }

    fn order(&self) -> Vec<&'static Scenario> {
        let mut scenarios = self.selection.scenarios.clone();
        scenarios.shuffle(&mut rand::rngs::StdRng::seed_from_u64(self.seed));
        scenarios
    }
}

/// Done once the run is to stop; never, if it can no longer be told to.
async fn heard(mut stopping: watch::Receiver<bool>) {
    if stopping.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
