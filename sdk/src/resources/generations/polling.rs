//! How often and how long a job is polled, and which states end it.

use std::time::Duration;

use crate::call::Call;
use crate::model::{GenerationState, letters};

/// How often and how long a job is polled, and when it has ended.
#[derive(Debug, Clone)]
pub struct Polling {
    pub(super) interval: Duration,
    pub(super) max_interval: Duration,
    /// Final states of another service, without case and separators, and whether they are successes.
    ends: Vec<(String, bool)>,
}

impl Default for Polling {
    fn default() -> Self {
        let (interval, max_interval) = (Duration::from_millis(250), Duration::from_secs(3));
        Self { interval, max_interval, ends: Vec::new() }
    }
}

impl Polling {
    fn name(&mut self, states: impl IntoIterator<Item: AsRef<str>>, is_success: bool) {
        self.ends.extend(states.into_iter().map(|state| (letters(state.as_ref()), is_success)));
    }

    /// Whether a job in this state is completed; `None` if it has not ended.
    pub(super) fn end(&self, state: &GenerationState) -> Option<bool> {
        let name = letters(state.as_str());
        let named = self.ends.iter().find(|(end, _)| *end == name);
        named.map(|(_, success)| *success).or(state.is_final().then(|| state.is_success()))
    }
}

/// A call that polls a job.
pub trait Polls {
    #[doc(hidden)]
    fn polling(&mut self) -> &mut Polling;
}

/// How often a job is polled.
impl<T, B: Polls> Call<T, B> {
    /// The delay before the second poll, which doubles with each poll and has jitter; 250
    /// milliseconds by default.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.builder.polling().interval = interval;
        self
    }

    /// The longest delay between two polls; 3 seconds by default.
    pub fn max_poll_interval(mut self, interval: Duration) -> Self {
        self.builder.polling().max_interval = interval;
        self
    }

    /// States by which another service says that a job has ended without output, such as `canceled`
    /// and `expired`, whatever their case and separators. A state that is neither known nor named
    /// here is polled on.
    pub fn final_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.builder.polling().name(states, false);
        self
    }

    /// States by which another service says that a job is completed, such as `succeeded`.
    pub fn success_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.builder.polling().name(states, true);
        self
    }
}
