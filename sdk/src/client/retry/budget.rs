//! The retry budget of a client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The unit is a hundredth of a retry.
const RETRY: u64 = 100;

const DEFAULT_RESERVE: u64 = 80 * RETRY;
const DEFAULT_SHARE: u64 = 10;

/// Limits the retries of all calls of a client together, so that retries do not multiply the load
/// of a server that is failing.
///
/// Each call earns a fraction of a retry and each retry spends one. The budget starts full, with
/// `reserve` retries, and never holds more. When it is empty, calls fail with their first error.
/// Clones share the budget.
///
/// ```
/// use promptarium::{Client, RetryBudget};
///
/// let budget = RetryBudget::new().reserve(20).percent(5);
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
    /// A full budget of 80 retries, to which 100 calls add 10.
    #[must_use]
    pub fn new() -> Self {
        Self::full(DEFAULT_RESERVE, DEFAULT_SHARE)
    }

    /// As many retries as the policy of each call allows.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// A full budget of this many retries, apart from its clones.
    #[must_use]
    pub fn reserve(self, retries: u32) -> Self {
        let share = self.0.map_or(DEFAULT_SHARE, |shared| shared.share);
        Self::full(u64::from(retries) * RETRY, share)
    }

    /// A full budget to which 100 calls add this many retries, apart from its clones.
    #[must_use]
    pub fn percent(self, percent: u8) -> Self {
        let reserve = self.0.map_or(DEFAULT_RESERVE, |shared| shared.reserve);
        Self::full(reserve, u64::from(percent))
    }

    fn full(reserve: u64, share: u64) -> Self {
        Self(Some(Arc::new(Shared { left: AtomicU64::new(reserve), reserve, share })))
    }

    pub(super) fn earn(&self) {
        if let Some(shared) = &self.0
            && shared.left.load(Ordering::Relaxed) < shared.reserve
        {
            let more = |left: u64| Some((left + shared.share).min(shared.reserve));
            // The closure never returns `None`.
            let _ = shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }

    pub(in crate::client) fn spend(&self) -> bool {
        self.0.as_ref().is_none_or(|shared| {
            let less = |left: u64| left.checked_sub(RETRY);
            shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        })
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.0.as_ref().map(|shared| shared.left.load(Ordering::Relaxed) / RETRY);
        f.debug_struct("RetryBudget").field("left", &left).finish_non_exhaustive()
    }
}
