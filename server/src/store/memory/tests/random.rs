//! Random steps, on this store and on the naive one.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{done, manual_clock};
use crate::domain::{JobRecord, JobState};
use crate::store::differential::naive::Naive;
use crate::store::differential::op::{Op, ops};
use crate::store::differential::world::Outcome;
use crate::store::differential::{Difference, Looking, compare};
use crate::store::memory::MemoryStore;

const STEPS: usize = 120;

fn compare_with_naive(ops: &[Op]) -> Result<Vec<Outcome>, Difference> {
    let (hand, clock) = manual_clock();
    let (naive, store) = (Naive::new(clock.clone()), MemoryStore::new(clock));
    let check = || store.check_invariants();
    done(compare(&hand, (&naive, &store), ops, Looking::CLOSE, check))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_answer_is_the_naive_one(ops in ops(STEPS / 2..=STEPS)) {
        let compared = compare_with_naive(&ops);
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err().text);
    }
}

fn many_outcomes() -> Vec<Outcome> {
    let mut runner = TestRunner::deterministic();
    let mut outcomes = Vec::new();
    for _ in 0..60 {
        let tree = ops(STEPS / 2..=STEPS).new_tree(&mut runner).expect("any sequence will do");
        outcomes.extend(compare_with_naive(&tree.current()).expect("the stores agree"));
    }
    outcomes
}

/// The random steps prove little unless they get everywhere.
#[test]
fn random_steps_meet_every_refusal_and_succeed_more_often() {
    let (mut refusals, mut refused, mut all) = (BTreeSet::new(), 0, 0);
    for outcome in many_outcomes() {
        all += 1;
        if let Outcome::Refused(why) = outcome {
            refused += 1;
            refusals.extend(why.split('(').next().map(str::to_owned));
        }
    }
    let every = [
        "ForkOfPrivateVault",
        "JobConflict",
        "KeyTaken",
        "LeaseLost",
        "ModelRequired",
        "NotFound",
        "SystemVaultDelete",
        "SystemVaultRename",
        "UnknownPrompts",
        "UnknownTargetVault",
        "UnknownVault",
    ];
    assert!(refusals.iter().eq(every), "{refusals:?}");
    assert!(refused * 2 < all, "{refused} of {all} steps were refused");
}

#[test]
fn random_steps_take_jobs_through_every_state() {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for outcome in many_outcomes() {
        let event = match &outcome {
            Outcome::Reserved { new: false, .. } => "asked for again",
            Outcome::Claim(Some(claim)) if claim.setbacks > 0 => "set back",
            Outcome::Claim(Some(claim)) => match claim.job.state {
                JobState::Submitting => "lost in submission",
                JobState::InProgress(_) => "in progress",
                _ => "queued",
            },
            Outcome::Job(JobRecord { state: JobState::Failed(..), .. }) => "failed",
            Outcome::Completed(_) => "completed",
            _ => continue,
        };
        *times.entry(event).or_default() += 1;
    }
    assert!(times.len() == 7 && times.values().all(|times| *times >= 5), "{times:?}");
}
