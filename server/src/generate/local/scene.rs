//! What the words of a prompt ask for: a palette and a kind of scene, painted point by point.

use std::f32::consts::TAU;

use fastrand::Rng;
use image::{Rgb, RgbImage};

pub(super) type Colour = [f32; 3];

/// Five colours from dark to light, and one for sun and stars; the kind of scene; words. The first row
/// with a word of the prompt decides, or chance.
pub(super) const ROWS: [&str; 9] = [
    "0b0524 2a0f5e 7a1fa2 e0409a ff9ad5 2de2e6|city|city street town skyline tower urban neon",
    "062a44 0f5873 2f95a5 8fd0cb fbf2d8 ff8c66|water|sea ocean lake beach river coast harbour harbor boat ship lighthouse",
    "04071c 0e1542 232c72 48489a 8f80c8 ffd27a|stars|night midnight star moon space galaxy",
    "0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541|trees|green forest wood jungle tree park garden",
    "231942 5b2a6b b13f71 f3795a ffd58a ffc04d|hills|dusk sunset evening dawn sunrise morning purple",
    "2e0713 7a1022 c42b35 f26b5e ffd3c2 f7b733|hills|red ruby crimson fire flame lava volcano",
    "5a1f4a a8457c e283a8 f8bfcc fff0ea 6fbf8b|hills|pink coral love spring flower rose",
    "2f1420 7a2f25 c4622d eca85a fdebc0 e23f2a|hills|autumn orange gold golden yellow desert dune",
    "26384f 58738f 97b2c8 cfdfe9 fafcfd e07a5f|hills|blue snow winter ice fog mountain hill valley field",
];

/// A scene in a picture whose shorter side is the unit of places and lengths.
pub(super) struct Scene {
    colours: [Colour; 6],
    pub(super) kind: &'static str,
    unit: f32,
    size: (f32, f32),
    seed: u32,
    /// Where water begins; the lower edge if there is none.
    horizon: f32,
    sun: (f32, f32),
}

impl Scene {
    /// What the words of `prompt` ask for; `seed` decides what they leave open.
    pub(super) fn new(prompt: &str, seed: u64, (width, height): (u32, u32)) -> Self {
        let (mut rng, prompt) = (Rng::with_seed(seed), prompt.to_lowercase());
        let words: Vec<_> = prompt.split(|letter: char| !letter.is_alphanumeric()).collect();
        let is_asked = |known: &str| {
            words.iter().any(|word| *word == known || word.strip_suffix('s') == Some(known))
        };
        let rows = ROWS.map(|row| [0, 1, 2].map(|at| row.split('|').nth(at).unwrap_or("")));
        let any = rows[rng.usize(..rows.len())];
        let row = rows.into_iter().find(|row| row[2].split(' ').any(is_asked)).unwrap_or(any);
        let mut colours = row[0].split(' ').map(|hex| {
            let [_, rgb @ ..] = u32::from_str_radix(hex, 16).unwrap_or_default().to_be_bytes();
            rgb.map(|part| f32::from(part) / 255.0)
        });
        let colours = std::array::from_fn(|_| colours.next().unwrap_or_default());
        let unit = width.min(height) as f32;
        let size = (width as f32 / unit, height as f32 / unit);
        let shore = if row[1] == "water" { 0.5 + 0.14 * rng.f32() } else { 1.0 };
        let sun = (size.0 * (0.2 + 0.6 * rng.f32()), size.1 * (0.12 + 0.18 * rng.f32()));
        Self { colours, kind: row[1], unit, size, seed: rng.u32(..), horizon: size.1 * shore, sun }
    }

    /// The moment `phase`: from 0 to 1, and 1 is 0 again. `finish` has the last word on each point.
    pub(super) fn paint(
        &self,
        phase: f32,
        finish: impl Fn(u32, u32, Colour) -> Colour,
    ) -> RgbImage {
        let side = |of: f32| (of * self.unit).round() as u32;
        let drift = ((phase * TAU).cos() * 0.12, (phase * TAU).sin() * 0.12);
        RgbImage::from_fn(side(self.size.0), side(self.size.1), |column, row| {
            let (x, y) = (column as f32 / self.unit, row as f32 / self.unit);
            let colour = finish(column, row, self.point(x, y, drift));
            Rgb(colour.map(|part| (part * 255.0) as u8))
        })
    }

    /// The colour at `t`: 0 is dark, 1 is light.
    pub(super) fn shade(&self, t: f32) -> Colour {
        let t = t.clamp(0.0, 1.0) * 4.0;
        let from = (t as usize).min(3);
        mix(self.colours[from], self.colours[from + 1], t - from as f32)
    }

