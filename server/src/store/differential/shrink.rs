//! Shortens a failing sequence.

use super::ops::Op;

/// Removes operations as long as `fails` holds for the rest, with at most `attempts` calls
/// of `fails`.
pub(super) async fn shrink(
    mut ops: Vec<Op>,
    mut attempts: usize,
    fails: impl AsyncFn(&[Op]) -> bool,
) -> Vec<Op> {
    let mut size = ops.len() / 2;
    while size > 0 {
        let (mut at, before) = (0, ops.len());
        while at < ops.len() && attempts > 0 {
            let end = ops.len().min(at + size);
            let shorter = [&ops[..at], &ops[end..]].concat();
            attempts -= 1;
            if fails(&shorter).await {
                ops = shorter;
            } else {
                at = end;
            }
        }
        // Single operations are tried again as long as that helps.
        let again = size == 1 && ops.len() < before && attempts > 0;
        size = if again { 1 } else { size / 2 };
    }
    ops
}

#[tokio::test]
async fn only_the_operations_that_matter_remain() {
    let ops = super::ops::sequence(1, 100);
    let needed = [ops[17].seed, ops[80].seed];
    let fails = async |ops: &[Op]| needed.iter().all(|seed| ops.iter().any(|op| op.seed == *seed));
    let left = shrink(ops.clone(), 1000, fails).await;
    assert_eq!(left.iter().map(|op| op.seed).collect::<Vec<_>>(), needed);
    assert_eq!(shrink(ops, 1, async |_| true).await.len(), 54, "one attempt halves once");
}
