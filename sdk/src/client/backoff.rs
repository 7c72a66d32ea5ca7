//! How long to wait before asking again: longer each time, never in step with
//! others. No clock and no I/O.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Without it a delay of zero would stay zero and ask without pause.
const SHORTEST: Duration = Duration::from_millis(1);

/// Delays that grow by half each time, up to a longest one.
///
/// Each is drawn between half of its full length and the whole, so that many
/// clients that began together do not go on together.
pub(super) struct Backoff {
    next: Duration,
    longest: Duration,
    /// From 0 to 1.
    random: fn() -> f64,
}

impl Backoff {
    /// From the first full length to the longest; a longest one that is shorter than
    /// the first counts as equal to it.
    pub(super) fn new(lengths: &RangeInclusive<Duration>) -> Self {
        Self::with_random(lengths, fastrand::f64)
    }

    fn with_random(lengths: &RangeInclusive<Duration>, random: fn() -> f64) -> Self {
        let next = SHORTEST.max(*lengths.start());
        Self { next, longest: next.max(*lengths.end()), random }
    }

    /// The next delay, or what the service asked for if that is longer.
    pub(super) fn delay(&mut self, asked: Option<Duration>) -> Duration {
        let half = self.next / 2;
        let delay = half + half.mul_f64((self.random)().clamp(0.0, 1.0));
        self.next = self.next.saturating_add(half).min(self.longest);
        delay.max(asked.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn delays(lengths: RangeInclusive<Duration>, random: fn() -> f64) -> Vec<u128> {
        let mut backoff = Backoff::with_random(&lengths, random);
        (0..10).map(|_| backoff.delay(None).as_millis()).collect()
    }

    #[test]
    fn delays_grow_by_half_up_to_the_longest() {
        let lengths = millis(200)..=millis(1000);
        let longest = [200, 300, 450, 675, 1000, 1000, 1000, 1000, 1000, 1000];
        let shortest = [100, 150, 225, 337, 500, 500, 500, 500, 500, 500];
        // A half that is no whole nanosecond loses one.
        let about = |found: Vec<u128>, expected: [u128; 10]| {
            assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 2), "{found:?}");
        };
        about(delays(lengths.clone(), || 1.0), longest);
        about(delays(lengths, || 0.0), shortest);
    }

    #[test]
    fn a_delay_is_drawn_between_its_half_and_its_whole() {
        let mut backoff = Backoff::new(&(millis(200)..=millis(200)));
        let drawn: Vec<_> = (0..1000).map(|_| backoff.delay(None)).collect();
        assert!(drawn.iter().all(|delay| (millis(100)..=millis(200)).contains(delay)));
        let (low, high) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(*low < millis(110) && *high > millis(190), "{low:?} to {high:?}");
    }

    #[test]
    fn a_longer_wish_of_the_service_is_granted_and_a_shorter_one_is_not() {
        let mut backoff = Backoff::with_random(&(millis(200)..=millis(200)), || 1.0);
        assert_eq!(backoff.delay(Some(millis(7000))), millis(7000));
        assert_eq!(backoff.delay(Some(millis(10))), millis(200));
    }

    #[test]
    fn no_setting_makes_it_ask_without_pause_or_overflow() {
        assert!(delays(millis(0)..=millis(0), || 0.0).iter().all(|delay| *delay == 0));
        let mut zero = Backoff::with_random(&(millis(0)..=millis(0)), || 1.0);
        assert_eq!(zero.delay(None), millis(1));
        let mut endless = Backoff::with_random(&(Duration::MAX..=Duration::MAX), || 1.0);
        assert!(endless.delay(None) > Duration::MAX / 3);
        assert!(endless.delay(None) > Duration::MAX / 3);
        let mut upside_down = Backoff::with_random(&(millis(500)..=millis(1)), || 1.0);
        assert_eq!(upside_down.delay(None), millis(500));
    }
}
