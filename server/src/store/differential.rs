//! Randomized differential test: the same random operations on both stores must return
//! equal results and leave equal data.
//!
//! Set by the environment: `PROMPTARIUM_DIFFERENTIAL_OPS` operations for each of
//! `PROMPTARIUM_DIFFERENTIAL_SEEDS` seeds from `PROMPTARIUM_DIFFERENTIAL_SEED` on, in
//! sequences of `PROMPTARIUM_DIFFERENTIAL_LENGTH`, each on an empty database.

mod ids;
mod jobs;
pub(crate) mod ops;
pub(crate) mod runner;
mod sessions;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::str::FromStr;
use std::time::Duration;

use futures::FutureExt;

use self::ops::{Action, Op, Values, sequence};
use self::runner::Runner;
use super::contract_tests::StoreUnderTest;
use crate::limits::{LAST_USE_PRECISION, SESSION_IDLE, SESSION_MAX, SIGN_IN_CODE_LIFETIME};

/// How often everything is read and compared: it costs a database more than an operation.
const SNAPSHOT_EVERY: usize = 20;
const PAGE_SIZE: usize = 50;
/// Jobs in a snapshot; the last snapshot has all.
const SNAPSHOT_JOBS: usize = 8;
/// Around the lifetimes of codes and sessions.
const LONG_WAITS: [Duration; 4] =
    [LAST_USE_PRECISION, SIGN_IN_CODE_LIFETIME, SESSION_IDLE, SESSION_MAX];

/// Runs the operations on both stores, up to the first difference. Returns the results. A tested store
/// in a folder is closed and opened again now and then.
///
/// The clock advances by a microsecond before each operation on jobs, and otherwise by
/// whole seconds. So no two jobs are ever due at the same time, where the contract does not
/// say which is first.
async fn compare(
    memory: &StoreUnderTest,
    mut other: StoreUnderTest,
    ops: &[Op],
) -> Result<Vec<String>, String> {
    let mut expected = Runner::new(&*memory.store).await;
    let mut known = Runner::new(&*other.store).await.known();
    let mut results = Vec::new();
    for (number, op) in ops.iter().enumerate() {
        let time = match op.action {
            Action::Wait => Duration::from_secs(Values::new(op.seed).below(7) as u64),
            Action::WaitLong => {
                let mut values = Values::new(op.seed);
                let long = LONG_WAITS[values.below(LONG_WAITS.len())];
                long - Duration::from_micros(values.below(2) as u64)
            }
            action if action.is_on_jobs() => Duration::from_micros(1),
            _ => Duration::ZERO,
        };
        memory.clock.advance(time);
        other.clock.advance(time);
        if other.is_folder() && Values::new(op.seed).chance(3) {
            other = other.reopened();
        }
        let store = other.store.clone();
        let mut tested = Runner::knowing(&*store, known);
        let (wanted, got) = (expected.apply(op).await, tested.apply(op).await);
        check_equal(number, op, "returned", &wanted, &got)?;
        results.push(got);
        let last = number + 1 == ops.len();
        if last || number % SNAPSHOT_EVERY == 0 {
            let jobs = if last { usize::MAX } else { SNAPSHOT_JOBS };
            let wanted = expected.snapshot(PAGE_SIZE, jobs).await;
            let got = tested.snapshot(PAGE_SIZE, jobs).await;
            check_equal(number, op, "left", &wanted, &got)?;
        }
        known = tested.known();
    }
    memory.check().await;
    other.check().await;
    let accounts = async |db: &StoreUnderTest| db.store.accounts().await.unwrap();
    assert_eq!(accounts(memory).await, accounts(&other).await);
    Ok(results)
}

fn check_equal(number: usize, op: &Op, verb: &str, wanted: &str, got: &str) -> Result<(), String> {
    if wanted == got {
        return Ok(());
    }
    let different = wanted.lines().zip(got.lines()).position(|(wanted, got)| wanted != got);
    let from = different.unwrap_or_default().saturating_sub(12);
    let part = |text: &str| text.lines().skip(from).take(30).collect::<Vec<_>>().join("\n");
    let (wanted, got) = (part(wanted), part(got));
    Err(format!(
        "operation {number}, {op:?}, {verb}\n{got}\nin the tested store, and in memory\n{wanted}"
    ))
}

/// The difference between the stores, a panic included. `sql` runs on the database before.
async fn difference(sql: &str, ops: &[Op]) -> Option<String> {
    let (memory, postgres) = (StoreUnderTest::memory(), StoreUnderTest::postgres().await);
    postgres.sql().await.batch_execute(sql).await.unwrap();
    found(compare(&memory, postgres, ops)).await
}

