//! Whether a call is sent again, after how long, and at whose expense. Values only:
//! nothing here sends or sleeps.

mod budget;
mod policy;
mod table;

pub use budget::RetryBudget;
pub use policy::RetryPolicy;
pub(super) use table::{Fate, Resend, may_pass};

use std::time::Duration;

use super::backoff::{Backoff, Dice};

/// The attempts at one call.
pub(super) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    budget: &'a RetryBudget,
    resend: Resend,
    backoff: Backoff,
    /// Which one is under way, counting from 1.
    pub(super) number: u32,
}

impl<'a> Attempts<'a> {
    /// The first one, which is never held back.
    pub(super) fn first(
        policy: &'a RetryPolicy,
        budget: &'a RetryBudget,
        dice: &Dice,
        resend: Resend,
    ) -> Self {
        budget.earn();
        let backoff = Backoff::doubling(&policy.delays, dice.clone());
        Self { policy, budget, resend, backoff, number: 1 }
    }

    /// How long to wait before the next one; `None` if this failure is the answer.
    ///
    /// `wish` is for how long the service asks to be left alone. `left` is what is left
    /// of the time for the whole call: a delay that takes all of it is not begun.
    pub(super) fn after(
        &mut self,
        fate: Fate,
        wish: Option<Duration>,
        left: Option<Duration>,
    ) -> Option<Duration> {
        let again = self.number < self.policy.max_attempts && self.resend.allows(fate);
        if !again || wish.is_some_and(|wish| wish > self.policy.longest_wish) {
            return None;
        }
        let delay = self.backoff.delay(wish);
        if left.is_some_and(|left| delay >= left) || !self.budget.spend() {
            return None;
        }
        self.number += 1;
        Some(delay)
    }
}
