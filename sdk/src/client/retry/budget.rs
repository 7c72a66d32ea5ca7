//! What all calls of a client may spend on trying again, together.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A hundredth of a retry is the unit, so that a share of a call can be earned.
const RETRY: u64 = 100;

/// Keeps many calls that fail together from multiplying the load of a server that is
/// in trouble.
///
/// Each call earns a share of a retry and each retry spends one; a reserve is there
/// from the beginning, and no more than that is ever saved. When nothing is left,
/// calls fail with what their first attempt met. Clones share what there is; so do
/// the clones of a client, and several clients may be given the same budget.
///
/// ```
/// use promptarium::{Client, RetryBudget};
///
/// let budget = RetryBudget::new(20, 5);
/// let builder = Client::builder().retry_budget(budget.clone());
/// # let _ = builder;
/// ```
#[derive(Clone)]
pub struct RetryBudget(Option<Arc<Shared>>);

struct Shared {
    left: AtomicU64,
    reserve: u64,
    share: u64,
}

impl RetryBudget {
    /// Retries that are there from the beginning unless told otherwise: 80.
    pub const DEFAULT_RESERVE: u32 = 80;

    /// Retries that 100 calls earn unless told otherwise: 10.
    pub const DEFAULT_PERCENT: u8 = 10;

    /// A budget with a reserve of this many retries, to which 100 calls add `percent`.
    #[must_use]
    pub fn new(reserve: u32, percent: u8) -> Self {
        let reserve = u64::from(reserve) * RETRY;
        let left = AtomicU64::new(reserve);
        Self(Some(Arc::new(Shared { left, reserve, share: u64::from(percent) })))
    }

    /// As many retries as the policy of each call allows.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }

    pub(super) fn earn(&self) {
        if let Some(shared) = &self.0
            && shared.left.load(Ordering::Relaxed) < shared.reserve
        {
            let more = |left: u64| Some((left + shared.share).min(shared.reserve));
            // The function never declines.
            let _ = shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }

    /// Takes one retry, if there is one.
    pub(super) fn spend(&self) -> bool {
        self.0.as_ref().is_none_or(|shared| {
            let less = |left: u64| left.checked_sub(RETRY);
            shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        })
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_RESERVE, Self::DEFAULT_PERCENT)
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.0.as_ref().map(|shared| shared.left.load(Ordering::Relaxed) / RETRY);
        f.debug_struct("RetryBudget").field("left", &left).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::RetryPolicy;
    use super::*;

    #[test]
    fn a_reserve_is_spent_once_and_earned_again_by_calls() {
        let budget = RetryBudget::new(2, 10);
        let clone = budget.clone();
        assert!(budget.spend() && clone.spend());
        assert!(!budget.spend() && !clone.spend());
        for _ in 0..9 {
            clone.earn();
            assert!(!budget.spend());
        }
        clone.earn();
        assert!(budget.spend() && !budget.spend());
    }

    #[test]
    fn no_more_than_the_reserve_is_saved() {
        let budget = RetryBudget::new(1, 100);
        for _ in 0..10 {
            budget.earn();
        }
        assert!(budget.spend() && !budget.spend());
    }

    #[test]
    fn a_thousand_failing_calls_are_allowed_at_most_two_hundred_retries() {
        let budget = RetryBudget::default();
        let mut retries = 0;
        for _ in 0..1000 {
            budget.earn();
            for _ in 1..RetryPolicy::DEFAULT_MAX_ATTEMPTS {
                retries += u32::from(budget.spend());
            }
        }
        assert!((100..=200).contains(&retries), "{retries}");
    }

    #[test]
    fn without_a_limit_nothing_runs_out() {
        let budget = RetryBudget::unlimited();
        assert!((0..10_000).all(|_| budget.spend()));
    }
}
