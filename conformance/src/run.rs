//! Runs scenarios: several at once, in a random order that a seed repeats, each isolated from the
//! others, and with everything deleted that they created.

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use crate::failure::Result;
use crate::probe::indiscriminate;
use crate::report::{Outcome, Record, Report, whole_ms};
use crate::run_id::RunId;
use crate::selection::Selection;
use crate::trace::{self, Step};
use crate::{Case, Exchange, Failure, Scenario, Target, Verdict, lock};

/// How long cleaning up may take.
const CLEAN_UP: Duration = Duration::from_secs(60);

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
        let mut order = self.selection.scenarios.clone();
        order.shuffle(&mut rand::rngs::StdRng::seed_from_u64(self.report.seed));
        let (last, others): (Vec<_>, Vec<_>) =
            order.into_iter().enumerate().partition(|(_, scenario)| scenario.last);
        let start = |(n, scenario)| self.one(n, scenario, &has_failed, stop.clone());
        let together = futures::stream::iter(others).map(start).buffer_unordered(self.jobs.get());
        let mut records = pin!(together.chain(futures::stream::iter(last).then(start)));
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
        report.twice = self.target.twice.get().copied();
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
        one(&self.target, scenario, &tag, self.target.scaled(self.deadline), stop).await
    }
}

/// Runs `scenario` on `target`, with `tag` in the name of everything it creates, and cleans up after
/// it, whether it passes, fails, panics, takes longer than `deadline` or is cancelled by `stop`.
pub async fn one(
    target: &Arc<Target>,
    scenario: &'static Scenario,
    tag: &str,
    deadline: Duration,
    stop: impl Future<Output = ()>,
) -> Record {
    if let Some(need) = scenario.needs.iter().find(|need| !target.offers(**need)) {
        return Record::skipped(scenario, need.missing());
    }
    let begun = Instant::now();
    let case = Case::new(Arc::clone(target), tag);
    // A set aborts its task when it is dropped.
    let mut task = JoinSet::new();
    task.spawn(trace::keeping(Arc::clone(&case.ledger.steps), (scenario.run)(case.clone())));
    let stopped = || Failure::skipped("the run was stopped while the scenario ran");
    let ended = tokio::select! {
        joined = task.join_next() => match joined {
            Some(Ok(returned)) => returned,
            Some(Err(error)) => {
                Err(Failure::error("the scenario to run to its end", in_words(error)))
            }
            None => Err(stopped()),
        },
        () = passed(begun, deadline, &case) => {
            let expected = format!("the scenario to end within {} s", deadline.as_secs_f64());
            Err(Failure::error(expected, "it did not"))
        }
        () = stop => Err(stopped()),
    };
    // Nothing may be created once cleaning up has begun.
    task.shutdown().await;
    let taken = case.ledger.steps.all();
    let created: Vec<_> =
        lock(&case.ledger.created).iter().map(|it| it.resource.name().1).collect();
    let clean_up = target.scaled(CLEAN_UP);
    let left_behind = match timeout(clean_up, case.clean_up()).await {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.got),
        Err(_) => Some(format!("deleting took longer than {} s", clean_up.as_secs_f64())),
    };
    let record = record(scenario, &ended);
    let bad = record.outcome.is_bad();
    let of_failure = ended.err().and_then(|failure| failure.exchange);
    let last = of_failure.is_none();
    let exchange = of_failure.or_else(|| Some(taken.last()?.exchange.clone())).filter(|_| bad);
    // Texts and exchanges leave only redacted, which is slow, and most scenarios pass.
    let is_shown = bad || target.options().trace;
    let (secrets, base_url) = (&target.secrets, target.base_url());
    let redact = |text: String| secrets.redact(text);
    let call = exchange.as_ref().map(|exchange| exchange.request.call(base_url));
    let exchange = exchange.map(|exchange| {
        let is_gone = !target.options().keep && exchange.request.names_one_of(&created, base_url);
        let shown = exchange.redacted(secrets);
        Exchange { last, curl: shown.curl.filter(|_| !is_gone), ..shown }
    });
    let steps = taken.iter().filter(|_| is_shown).map(|step| Step::of(step, secrets, base_url));
    Record {
        call,
        expected: record.expected.map(redact),
        got: record.got.map(redact),
        reason: record.reason.map(redact),
        exchange,
        steps: steps.collect(),
        left_behind: left_behind.map(redact),
        duration_ms: whole_ms(begun.elapsed()),
        ..record
    }
}

/// Waits until a scenario has had its time; waits for its turn are none of it.
async fn passed(begun: Instant, deadline: Duration, case: &Case) {
    loop {
        let left = (deadline + case.ledger.waited()).saturating_sub(begun.elapsed());
        if left.is_zero() {
            return;
        }
        sleep(left).await;
    }
}

fn record(scenario: &Scenario, ended: &Result) -> Record {
    let Err(Failure { verdict, expected, got, .. }) = ended else {
        return Record::new(scenario, Outcome::Passed);
    };
    let (expected, got) = (Some(expected.clone()), Some(got.clone()));
    match verdict {
        Verdict::Skipped => Record { reason: got, ..Record::new(scenario, Outcome::Skipped) },
        _ => Record { expected, got, ..Record::new(scenario, (*verdict).into()) },
    }
}

fn in_words(error: JoinError) -> String {
    let panic = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => return error.to_string(),
    };
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
