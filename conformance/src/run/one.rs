//! One scenario from its start until nothing of it is left. Whatever it does,
//! one record comes of it.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use crate::report::{Outcome, Record, whole_ms};
use crate::{Case, Failure, Scenario, Target, Verdict};

/// How long cleaning up may take.
const CLEAN_UP: Duration = Duration::from_secs(60);

/// How a scenario came to its end.
enum End {
    Returned(Result<(), Failure>),
    Broke(JoinError),
    Deadline,
    Stopped,
}

/// Runs `scenario` on `target`, with `tag` in the name of everything it makes,
/// and cleans up after it, whether it passes, fails, panics, takes longer than
/// `deadline` or is given up because `stop` is done.
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
    // A set, as that one aborts its task when it is dropped.
    let mut task = JoinSet::new();
    task.spawn((scenario.run)(case.clone()));
    let end = tokio::select! {
        joined = task.join_next() => match joined {
            Some(Ok(returned)) => End::Returned(returned),
            Some(Err(error)) => End::Broke(error),
            None => End::Stopped,
        },
        () = sleep(deadline) => End::Deadline,
        () = stop => End::Stopped,
    };
    // Nothing may be made any more once cleaning up has begun.
    task.shutdown().await;
    let mut steps = case.exchanges();
    let clean_up = target.scaled(CLEAN_UP);
    let left_behind = match timeout(clean_up, case.clean_up()).await {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.got),
        Err(_) => Some(format!("deleting took longer than {clean_up:?}")),
    };
    let secrets = &target.secrets;
    let shown = match &end {
        End::Returned(Err(failure)) => failure.exchange.clone(),
        _ => None,
    };
    let record = record(scenario, end, deadline);
    // The text of a failure leaves only through here.
    let redact = |text: String| secrets.redact(text);
    // To redact is slow, and only a failure shows exchanges.
    if !record.outcome.is_bad() {
        steps.clear();
    }
    let exchange = match shown.filter(|_| record.outcome.is_bad()) {
        Some(shown) => {
            steps.retain(|step| !Arc::ptr_eq(&step.request, &shown.request));
            Some(shown.redacted(secrets))
        }
        None => steps.pop().map(|last| last.redacted(secrets).into_last()),
    };
    Record {
        expected: record.expected.map(redact),
        got: record.got.map(redact),
        reason: record.reason.map(redact),
        exchange,
        steps: steps.iter().map(|step| step.redacted(secrets)).collect(),
        left_behind: left_behind.map(redact),
        duration_ms: whole_ms(begun.elapsed()),
        ..record
    }
}

fn record(scenario: &Scenario, end: End, deadline: Duration) -> Record {
    let error = |expected: String, got: String| Record {
        expected: Some(expected),
        got: Some(got),
        ..Record::new(scenario, Outcome::Error)
    };
    match end {
        End::Returned(Ok(())) => Record::new(scenario, Outcome::Passed),
        End::Returned(Err(failure)) => {
            let outcome = match failure.verdict {
                Verdict::Failed => Outcome::Failed,
                Verdict::Error => Outcome::Error,
                Verdict::Blocked => return Record::skipped(scenario, failure.got),
            };
            Record {
                expected: Some(failure.expected),
                got: Some(failure.got),
                ..Record::new(scenario, outcome)
            }
        }
        End::Broke(broke) => error("the scenario to run to its end".into(), in_words(broke)),
        End::Deadline => {
            error(format!("the scenario to end within {deadline:?}"), "it did not".into())
        }
        End::Stopped => Record::skipped(scenario, "the run was stopped while it was at work"),
    }
}

fn in_words(broke: JoinError) -> String {
    let panic = match broke.try_into_panic() {
        Ok(panic) => panic,
        Err(broke) => return broke.to_string(),
    };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "without a message".into()))
}
