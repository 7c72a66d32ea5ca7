//! Carries scenarios out: several at once, in a random order that can be had
//! again, each apart from the others, and nothing left behind.

mod one;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use tokio::sync::watch;

pub use self::one::one;
use crate::report::{Record, Report, Totals, Verdict};
use crate::selection::Selection;
use crate::{Scenario, Target};

/// A run to be carried out.
pub struct Run {
    target: Arc<Target>,
    selection: Selection,
    jobs: NonZeroUsize,
    seed: u64,
    deadline: Duration,
    id: String,
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
            id: run_id(),
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

    /// How long one scenario may take.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The report as it is before anything has run.
    pub fn opening(&self) -> Report {
        Report {
            format: 1,
            suite: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            target: self.target.base_url().to_owned(),
            profile: self.selection.profile,
            filters: self.selection.filters.clone(),
            seed: self.seed,
            run_id: self.id.clone(),
            started_at: now(),
            duration_ms: 0,
            verdict: Verdict::Unfinished,
            problem: None,
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
            let shown = record.clone();
            report.add(record, |id| place(id).unwrap_or(usize::MAX));
            report.took(begun.elapsed());
            told(&shown, &report);
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
        let tag = format!("{}-{n}", self.id);
        one(&self.target, scenario, &tag, self.deadline, heard(stopping)).await
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

/// Short, so that it leaves room in a name of 50 characters, and random, so
/// that two runs on one target do not meet.
fn run_id() -> String {
    const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut rng = rand::rng();
    (0..6).map(|_| char::from(SIGNS[rng.random_range(0..SIGNS.len())])).collect()
}

fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
