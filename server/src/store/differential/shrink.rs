//! Leaving out steps for as long as the difference stays.

use super::op::Op;

/// A shorter sequence of which `differs` still says so. It is asked at most
/// `most` times. Steps settle what they pick when they are taken, so that any
/// part of a sequence is a sequence.
pub(crate) async fn shrink(
    mut ops: Vec<Op>,
    most: usize,
    differs: impl AsyncFn(&[Op]) -> bool,
) -> Vec<Op> {
    let (mut asked, mut size) = (0, ops.len() / 2);
    while size > 0 {
        let (mut at, before) = (0, ops.len());
        while at < ops.len() && asked < most {
            let end = ops.len().min(at + size);
            let shorter = [&ops[..at], &ops[end..]].concat();
            asked += 1;
            if differs(&shorter).await {
                ops = shorter;
            } else {
                at = end;
            }
        }
        // Single steps are tried again for as long as that helps.
        let again = size == 1 && ops.len() < before && asked < most;
        size = if again { 1 } else { size / 2 };
    }
    ops
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    fn waits(seconds: impl IntoIterator<Item = u64>) -> Vec<Op> {
        seconds.into_iter().map(|seconds| Op::Wait(Duration::from_secs(seconds))).collect()
    }

    fn total(ops: &[Op]) -> u64 {
        let waits = ops.iter().map(|op| match op {
            Op::Wait(duration) => duration.as_secs(),
            _ => 0,
        });
        waits.sum()
    }

    #[test]
    fn only_the_steps_that_matter_are_left() {
        let ops = waits((0..100).map(|at| u64::from(at == 17 || at == 80)));
        let left = shrink(ops, 1000, async |ops| total(ops) == 2).now_or_never().unwrap();
        assert_eq!((left.len(), total(&left)), (2, 2));
    }

    #[test]
    fn it_gives_up_after_so_many_questions() {
        let ops = waits([1; 64]);
        let left = shrink(ops, 1, async |ops| total(ops) > 0).now_or_never().unwrap();
        assert_eq!(left.len(), 32);
    }
}