    fn point(&self, x: f32, y: f32, drift: (f32, f32)) -> Colour {
        let down = y - self.horizon;
        if down < 0.0 || self.kind != "water" {
            return self.land(x, y, drift);
        }
        // The land mirrored, in waves that are longer nearby.
        let depth = down / (self.size.1 - self.horizon);
        let (wide, high) = ((x - self.size.0 / 2.0) / (0.04 + depth), 1.0 / (0.04 + depth));
        let wave =
            noise(self.seed, wide * 9.0 + 4.0 * drift.0, high * 16.0 + 4.0 * drift.1, 2) - 0.5;
        let mirrored = self.land(x + wave * depth * 0.2, (self.horizon - down).max(0.0), drift);
        let path = 1.0 / (1.0 + ((x - self.sun.0) / (0.05 + 0.2 * depth)).powi(4));
        let water = mix(mirrored, self.shade(0.3 - 0.2 * depth), 0.3 + 0.4 * depth + wave * depth);
        mix(water, self.colours[5], 4.0 * (wave + 0.3 * path - 0.2) * path)
    }

    fn land(&self, x: f32, y: f32, (dx, dy): (f32, f32)) -> Colour {
        let random = |salt| hash(self.seed ^ salt, (x / 0.07) as i32, (y / 0.07) as i32);
        let t = (y / self.horizon.min(self.size.1 * 0.8)).min(1.0);
        let cloud = noise(self.seed, x * 1.3 + dx, y * 5.0 + dy, 5) - 0.5;
        let mut colour =
            mix(self.shade(0.3 + 0.6 * t * t), self.shade(0.95), 2.0 * cloud * (1.1 - t));
        if self.kind == "stars" {
            let place = |at: f32, salt| (at / 0.07).fract() - 0.2 - 0.6 * random(salt);
            let distance = place(x, 1).hypot(place(y, 2)) / (0.04 + 0.16 * random(3).powi(3));
            let twinkle = 0.8 + 3.0 * dx * (random(4) - 0.5);
            colour = mix(colour, self.colours[5], twinkle * (1.5 - distance));
        }
        let distance = (x - self.sun.0).hypot(y - self.sun.1);
        let glow = (1.0 - distance / (0.55 + 0.3 * dy)).max(0.0);
        colour = mix(colour, self.colours[5], 0.6 * glow * glow);
        colour = mix(colour, self.shade(1.0), (0.075 - distance) * self.unit + 0.5);
        // Silhouettes one before the other, the near ones dark.
        for layer in 1..=4_u32 {
            let near = layer as f32 / 4.0;
            let base = self.horizon * (0.5 + 0.5 * near);
            let down = y - base + self.horizon.min(0.8) * self.profile(layer, near, x);
            let own = self.shade(0.72 - 0.66 * near + 0.4 * (y - base));
            colour = mix(colour, own, down * self.unit + 1.0);
        }
        colour
    }

    /// The height of a silhouette at a place.
    fn profile(&self, layer: u32, near: f32, x: f32) -> f32 {
        let seed = self.seed ^ (layer * 8);
        // The higher of two things beside each other.
        let highest = |wide: f32, shape: fn(f32) -> f32| {
            let one = |shift: f32| {
                let at = x / wide + shift;
                hash(seed, at as i32, (shift * 8.0) as i32) * shape(at.fract())
            };
            one(0.0).max(one(0.5))
        };
        match self.kind {
            "city" => 0.1 + 0.6 * highest(0.12, |_| 1.0) * (1.2 - near),
            "trees" => {
                0.1 + 0.35 * near * highest(0.05 + 0.06 * near, |at| 1.0 - (at * 2.0 - 1.0).abs())
            }
            _ => 0.8 * (noise(seed, x * (4.0 - 2.0 * near), 0.5, 5) - 0.45),
        }
    }
}

/// `a` at 0 and below, `b` at 1 and beyond.
pub(super) fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    let t = t.clamp(0.0, 1.0);
    [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/// From 0 to 1, for a point of a grid.
fn hash(seed: u32, x: i32, y: i32) -> f32 {
    let mixed = seed ^ (x as u32).wrapping_mul(0x27d4_eb2d) ^ (y as u32).wrapping_mul(0x1656_67b1);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 24) as f32
}

/// Value noise of several scales, from 0 to 1: random on a grid, and smooth between.
fn noise(seed: u32, mut x: f32, mut y: f32, octaves: u32) -> f32 {
    let between = |a: f32, b: f32, t: f32| a + (b - a) * t * t * (3.0 - 2.0 * t);
    let mut sum = 0.5;
    for octave in 0..octaves {
        let (left, top) = (x.floor(), y.floor());
        let at =
            |right: i32, down: i32| hash(seed ^ octave, left as i32 + right, top as i32 + down);
        let row = |down: i32| between(at(0, down), at(1, down), x - left);
        sum += (between(row(0), row(1), y - top) - 0.5) / (2 << octave) as f32;
        // Turned, so that the grids do not show.
        (x, y) = (1.6 * x - 1.2 * y + 3.7, 1.2 * x + 1.6 * y - 1.3);
    }
    sum
}
