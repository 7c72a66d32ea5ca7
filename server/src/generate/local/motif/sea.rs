//! Water up to a horizon, with the sky's light on it, and sometimes a sail.

use std::f32::consts::TAU;

use super::super::canvas::Canvas;
use super::super::chance::{Chance, varied};
use super::super::colour::mix;
use super::super::noise::{layered, smooth, step};
use super::land::sky;
use super::{Scene, round};

/// Height of the first row of waves, as a share of the water's.
const FIRST: f32 = 0.007;
/// How much higher each row is than the one behind it.
const GROWTH: f32 = 0.04;
/// Length of a row's period in units of its height.
const LENGTH: f32 = 56.0;
/// Places in one period of the waves.
const PERIOD: usize = 1024;

pub(super) fn sea(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    let horizon = chance.between(0.36, 0.58);
    let light_at = sky(scene, canvas, &mut chance, horizon, phase);
    let island = chance.happens(0.5);
    if island {
        far_coast(scene, canvas, &mut chance, horizon);
    }
    water(scene, canvas, &mut chance, (horizon, light_at), phase);
    if chance.happens(0.65) {
        sail(scene, canvas, &mut chance, horizon, phase);
    }
}

fn far_coast(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, horizon: f32) {
    let (width, height) = canvas.sides();
    let middle = width * chance.between(0.1, 0.9);
    let reach = width * chance.between(0.2, 0.45);
    let tall = canvas.short() * chance.between(0.05, 0.12);
    let seed = chance.next() as u32;
    let scale = 6.0 / canvas.short();
    let edge: Vec<f32> = (0..canvas.width)
        .map(|x| {
            let x = x as f32;
            let hump = (1.0 - ((x - middle) / reach).powi(2)).max(0.0);
            let rough = 0.75 + 0.6 * layered(seed, x * scale, 0.5, 3);
            height * horizon + 1.0 - tall * hump * rough
        })
        .collect();
    let colour = scene.palette.ramp.at(0.52);
    let haze = scene.palette.ramp.at(0.74);
    canvas.below(&edge, |y| mix(haze, colour, (height * horizon - y) / tall.max(1.0)));
}

/// Rows of waves, longer and farther apart towards the eye, and a path of light.
fn water(
    scene: &Scene,
    canvas: &mut Canvas,
    chance: &mut Chance,
    (horizon, light_at): (f32, f32),
    phase: f32,
) {
    let ramp = &scene.palette.ramp;
    let waves = waves(chance);
    let (width, height) = canvas.sides();
    let first = (height * horizon) as usize;
    let light = mix(ramp.at(1.0), [255; 3], 0.35);
    let columns = canvas.width as usize;
    let calm = chance.between(0.6, 1.25);
    let seed = chance.next();
    for y in first..canvas.height as usize {
        let depth = (y - first) as f32 / (height - first as f32);
        // Rows of waves get higher towards the eye.
        let rows = (1.0 + depth * GROWTH / FIRST).ln() / GROWTH;
        let (row, share) = (rows as u64, smooth(rows.fract()));
        // Where the waves of a row begin, and how long they are.
        let crest = |row: u64| {
            let mut chance = Chance::new(varied(seed, row));
            let drift = if row.is_multiple_of(2) { phase } else { -phase };
            let tall = FIRST * (row as f32 * GROWTH).exp() * (height - first as f32);
            ((chance.unit() + drift + 1.0) * PERIOD as f32, PERIOD as f32 / (tall * LENGTH))
        };
        let ((one, step_one), (two, step_two)) = (crest(row), crest(row + 1));
        let path = width * (0.025 + 0.15 * depth);
        for x in 0..columns {
            let rise = waves[(x as f32 * step_one + one) as usize % PERIOD];
            let other = waves[(x as f32 * step_two + two) as usize % PERIOD];
            let rise = rise + (other - rise) * share;
            let tone = 0.68 - 0.56 * depth.sqrt() + 0.1 * rise * calm * (0.3 + depth);
            let aside = (x as f32 - light_at).abs() / path;
            let glitter = step(1.3, 0.0, aside + 0.2 * rise) * step(-0.25, 0.75, rise);
            let pixel = &mut canvas.pixels[y * columns + x];
            *pixel = mix(ramp.at(tone), light, 0.9 * glitter * (1.0 - 0.4 * depth));
        }
    }
}

/// A wavy line that ends where it begins, between about -1 and 1.
fn waves(chance: &mut Chance) -> Vec<f32> {
    let parts: Vec<_> = [3.0, 5.0, 8.0, 13.0, 21.0]
        .map(|often| (often, chance.between(0.4, 1.0) / (1.0 + often * 0.06), chance.unit()))
        .into();
    let at = |place: usize| {
        let t = place as f32 / PERIOD as f32;
        parts.iter().map(|(often, size, turn)| size * ((t * often + turn) * TAU).sin()).sum::<f32>()
    };
    (0..PERIOD).map(|place| at(place) * 0.7).collect()
}

fn sail(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, horizon: f32, phase: f32) {
    let (width, height) = canvas.sides();
    let tall = canvas.short() * chance.between(0.07, 0.17);
    let x = width * chance.between(0.15, 0.85);
    let y = height * (horizon + 0.02) + tall * 0.35 + round(phase, tall * 0.03).0;
    let tilt = round(phase + 0.2, tall * 0.03).0;
    let (dark, light) = (scene.palette.ramp.at(0.06), scene.palette.ramp.at(1.0));
    let white = mix(light, [255; 3], 0.6);
    let top = (x + tilt, y - tall);
    canvas.triangle([top, (x, y - tall * 0.12), (x + tall * 0.42, y - tall * 0.14)], (white, 0.95));
    let jib = [(top.0, top.1 + tall * 0.1), (x - tall * 0.04, y - tall * 0.12)];
    let accent = scene.palette.accent;
    canvas.triangle([jib[0], jib[1], (x - tall * 0.36, y - tall * 0.12)], (accent, 0.95));
    canvas.shape((x, y), (tall * 0.5, tall * 0.12), (dark, 1.0), |dx, dy| {
        let keel = (dy / (tall * 0.1)).clamp(-1.0, 1.0);
        let half = tall * (0.36 - 0.09 * keel);
        ((half - dx.abs()).min(tall * 0.075 - dy.abs()) + 0.5).clamp(0.0, 1.0)
    });
    // Its image in the water.
    canvas.shape((x, y + tall * 0.3), (tall * 0.3, tall * 0.24), (dark, 0.3), |dx, dy| {
        let fade = 1.0 - (dy / (tall * 0.24) + 1.0) * 0.5;
        (fade - dx.abs() / (tall * 0.34)).clamp(0.0, 1.0)
    });
}
