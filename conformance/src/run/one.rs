//! Runs one scenario and deletes what it created. Every scenario has exactly one record.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use crate::exchange::RawExchange;
use crate::report::{Outcome, Record, whole_ms};
use crate::trace::{self, Step};
use crate::{Case, Exchange, Failure, Scenario, Target, Verdict};

/// How long cleaning up may take.
const CLEAN_UP: Duration = Duration::from_secs(60);

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
        case.ledger.created().iter().map(|created| created.resource.name().1).collect();
    let clean_up = target.scaled(CLEAN_UP);
    let left_behind = match timeout(clean_up, case.clean_up()).await {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.got),
        Err(_) => Some(format!("deleting took longer than {} s", clean_up.as_secs_f64())),
    };
    let failure_exchange = ended.as_ref().err().and_then(|failure| failure.exchange.clone());
    let record = record(scenario, ended);
    let bad = record.outcome.is_bad();
    let last = failure_exchange.is_none();
    let exchange = failure_exchange.or(taken.last().map(|step| step.exchange.clone()));
    let exchange = exchange.filter(|_| bad);
    // Redacting is slow, and most scenarios pass.
    let is_shown = bad || target.options().trace;
    // Texts and exchanges leave only redacted.
    let secrets = &target.secrets;
    let redact = |text: String| secrets.redact(text);
    let call = exchange.as_ref().map(|exchange| exchange.request.call(target.base_url()));
    let is_gone = |exchange: &RawExchange| {
        !target.options().keep && exchange.request.names_one_of(&created, target.base_url())
    };
    let exchange = exchange.map(|exchange| {
        let shown = exchange.redacted(secrets);
        Exchange { last, curl: shown.curl.filter(|_| !is_gone(&exchange)), ..shown }
    });
    let steps = taken.iter().filter(|_| is_shown).map(|step| Step {
        checks: step.checks.iter().map(|text| trace::check(&secrets.redact(text))).collect(),
        failed: step.failed.iter().map(|text| trace::check(&secrets.redact(text))).collect(),
        ..Step::of(&step.exchange, secrets, target.base_url())
    });
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

fn record(scenario: &Scenario, ended: Result<(), Failure>) -> Record {
    let Err(Failure { verdict, expected, got, .. }) = ended else {
        return Record::new(scenario, Outcome::Passed);
    };
    let outcome = match verdict {
        Verdict::Failed => Outcome::Failed,
        Verdict::Blocked => Outcome::Blocked,
        Verdict::Error => Outcome::Error,
        Verdict::Skipped => return Record::skipped(scenario, got),
    };
    Record { expected: Some(expected), got: Some(got), ..Record::new(scenario, outcome) }
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