/// The difference between memory and a folder that is closed and opened again.
#[cfg(feature = "folder")]
async fn in_a_folder(ops: &[Op]) -> Option<String> {
    let (memory, folder) = (StoreUnderTest::memory(), StoreUnderTest::folder());
    found(compare(&memory, folder, ops)).await
}

async fn found(comparison: impl Future<Output = Result<Vec<String>, String>>) -> Option<String> {
    match AssertUnwindSafe(comparison).catch_unwind().await {
        Ok(result) => result.err(),
        Err(panic) => Some(panic.downcast::<String>().map_or("a panic".into(), |text| *text)),
    }
}

fn setting<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(format!("PROMPTARIUM_DIFFERENTIAL_{name}")).ok()?;
    let number = text.parse().ok();
    assert!(number.is_some(), "PROMPTARIUM_DIFFERENTIAL_{name}: {text:?} is not a number");
    number
}

#[tokio::test]
async fn all_stores_return_and_leave_the_same() {
    let total: usize = setting("OPS").unwrap_or(4000);
    let length = setting("LENGTH").unwrap_or(400).max(1);
    let first: u64 = setting("SEED").unwrap_or_else(rand::random);
    for seed in (0..setting("SEEDS").unwrap_or(1)).map(|number: u64| first.wrapping_add(number)) {
        for part in 0..total.div_ceil(length) {
            let ops = sequence(seed ^ ((part as u64) << 32), length);
            if let Some(found) = difference("", &ops).await {
                panic!("PROMPTARIUM_DIFFERENTIAL_SEED={seed}, part {part}: {found}");
            }
            #[cfg(feature = "folder")]
            if let Some(found) = in_a_folder(&ops).await {
                panic!("PROMPTARIUM_DIFFERENTIAL_SEED={seed}, part {part}, in a folder: {found}");
            }
        }
    }
}

/// The test is worth something only if it finds faults.
#[tokio::test]
async fn faults_in_the_database_are_found() {
    let ops = sequence(1, 600);
    assert_eq!(difference("", &ops).await, None);
    for (change, fault) in [
        ("UPDATE ON vault", "NEW.prompt_count := greatest(OLD.prompt_count, NEW.prompt_count);"),
        ("UPDATE ON vault_prompt", "NEW.pin := -NEW.pin;"),
        ("UPDATE ON job", "NEW.failed_attempts := 0;"),
        ("UPDATE ON api_key", "NEW.revoked_at := OLD.revoked_at;"),
        ("INSERT ON vault_prompt", "IF NEW.id % 10 = 0 THEN RETURN NULL; END IF;"),
    ] {
        let sql = format!(
            "CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN {fault} RETURN NEW; END';
             CREATE TRIGGER fault BEFORE {change} FOR EACH ROW EXECUTE FUNCTION fault()"
        );
        assert!(difference(&sql, &ops).await.is_some(), "not found: {fault}");
    }
}

/// The operations are worth something only if they reach every error and job state.
#[tokio::test]
async fn random_operations_reach_every_error_and_job_state() {
    let mut results = Vec::new();
    for seed in 0..120 {
        let (one, other) = (StoreUnderTest::memory(), StoreUnderTest::memory());
        results.extend(compare(&one, other, &sequence(seed, 120)).await.unwrap());
    }
    let error = |result| str::strip_prefix(result, "Err(")?.split(['(', ')']).next();
    let errors: Vec<_> = results.iter().filter_map(|result| error(result)).collect();
    assert!(errors.len() * 2 < results.len(), "{} of {}", errors.len(), results.len());
    let expected = "AccountTaken ForkOfPrivateVault JobConflict KeyRevoked KeyTaken LeaseLost \
                    ModelRequired NotFound SystemVaultDelete SystemVaultRename UnknownPrompts \
                    UnknownTargetVault UnknownVault";
    let errors = BTreeSet::from_iter(errors);
    assert!(errors.iter().copied().eq(expected.split_whitespace()), "{errors:?}");
    for (event, text) in [
        ("reserved again", "\"reserved\",\n    false"),
        ("failed late", "\"failed late\",\n    [\n"),
        ("deleted", "\"deleted\",\n    true"),
        ("queued", "state: Queued"),
        ("in progress", "state: InProgress"),
        ("failed", "state: Failed"),
        ("claimed after a failed attempt", "\"claimed\",\n    1"),
        ("completed", "\"completed\""),
        ("listed the newest jobs", "\"listed\",\n    false,\n    [\n"),
        ("listed older jobs", "\"listed\",\n    true,\n    [\n"),
        ("signed in", "\"signed in\",\n    Some"),
        ("refused a code", "\"signed in\",\n    None"),
        ("found a session", "\"session\",\n    Some"),
        ("found no session", "\"session\",\n    None"),
    ] {
        let times = results.iter().filter(|result| result.contains(text)).count();
        assert!(times >= 5, "{event}: {times}");
    }
}
