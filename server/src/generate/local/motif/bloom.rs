//! Flowers: rings of petals, the inner ones upon the outer.

use std::f32::consts::TAU;

use super::super::canvas::Canvas;
use super::super::chance::Chance;
use super::super::colour::mix;
use super::super::noise::{field, layered, step};
use super::{Scene, round};

/// Directions in which the edge of a ring is known.
const DIRECTIONS: usize = 1024;

struct Ring {
    /// How far the petals go in each direction, in pixels.
    edge: Vec<f32>,
    /// Place on the ramp.
    tone: f32,
    accent: f32,
    /// How often a petal comes.
    petals: f32,
    turn: f32,
}

pub(super) fn bloom(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    ground(scene, canvas, &mut chance, phase);
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let centre = (width * chance.between(0.44, 0.56), height * chance.between(0.44, 0.56));
    let radius = short * chance.between(0.42, 0.5);
    let rings = rings(&mut chance, radius, phase);
    let outermost = rings.first().map_or(0.0, |ring| ring.edge.iter().copied().fold(0.0, f32::max));
    canvas.glow(centre, outermost * 1.5, (scene.palette.ramp.at(0.95), 0.4));
    let (ramp, accent) = (&scene.palette.ramp, scene.palette.accent);
    let shadow = ramp.at(0.02);
    let columns = canvas.width as usize;
    for (at, pixel) in canvas.pixels.iter_mut().enumerate() {
        let x = (at % columns) as f32 + 0.5 - centre.0;
        let y = (at / columns) as f32 + 0.5 - centre.1;
        let far = (x * x + y * y).sqrt();
        if far > outermost + 1.0 {
            continue;
        }
        let direction = y.atan2(x) / TAU + 1.0;
        let index = (direction * DIRECTIONS as f32) as usize % DIRECTIONS;
        // Rings that are wholly covered need no paint.
        let seen = rings.iter().rposition(|ring| ring.edge[index] - far >= 0.5).unwrap_or(0);
        for ring in &rings[seen..] {
            let edge = ring.edge[index];
            let inside = edge - far + 0.5;
            if inside <= 0.0 {
                // The shadow that this ring throws on the one below.
                *pixel = mix(*pixel, shadow, 0.3 * (1.0 + inside / (short * 0.02)).max(0.0));
                continue;
            }
            let out = far / edge;
            let vein = ((direction + ring.turn) * ring.petals * TAU).cos();
            let tone =
                ring.tone - 0.26 * (1.0 - out) + 0.05 * vein * out + 0.08 * step(0.9, 1.0, out);
            let colour = mix(ramp.at(tone), accent, ring.accent * (1.0 - 0.6 * out));
            *pixel = mix(*pixel, colour, inside);
        }
    }
    heart(scene, canvas, centre, short * chance.between(0.035, 0.06));
}

fn ground(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, phase: f32) {
    let seed = chance.next() as u32;
    let (low, high) = if chance.happens(0.5) { (0.04, 0.34) } else { (0.72, 0.98) };
    let (dx, dy) = round(phase, 0.06);
    let values = field(canvas.width, canvas.height, |x, y| {
        [0.5 + layered(seed, x * 0.9 + dx, y * 0.9 + dy, 2), 0.0, 0.0]
    });
    for (pixel, value) in canvas.pixels.iter_mut().zip(values.chunks_exact(3)) {
        *pixel = scene.palette.ramp.at(low + (high - low) * value[0]);
    }
}

/// From the outermost to the innermost.
fn rings(chance: &mut Chance, radius: f32, phase: f32) -> Vec<Ring> {
    let count = 4 + chance.below(4);
    let petals = [5.0, 6.0, 7.0, 8.0, 10.0, 12.0][chance.below(6)];
    let round_off = chance.between(0.35, 1.1);
    let deep = chance.between(0.3, 0.6);
    let accent = if chance.happens(0.5) { 0.55 } else { 0.1 };
    let backwards = chance.happens(0.5);
    let ring = |at: usize| {
        let inward = at as f32 / count as f32;
        let petals = if at + 2 >= count { petals } else { petals + (at % 2) as f32 * 2.0 };
        // A turn by one petal looks like none.
        let sway = phase / petals * if at.is_multiple_of(2) == backwards { -1.0 } else { 1.0 };
        let turn = 0.5 * at as f32 / petals + sway;
        let size = radius * (1.0 - 0.82 * inward);
        let edge = (0..DIRECTIONS)
            .map(|direction| {
                let angle = (direction as f32 / DIRECTIONS as f32 + turn) * petals * TAU * 0.5;
                size * (1.0 - deep + deep * angle.cos().abs().powf(round_off))
            })
            .collect();
        let lift = if at.is_multiple_of(2) { 0.0 } else { 0.07 };
        Ring { edge, tone: 0.5 + 0.42 * inward + lift, accent: accent * inward, petals, turn }
    };
    (0..count).map(ring).collect()
}

fn heart(scene: &Scene, canvas: &mut Canvas, centre: (f32, f32), radius: f32) {
    canvas.disc(centre, radius, 1.0, (scene.palette.accent, 1.0));
    let dark = scene.palette.ramp.at(0.12);
    // Seeds along a spiral by the golden angle.
    for seed in 1..40 {
        let out = (seed as f32 / 40.0).sqrt() * radius * 0.9;
        let (sin, cos) = (seed as f32 * 2.399_963).sin_cos();
        canvas.disc((centre.0 + out * cos, centre.1 + out * sin), radius * 0.06, 1.0, (dark, 0.75));
    }
}
