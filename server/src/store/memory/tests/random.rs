//! Random steps, on this store and on the naive one.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{done, manual_clock};
use crate::store::differential::compare;
use crate::store::differential::naive::Naive;
use crate::store::differential::op::{Op, ops};
use crate::store::differential::world::Outcome;
use crate::store::memory::MemoryStore;

const STEPS: usize = 60;

fn compare_with_naive(ops: &[Op]) -> Vec<Outcome> {
    let (hand, clock) = manual_clock();
    let (naive, store) = (Naive::new(clock.clone()), MemoryStore::new(clock));
    let check = || store.check_invariants();
    done(compare(&hand, (&naive, &store), ops, check))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_answer_is_the_naive_one(ops in ops(STEPS)) {
        compare_with_naive(&ops);
    }
}

/// The random steps prove little unless they get everywhere.
#[test]
fn random_steps_meet_every_refusal_and_succeed_more_often() {
    let mut runner = TestRunner::deterministic();
    let (mut refusals, mut refused, mut all) = (BTreeSet::new(), 0, 0);
    for _ in 0..60 {
        let tree = ops(STEPS).new_tree(&mut runner).expect("any sequence will do");
        for outcome in compare_with_naive(&tree.current()) {
            all += 1;
            if let Outcome::Refused(why) = outcome {
                refused += 1;
                refusals.extend(why.split('(').next().map(str::to_owned));
            }
        }
    }
    let every = [
        "ForkOfPrivateVault",
        "KeyTaken",
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
