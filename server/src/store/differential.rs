//! The differential test: random steps on two stores at once must give equal
//! answers and leave equal things behind.
//!
//! [`op`] makes the steps, [`world`] takes them on one store and puts what it
//! gives into a form that two stores can be compared in, [`naive`] is a store
//! so simple that it can be read beside the contract. Any store is tested by
//! [`compare`]ing it with the naive one, or with one that passed that test.
//! [`shrink`] makes a sequence that shows a difference short enough to read.

pub(crate) mod naive;
mod naming;
pub(crate) mod op;
pub(crate) mod shrink;
pub(crate) mod world;

use std::fmt::Debug;
use std::time::Duration;

use self::op::Op;
use self::world::{Outcome, World};
use super::Store;
use crate::clock::ManualClock;

/// How often everything is looked at, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looking {
    /// After each so many steps, and after the last.
    pub(crate) every: usize,
    /// Prompts a page.
    pub(crate) page: usize,
    /// How many jobs are looked at, those taken on last. At the end it is all.
    pub(crate) jobs: usize,
}

impl Looking {
    /// After each step, in small pages.
    pub(crate) const CLOSE: Self = Self { every: 1, page: 4, jobs: 8 };
}

/// Where two stores do not agree.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The last step that was taken.
    pub(crate) step: usize,
    /// What was seen there.
    pub(crate) text: String,
}

/// Takes the same steps on two empty stores that both read `clock`, up to the
/// first difference. `between` runs after each step. Gives what the steps were
/// answered.
///
/// The clock goes on by a microsecond before each step on a job, and otherwise by
/// whole seconds: so no two jobs are ever due at one moment, where no contract
/// says which is first.
///
/// # Errors
/// The first difference.
pub(crate) async fn compare(
    clock: &ManualClock,
    (expected, tested): (&dyn Store, &dyn Store),
    ops: &[Op],
    looking: Looking,
    between: impl Fn(),
) -> Result<Vec<Outcome>, Difference> {
    let mut expected = World::open(expected).await;
    let mut tested = World::open(tested).await;
    let mut outcomes = Vec::new();
    for (step, op) in ops.iter().enumerate() {
        match op {
            Op::Wait(duration) => clock.advance(*duration),
            Op::Job(_) => clock.advance(Duration::from_micros(1)),
            _ => {}
        }
        if !matches!(op, Op::Wait(_)) {
            let (wanted, got) = (expected.apply(op).await, tested.apply(op).await);
            same(step, op, "answered", &wanted, &got)?;
            between();
            outcomes.push(got);
        }
        let last = step + 1 == ops.len();
        if last || step % looking.every == 0 {
            let looking = if last { Looking { jobs: usize::MAX, ..looking } } else { looking };
            let (wanted, got) = (expected.look(looking).await, tested.look(looking).await);
            same(step, op, "left", &wanted, &got)?;
        }
    }
    Ok(outcomes)
}

fn same<T: Debug + PartialEq>(
    step: usize,
    op: &Op,
    verb: &str,
    wanted: &T,
    got: &T,
) -> Result<(), Difference> {
    if wanted == got {
        return Ok(());
    }
    let (wanted, got) = (format!("{wanted:#?}"), format!("{got:#?}"));
    let unequal = wanted.lines().zip(got.lines()).position(|(wanted, got)| wanted != got);
    let from = unequal.unwrap_or_default().saturating_sub(12);
    let part = |text: &str| text.lines().skip(from).take(30).collect::<Vec<_>>().join("\n");
    let (wanted, got) = (part(&wanted), part(&got));
    let text = format!("step {step}, {op:?}, {verb}\n{got}\nand should have {verb}\n{wanted}");
    Err(Difference { step, text })
}
