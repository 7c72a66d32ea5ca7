//! The differential test: random steps on two stores at once must give equal
//! answers and leave equal things behind.
//!
//! [`op`] makes the steps, [`world`] takes them on one store and puts what it
//! gives into a form that two stores can be compared in, [`naive`] is a store
//! so simple that it can be read beside the contract. Any store is tested by
//! [`compare`]ing it with the naive one.

pub(crate) mod naive;
mod naming;
pub(crate) mod op;
pub(crate) mod world;

use self::op::Op;
use self::world::{Outcome, World};
use super::Store;
use crate::clock::ManualClock;

/// Takes the same steps on two empty stores that both read `clock`, and panics
/// at the first difference. `between` runs after each step. Gives what the
/// steps were answered.
pub(crate) async fn compare(
    clock: &ManualClock,
    (expected, tested): (&dyn Store, &dyn Store),
    ops: &[Op],
    between: impl Fn(),
) -> Vec<Outcome> {
    let mut expected = World::open(expected).await;
    let mut tested = World::open(tested).await;
    let mut outcomes = Vec::new();
    for (step, op) in ops.iter().enumerate() {
        if let Op::Wait(duration) = op {
            clock.advance(*duration);
            continue;
        }
        let (wanted, got) = (expected.apply(op).await, tested.apply(op).await);
        assert_eq!(wanted, got, "step {step} answered differently: {op:?}");
        let (left, found) = (expected.look().await, tested.look().await);
        assert_eq!(left, found, "step {step} left different things: {op:?}");
        between();
        outcomes.push(got);
    }
    outcomes
}
