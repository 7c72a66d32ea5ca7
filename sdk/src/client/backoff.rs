//! How long to wait before asking again: longer each time, never in step with
//! others. No clock and no I/O.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Without it a delay of zero would stay zero and ask without pause.
const SHORTEST: Duration = Duration::from_millis(1);

/// Where delays get their chance from: numbers from 0 to 1.
#[derive(Clone, Default)]
pub(super) struct Dice(Option<Arc<Mutex<fastrand::Rng>>>);

impl Dice {
    /// The same numbers for the same seed, in the order in which they are asked for.
    pub(super) fn seeded(seed: u64) -> Self {
        Self(Some(Arc::new(Mutex::new(fastrand::Rng::with_seed(seed)))))
    }

    fn throw(&self) -> f64 {
        match &self.0 {
            None => fastrand::f64(),
            Some(seeded) => seeded.lock().unwrap_or_else(PoisonError::into_inner).f64(),
        }
    }
}

impl fmt::Debug for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Seeded" } else { "Random" })
    }
}

/// Delays that grow each time, up to a longest one.
///
/// Each is drawn between half of its full length and the whole, so that many
/// clients that began together do not go on together.
pub(super) struct Backoff {
    next: Duration,
    longest: Duration,
    growth: Growth,
    dice: Dice,
}

#[derive(Clone, Copy)]
enum Growth {
    ByHalf,
    Double,
}

impl Backoff {
    /// Grows by half each time, from the first full length to the longest; a longest
    /// one that is shorter than the first counts as equal to it.
    pub(super) fn new(lengths: &RangeInclusive<Duration>, dice: Dice) -> Self {
        Self::growing(lengths, Growth::ByHalf, dice)
    }

    /// As [`new`](Self::new), but doubled each time.
    pub(super) fn doubling(lengths: &RangeInclusive<Duration>, dice: Dice) -> Self {
        Self::growing(lengths, Growth::Double, dice)
    }

    fn growing(lengths: &RangeInclusive<Duration>, growth: Growth, dice: Dice) -> Self {
        let next = SHORTEST.max(*lengths.start());
        Self { next, longest: next.max(*lengths.end()), growth, dice }
    }

    /// The same chances, other lengths.
    pub(super) fn with_lengths(self, lengths: &RangeInclusive<Duration>) -> Self {
        Self::growing(lengths, self.growth, self.dice)
    }

    /// The next delay, or what the service asked for if that is longer.
    pub(super) fn delay(&mut self, asked: Option<Duration>) -> Duration {
        let half = self.next / 2;
        let delay = half + half.mul_f64(self.dice.throw().clamp(0.0, 1.0));
        let more = match self.growth {
            Growth::ByHalf => half,
            Growth::Double => self.next,
        };
        self.next = self.next.saturating_add(more).min(self.longest);
        delay.max(asked.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn by_half(lengths: RangeInclusive<Duration>) -> Backoff {
        Backoff::new(&lengths, Dice::default())
    }

    /// Whether ten delays are each between half of these lengths and the whole.
    fn are_drawn_from(mut backoff: Backoff, lengths: [u64; 10]) {
        for length in lengths {
            let delay = backoff.delay(None);
            // A half that is no whole nanosecond loses one.
            let slack = Duration::from_nanos(10);
            assert!(delay + slack >= millis(length) / 2, "{delay:?} of {length} ms");
            assert!(delay <= millis(length) + millis(1), "{delay:?} of {length} ms");
        }
    }

    #[test]
    fn delays_grow_by_half_or_double_up_to_the_longest() {
        for seed in 0..100 {
            let (lengths, dice) = (millis(200)..=millis(1000), Dice::seeded(seed));
            let grown = [200, 300, 450, 675, 1000, 1000, 1000, 1000, 1000, 1000];
            are_drawn_from(Backoff::new(&lengths, dice.clone()), grown);
            let doubled = [200, 400, 800, 1000, 1000, 1000, 1000, 1000, 1000, 1000];
            are_drawn_from(Backoff::doubling(&lengths, dice), doubled);
        }
    }

    #[test]
    fn a_delay_is_drawn_between_its_half_and_its_whole() {
        let mut backoff = by_half(millis(200)..=millis(200));
        let drawn: Vec<_> = (0..1000).map(|_| backoff.delay(None)).collect();
        assert!(drawn.iter().all(|delay| (millis(100)..=millis(200)).contains(delay)));
        let (low, high) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(*low < millis(110) && *high > millis(190), "{low:?} to {high:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_delays() {
        let drawn = |seed| {
            let lengths = millis(200)..=millis(9000);
            let mut backoff = Backoff::doubling(&lengths, Dice::seeded(seed));
            (0..5).map(|_| backoff.delay(None)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
    }

    #[test]
    fn a_longer_wish_of_the_service_is_granted_and_a_shorter_one_is_not() {
        let mut backoff = by_half(millis(200)..=millis(200));
        assert_eq!(backoff.delay(Some(millis(7000))), millis(7000));
        assert!(backoff.delay(Some(millis(10))) >= millis(100));
    }

    #[test]
    fn no_setting_makes_it_ask_without_pause_or_overflow() {
        assert!(by_half(millis(0)..=millis(0)).delay(None) >= SHORTEST / 2);
        for make in [Backoff::new, Backoff::doubling] {
            let mut endless = make(&(Duration::MAX..=Duration::MAX), Dice::default());
            assert!(endless.delay(None) > Duration::MAX / 3);
            assert!(endless.delay(None) > Duration::MAX / 3);
        }
        let mut upside_down = by_half(millis(500)..=millis(1));
        assert!(upside_down.delay(None) >= millis(250));
        assert!(upside_down.delay(None) >= millis(250));
    }
}
