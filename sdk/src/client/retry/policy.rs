//! How often, and after how long.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How a client, or one call, tries again.
///
/// Which failures are tried again at all is no setting: it depends on whether
/// sending twice could do twice, and is the table in the documentation of this crate.
///
/// ```
/// use std::time::Duration;
/// use promptarium::{Client, RetryPolicy};
///
/// let patient = RetryPolicy::new()
///     .max_attempts(6)
///     .delays(Duration::from_millis(500)..=Duration::from_secs(20));
/// let client = Client::builder()
///     .base_url("https://prompts.example/api/v1")
///     .api_key("promptarium_live_a1_s3cret")
///     .retry(patient)
///     .build()?;
/// # Ok::<(), promptarium::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct RetryPolicy {
    pub(super) max_attempts: u32,
    pub(super) delays: RangeInclusive<Duration>,
    pub(super) longest_wish: Duration,
}

impl RetryPolicy {
    /// How often a call is sent at most unless told otherwise: 3 times.
    pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;

    /// The delays between attempts unless told otherwise: 200 milliseconds at first,
    /// doubled each time, up to 10 seconds.
    pub const DEFAULT_DELAYS: RangeInclusive<Duration> =
        Duration::from_millis(200)..=Duration::from_secs(10);

    /// The longest `Retry-After` that is waited for unless told otherwise: 60 seconds.
    pub const DEFAULT_LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

    /// The default.
    pub const fn new() -> Self {
        Self {
            max_attempts: Self::DEFAULT_MAX_ATTEMPTS,
            delays: Self::DEFAULT_DELAYS,
            longest_wish: Self::DEFAULT_LONGEST_RETRY_AFTER,
        }
    }

    /// Every call is sent once.
    pub const fn never() -> Self {
        Self::new().max_attempts(1)
    }

    /// How often a call is sent at most, the first time included; 0 counts as 1.
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// The first delay and the longest. A delay is drawn between half its length and
    /// the whole, so that clients which failed together do not come back together.
    pub const fn delays(mut self, delays: RangeInclusive<Duration>) -> Self {
        self.delays = delays;
        self
    }

    /// The longest `Retry-After` that is waited for. A longer one fails the call at
    /// once; [`Error::retry_after`](crate::Error::retry_after) then says when to come
    /// back.
    pub const fn longest_retry_after(mut self, longest: Duration) -> Self {
        self.longest_wish = longest;
        self
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}
