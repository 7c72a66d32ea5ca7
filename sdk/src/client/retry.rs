//! Whether a call is retried, and after how long. Values only: nothing here sends or sleeps.

mod budget;
mod policy;
mod table;

pub use budget::RetryBudget;
pub use policy::RetryPolicy;
pub(super) use table::{AttemptFailure, Resend, is_transient};

use std::time::Duration;

use super::backoff::Backoff;

/// The attempts of one call.
pub(super) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    budget: &'a RetryBudget,
    resend: Resend,
    backoff: Backoff,
    /// The current attempt, counting from 1.
    pub(super) number: u32,
}

impl<'a> Attempts<'a> {
    pub(super) fn first(policy: &'a RetryPolicy, budget: &'a RetryBudget, resend: Resend) -> Self {
        budget.earn();
        Self { policy, budget, resend, backoff: policy.backoff(), number: 1 }
    }

    /// The backoff before the next attempt; `None` if this failure is final. A backoff that takes
    /// all the time `left` for the call is not started.
    pub(super) fn backoff(
        &mut self,
        failure: AttemptFailure,
        retry_after: Option<Duration>,
        left: Option<Duration>,
    ) -> Option<Duration> {
        let again = self.number < self.policy.max_attempts && self.resend.allows(failure);
        if !again || self.policy.is_too_long(retry_after) {
            return None;
        }
        let backoff = self.backoff.delay(retry_after);
        if left.is_some_and(|left| backoff >= left) || !self.budget.spend() {
            return None;
        }
        self.number += 1;
        Some(backoff)
    }
}
