//! How long a job rests before it is looked at again.

use std::time::Duration;

use jiff::SignedDuration;

const POLL_MIN: Duration = Duration::from_millis(100);
const POLL_MAX: Duration = Duration::from_secs(2);
/// A job is seen to be done at most this part of its age too late.
const POLL_PART: u32 = 5;

const SETBACK_MIN: Duration = Duration::from_secs(1);
const SETBACK_MAX: Duration = Duration::from_secs(30);

/// The longer a job has been going on, the less often it is looked at.
pub(super) fn between_polls(age: SignedDuration) -> Duration {
    let age = Duration::try_from(age).unwrap_or(Duration::ZERO);
    (age / POLL_PART).clamp(POLL_MIN, POLL_MAX)
}

/// The pause doubles with each setback in a row; there were `before` before this
/// one.
pub(super) fn after_setback(before: u32) -> Duration {
    let factor = 2_u32.checked_pow(before).unwrap_or(u32::MAX);
    SETBACK_MIN.saturating_mul(factor).min(SETBACK_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_job_is_looked_at_often_and_an_old_one_seldom() {
        for (age_ms, pause_ms) in
            [(-5, 100), (0, 100), (400, 100), (1000, 200), (5000, 1000), (60_000, 2000)]
        {
            let pause = between_polls(SignedDuration::from_millis(age_ms));
            assert_eq!(pause, Duration::from_millis(pause_ms), "{age_ms}");
        }
    }

    #[test]
    fn setbacks_double_the_pause_up_to_a_limit() {
        let pauses = [0, 1, 2, 3, 4, 5, 31, 32, u32::MAX].map(|n| after_setback(n).as_secs());
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30, 30]);
    }
}
