//! The compositions. Each paints one moment of a scene; moment 1 is moment 0 again,
//! so that the moments in between make an animation without an end.

mod bloom;
mod city;
mod cloth;
mod figure;
mod land;
mod lights;
mod sea;

use std::f32::consts::TAU;

use super::canvas::Canvas;
use super::chance::{Chance, varied};
use super::mood::{self, Motif, Palette};
use super::noise;

/// What is painted, in which colours, with which accidents.
pub(super) struct Scene {
    pub(super) motif: Motif,
    pub(super) palette: Palette,
    seed: u64,
}

impl Scene {
    /// The scene of a prompt. Variations of one seed share motif and colours and
    /// differ in everything else.
    pub(super) fn new(prompt: &str, seed: u64, variation: u64) -> Self {
        let mut chance = Chance::new(seed);
        Self {
            motif: mood::motif(prompt, &mut chance),
            palette: mood::palette(prompt, &mut chance),
            seed: varied(seed, variation),
        }
    }

    /// The moment `phase`, between 0 and 1.
    pub(super) fn paint(&self, width: u32, height: u32, phase: f32) -> Canvas {
        let mut canvas = Canvas::new(width, height);
        let paint = match self.motif {
            Motif::Silk => cloth::silk,
            Motif::Paper => cloth::paper,
            Motif::Orbs => lights::orbs,
            Motif::Space => lights::space,
            Motif::Bloom => bloom::bloom,
            Motif::Hills => land::hills,
            Motif::Woods => land::woods,
            Motif::Sea => sea::sea,
            Motif::Portrait => figure::portrait,
            Motif::Cat => figure::cat,
            Motif::Fox => figure::fox,
            Motif::City => city::city,
        };
        paint(self, &mut canvas, phase);
        canvas
    }

    /// The accidents of the scene, from their beginning: the same at each moment.
    fn chance(&self) -> Chance {
        Chance::new(self.seed)
    }
}

/// A point that goes round once, for things that have to come back.
fn round(phase: f32, radius: f32) -> (f32, f32) {
    let (sin, cos) = (phase * TAU).sin_cos();
    (radius * cos, radius * sin)
}

/// A smooth line over the columns of a picture: heights between about -1 and 1.
fn line(width: u32, seed: u32, scale: f32, layers: u32) -> Vec<f32> {
    // Every fourth column is worked out; in between a straight piece will do.
    const STRIDE: usize = 4;
    // Midway between the rows of the noise's grid, on which it is nearly level.
    let at = |x: usize| noise::layered(seed, x as f32 * scale, 0.5, layers);
    let mut heights = Vec::with_capacity(width as usize + STRIDE);
    let (mut x, mut from) = (0, at(0));
    while x < width as usize {
        let to = at(x + STRIDE);
        heights.extend((0..STRIDE).map(|i| from + (to - from) * i as f32 / STRIDE as f32));
        (x, from) = (x + STRIDE, to);
    }
    heights
}
