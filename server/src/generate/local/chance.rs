//! Chance that repeats: the same seed gives the same numbers on every machine.

/// A stream of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// At least 0 and less than 1.
    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Between two values.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// One of 0 to `count` - 1; 0 if there is none.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f32) as usize).min(count.saturating_sub(1))
    }

    /// Whether something happens that has this chance.
    pub(super) fn happens(&mut self, chance: f32) -> bool {
        self.unit() < chance
    }
}

/// Another seed for each `index`.
pub(super) const fn varied(seed: u64, index: u64) -> u64 {
    mix(seed ^ mix(index.wrapping_add(0x5851_f42d_4c95_7f2d)))
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
