//! The settings of retries: how often a call is retried, after how long, and the budget of all calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::macros::{debug, settings};

/// How a client, or one call, retries.
///
/// Which failures are retried is no setting: it depends on whether the request is idempotent; see
/// the retry table in the documentation of this crate.
///
/// ```
/// use promptarium::{Client, RetryPolicy};
/// use std::time::Duration;
///
/// let patient = RetryPolicy::new().max_attempts(6).max_backoff(Duration::from_secs(20));
/// let builder = Client::builder().retry(patient);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct RetryPolicy {
    pub(crate) max_attempts: u32,
    initial_backoff: Duration,
    max_backoff: Duration,
    pub(crate) max_retry_after: Duration,
    pub(super) max_rate_limit_wait: Duration,
}

impl RetryPolicy {
    /// The default policy.
    pub const fn new() -> Self {
        Self {
            max_attempts: 3,
            initial_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(10),
            max_retry_after: Duration::from_secs(60),
            max_rate_limit_wait: Duration::from_secs(120),
        }
    }

    /// No retries.
    pub const fn never() -> Self {
        Self::new().max_attempts(1)
    }

    settings! {
        /// Attempts per call, the first included; 3 by default, 0 counts as 1. Responses 429 with
        /// `Retry-After` are not counted, unless this is 1: they have
        /// [`max_rate_limit_wait`](Self::max_rate_limit_wait).
        max_attempts(attempts: u32) => max_attempts;
        /// The backoff before the first retry; it doubles, with jitter; 200 milliseconds by default.
        initial_backoff(backoff: Duration) => initial_backoff;
        /// The longest backoff; 10 seconds by default.
        max_backoff(backoff: Duration) => max_backoff;
        /// The longest `Retry-After` before a retry; a longer one is final. 60 seconds by default.
        max_retry_after(longest: Duration) => max_retry_after;
        /// How long a call is sent again after responses 429 with `Retry-After`, from the first of
        /// them on; 2 minutes by default. The timeout of the call may end it before.
        max_rate_limit_wait(longest: Duration) => max_rate_limit_wait;
    }

    pub(crate) fn is_too_long(&self, retry_after: Option<Duration>) -> bool {
        retry_after.is_some_and(|after| after > self.max_retry_after)
    }

    pub(crate) fn backoff(&self) -> Backoff {
        Backoff::new(self.initial_backoff, self.max_backoff)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// A delay of zero would stay zero and retry without pause.
const MIN_BACKOFF: Duration = Duration::from_millis(1);

/// Delays that double up to a maximum. Each is drawn between half of its length and the whole, so
/// that clients that failed together do not retry together.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(initial: Duration, max: Duration) -> Self {
        let max = max.max(MIN_BACKOFF);
        Self { next: initial.clamp(MIN_BACKOFF, max), max }
    }

    pub(crate) fn delay(&mut self, retry_after: Option<Duration>) -> Duration {
        let half = self.next / 2;
        let delay = half + half.mul_f64(fastrand::f64());
        self.next = self.next.saturating_mul(2).min(self.max);
        delay.max(retry_after.unwrap_or_default())
    }
}

/// The unit is a hundredth of a retry.
const RETRY: u64 = 100;

const DEFAULT_RESERVE: u64 = 80 * RETRY;
const DEFAULT_SHARE: u64 = 10;

/// Limits the retries of all calls of a client together, so that retries do not multiply the load of
/// a server that is failing. Clones share the budget.
///
/// Each call earns a fraction of a retry and each retry spends one. The budget starts full, with
/// `reserve` retries. When it is empty, calls fail with their first error, whose text says so.
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

    pub(crate) fn left(&self) -> Option<u64> {
        self.0.as_ref().map(|shared| shared.left.load(Ordering::Relaxed) / RETRY)
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

    pub(crate) fn spend(&self) -> bool {
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

debug!(RetryBudget, |it| left = it.left());
