//! The same random steps on PostgreSQL as on the memory store.
//!
//! How many is for the environment to say: `PROMPTARIUM_DIFFERENTIAL_OPS` steps for
//! each of `PROMPTARIUM_DIFFERENTIAL_SEEDS` seeds from `PROMPTARIUM_DIFFERENTIAL_SEED`
//! on, in sequences of `PROMPTARIUM_DIFFERENTIAL_LENGTH`, each on an empty database.

use std::panic::AssertUnwindSafe;
use std::str::FromStr;

use futures::FutureExt;
use jiff::Timestamp;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{invariants, store_at};
use crate::clock::{Clock, ManualClock};
use crate::store::differential::op::{Op, ops};
use crate::store::differential::shrink::shrink;
use crate::store::differential::{Difference, Looking, compare};
use crate::store::memory::MemoryStore;

/// Looking at everything costs a database more than a step does.
const LOOKING: Looking = Looking { every: 20, page: 50, jobs: 8 };

/// How many shorter sequences are tried when one shows a difference.
const SHRINKING: usize = 150;

/// A number from the environment.
fn given<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(format!("PROMPTARIUM_DIFFERENTIAL_{name}")).ok()?;
    let number = text.parse().ok();
    assert!(number.is_some(), "PROMPTARIUM_DIFFERENTIAL_{name} is {text:?}, which is no number");
    number
}

/// Where the stores do not agree, if they do not.
async fn difference(ops: &[Op]) -> Option<Difference> {
    difference_after("", ops).await
}

/// The same, after something was done to the database.
async fn difference_after(spoiling: &str, ops: &[Op]) -> Option<Difference> {
    let hand = ManualClock::new(Timestamp::UNIX_EPOCH);
    let memory = MemoryStore::new(Clock::Manual(hand.clone()));
    let (postgres, _database) = store_at(Clock::Manual(hand.clone())).await;
    postgres.db.exclusive().await.unwrap().batch_execute(spoiling).await.unwrap();
    let comparing = compare(&hand, (&memory, &postgres), ops, LOOKING, || {});
    let step = ops.len().saturating_sub(1);
    match AssertUnwindSafe(comparing).catch_unwind().await {
        Ok(Err(difference)) => return Some(difference),
        Err(panic) => {
            let text = panic.downcast::<String>().map_or("it panicked".into(), |text| *text);
            return Some(Difference { step, text });
        }
        Ok(Ok(_)) => {}
    }
    let broken = invariants::broken(&postgres).await;
    (!broken.is_empty()).then(|| Difference { step, text: broken.join("\n") })
}

/// Panics with as few steps as can be found.
async fn explain(seed: u64, number: usize, ops: Vec<Op>, found: Difference) -> ! {
    let before = ops[..=found.step].to_vec();
    let still = async |ops: &[Op]| difference(ops).await.is_some();
    let few = shrink(before, SHRINKING, still).await;
    let left = difference(&few).await.unwrap_or(found);
    let listed = few.iter().map(|op| format!("  {op:?}\n")).collect::<String>();
    panic!(
        "memory and PostgreSQL differ. PROMPTARIUM_DIFFERENTIAL_SEED={seed}, sequence {number}, \
         {} steps when shrunk:\n{listed}{}",
        few.len(),
        left.text
    );
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), random)
}

async fn try_seed(seed: u64, steps: usize, length: usize) {
    let mut runner = runner(seed);
    for number in 0..steps.div_ceil(length) {
        let tree = ops(length..=length).new_tree(&mut runner).unwrap();
        let ops = tree.current();
        if let Some(found) = difference(&ops).await {
            explain(seed, number, ops, found).await;
        }
    }
}

#[tokio::test]
async fn every_answer_is_that_of_the_memory_store() {
    let steps = given("OPS").unwrap_or(4000);
    let length = given("LENGTH").unwrap_or(400).max(1);
    let first: u64 = given("SEED").unwrap_or_else(rand::random);
    for seed in (0..given("SEEDS").unwrap_or(1)).map(|number| first.wrapping_add(number)) {
        try_seed(seed, steps, length).await;
    }
}

/// The steps prove little unless they show what is wrong.
#[tokio::test]
async fn a_database_that_does_not_do_as_it_should_is_seen() {
    let ops = ops(600..=600).new_tree(&mut runner(1)).unwrap().current();
    assert!(difference(&ops).await.is_none());
    for spoiling in [
        "DROP TRIGGER membership_parted ON membership",
        "ALTER SEQUENCE membership_pin INCREMENT -1 MINVALUE -1000000",
        "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN NEW.setbacks := 0; RETURN NEW; END'; \
         CREATE TRIGGER forget BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION forget()",
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
         CREATE TRIGGER lose BEFORE INSERT ON membership FOR EACH ROW WHEN (NEW.id % 50 = 0) \
         EXECUTE FUNCTION lose()",
    ] {
        assert!(difference_after(spoiling, &ops).await.is_some(), "nobody noticed: {spoiling}");
    }
}
