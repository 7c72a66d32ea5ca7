//! How often and how long a job is polled, and which states end it.

use std::time::Duration;

use crate::model::{GenerationState, letters};

/// How often and how long a job is polled, and when it has ended.
#[derive(Debug, Clone)]
pub(super) struct Polling {
    pub(super) interval: Duration,
    pub(super) max_interval: Duration,
    pub(super) timeout: Duration,
    /// Final states of another service, without case and separators, and whether they are successes.
    pub(super) ends: Vec<(String, bool)>,
}

impl Polling {
    pub(super) fn name(&mut self, states: impl IntoIterator<Item: AsRef<str>>, is_success: bool) {
        self.ends.extend(states.into_iter().map(|state| (letters(state.as_ref()), is_success)));
    }

    /// Whether a job in this state is completed; `None` if it has not ended.
    pub(super) fn end(&self, state: &GenerationState) -> Option<bool> {
        let name = letters(state.as_str());
        let named = self.ends.iter().find(|(end, _)| *end == name);
        named.map(|(_, success)| *success).or(state.is_final().then(|| state.is_success()))
    }
}

/// The setters of [`Polling`].
macro_rules! polling {
    ([$($generic:tt)*] $name:ty, $($path:ident).+) => {
        /// How often and how long the job is polled.
        impl<$($generic)*> $name {
            /// The delay before the second poll, which doubles with each poll and has jitter; 250
            /// milliseconds by default.
            pub const fn poll_interval(mut self, interval: std::time::Duration) -> Self {
                self.$($path).+.interval = interval;
                self
            }

            /// The longest delay between two polls; 3 seconds by default.
            pub const fn max_poll_interval(mut self, interval: std::time::Duration) -> Self {
                self.$($path).+.max_interval = interval;
                self
            }

            /// How long all of it may take; 10 minutes by default. The job continues after it.
            pub const fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.$($path).+.timeout = timeout;
                self
            }

            /// States by which another service says that a job has ended without output, such as
            /// `canceled` and `expired`, whatever their case and separators. A state that is neither
            /// known nor named here is polled on.
            pub fn final_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
                self.$($path).+.name(states, false);
                self
            }

            /// States by which another service says that a job is completed, such as `succeeded`.
            pub fn success_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
                self.$($path).+.name(states, true);
                self
            }
        }
    };
}

pub(super) use polling;
