//! Whether and when a call is sent again. Values only: nothing here sends or sleeps.

use std::time::Duration;

use super::policy::{Backoff, RetryBudget, RetryPolicy};
use crate::error::{AttemptFailure, History, Idempotency, Outcome, RetryAfter};
use crate::time::Instant;

pub(crate) struct Attempts {
    policy: RetryPolicy,
    budget: RetryBudget,
    idempotency: Idempotency,
    /// Whether the throttle waits with a request that follows a 429.
    is_throttled: bool,
    backoff: Backoff,
    counted: u32,
    limited_since: Option<Instant>,
    pub(crate) history: History,
}

impl Attempts {
    pub(super) fn new(
        policy: &RetryPolicy,
        budget: &RetryBudget,
        idempotency: Idempotency,
    ) -> Self {
        budget.earn();
        Self {
            policy: policy.clone(),
            budget: budget.clone(),
            idempotency,
            is_throttled: true,
            backoff: policy.backoff(),
            counted: 0,
            limited_since: None,
            history: History::default(),
        }
    }

    /// The attempts of an upload or a download, each of which has the same effect. The throttle is
    /// for the API only, and there may be no time limit, so that 429 counts as any other failure.
    pub(crate) fn of_file(policy: &RetryPolicy, budget: &RetryBudget) -> Self {
        Self { is_throttled: false, ..Self::new(policy, budget, Idempotency::SameResponse) }
    }

    pub(crate) const fn begin(&mut self) {
        self.history.attempts = self.history.attempts.saturating_add(1);
    }

    pub(super) fn succeeded(&mut self) {
        if self.idempotency != Idempotency::SameResponse {
            self.history.outcome = Outcome::Done;
        }
    }

    pub(crate) fn uncounted(&mut self) -> Option<Duration> {
        (self.policy.max_attempts > 1).then(|| self.backoff.delay(None))
    }

    /// The delay before the next attempt; `None` if this failure is final. A delay until the `end` of
    /// the call is not started.
    pub(crate) fn next(
        &mut self,
        failure: AttemptFailure,
        retry_after: Option<RetryAfter>,
        end: Option<Instant>,
    ) -> Option<Duration> {
        // A call that can be repeated without harm has no outcome to worry about.
        if self.idempotency != Idempotency::SameResponse {
            self.history.outcome = self.history.outcome.max(failure.outcome());
        }
        let delay = retry_after.flatten();
        if self.policy.max_attempts <= 1
            || self.policy.is_too_long(delay)
            || !failure.allows_retry(self.idempotency, retry_after.is_some())
        {
            return None;
        }
        // The service asks for less speed and says when: that is no failure of the call.
        let is_backpressure = self.is_throttled && failure.is_rate_limit() && retry_after.is_some();
        if is_backpressure {
            let since = *self.limited_since.get_or_insert_with(Instant::now);
            if since.elapsed().saturating_add(delay.unwrap_or_default())
                > self.policy.max_rate_limit_wait
            {
                return None;
            }
        } else {
            self.counted += 1;
            if self.counted >= self.policy.max_attempts {
                return None;
            }
        }
        // Clients that were refused together return in turn, by the throttle.
        let delay = match delay.filter(|delay| is_backpressure && !delay.is_zero()) {
            Some(delay) => delay,
            None => self.backoff.delay(delay),
        };
        if end.is_some_and(|end| delay >= end.saturating_duration_since(Instant::now())) {
            return None;
        }
        self.history.budget_is_empty = !is_backpressure && !self.budget.spend();
        (!self.history.budget_is_empty).then_some(delay)
    }
}
