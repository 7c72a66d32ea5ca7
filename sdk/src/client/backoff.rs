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

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn delays_double_up_to_the_maximum_and_are_drawn_from_the_upper_half() {
        let mut extremes = (Duration::MAX, Duration::ZERO);
        for _ in 0..500 {
            let mut backoff = Backoff::new(millis(200), millis(1000));
            for length in [200, 400, 800, 1000, 1000] {
                let delay = backoff.delay(None);
                assert!((millis(length) / 2..=millis(length)).contains(&delay), "{delay:?}");
                if length == 200 {
                    extremes = (extremes.0.min(delay), extremes.1.max(delay));
                }
            }
        }
        assert!(extremes.0 < millis(110) && extremes.1 > millis(190), "{extremes:?}");
    }

    #[test]
    fn a_longer_retry_after_is_waited_for_and_a_shorter_one_is_not() {
        let mut backoff = Backoff::new(millis(200), millis(200));
        assert_eq!(backoff.delay(Some(millis(7000))), millis(7000));
        assert!(backoff.delay(Some(millis(10))) >= millis(100));
    }

    #[test]
    fn no_setting_retries_without_pause_or_overflows() {
        assert!(Backoff::new(millis(0), millis(0)).delay(None) >= MIN_BACKOFF / 2);
        let mut endless = Backoff::new(Duration::MAX, Duration::MAX);
        assert!(endless.delay(None) > Duration::MAX / 3);
        assert!(endless.delay(None) > Duration::MAX / 3);
        let mut reversed = Backoff::new(millis(500), millis(1));
        assert!(reversed.delay(None) >= millis(250));
        assert!(reversed.delay(None) >= millis(250));
    }
}
