//! Exponential backoff with jitter, for retries and polling.

use std::time::Duration;

/// A delay of zero would stay zero and retry without pause.
const MIN_BACKOFF: Duration = Duration::from_millis(1);

/// Delays that double up to a maximum. Each is drawn between half of its length and the whole, so
/// that clients that failed together do not retry together.
#[derive(Debug, Clone)]
pub(super) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    /// A maximum below the first delay counts as equal to it.
    pub(super) fn new(initial: Duration, max: Duration) -> Self {
        let next = initial.max(MIN_BACKOFF);
        Self { next, max: max.max(next) }
    }

    /// The next delay, or `Retry-After` if that is longer.
    pub(super) fn delay(&mut self, retry_after: Option<Duration>) -> Duration {
        let half = self.next / 2;
        let delay = half + half.mul_f64(fastrand::f64());
        self.next = self.next.saturating_mul(2).min(self.max);
        delay.max(retry_after.unwrap_or_default())
    }
}
