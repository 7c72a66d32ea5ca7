//! Land: ridges behind ridges, lighter the farther they are, under a sky.

use super::super::canvas::Canvas;
use super::super::chance::Chance;
use super::super::colour::{Ramp, mix};
use super::super::noise::{field, layered, noise, step};
use super::{Scene, line, round};

pub(super) fn hills(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    land(scene, canvas, phase, false);
}

pub(super) fn woods(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    land(scene, canvas, phase, true);
}

fn land(scene: &Scene, canvas: &mut Canvas, phase: f32, wooded: bool) {
    let mut chance = scene.chance();
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let horizon = chance.between(0.42, 0.58);
    sky(scene, canvas, &mut chance, horizon, phase);
    let count = 4 + chance.below(3);
    let rugged = chance.between(0.25, 1.0);
    let ramp = &scene.palette.ramp;
    for at in 0..count {
        let near = (at as f32 + 1.0) / count as f32;
        let seed = chance.next() as u32;
        let scale = (1.1 + 1.5 * near) / short;
        let swing = short * (0.16 - 0.05 * near) * (0.6 + 0.6 * rugged);
        let base = height * (horizon + (0.98 - horizon) * (near - 0.45 / count as f32));
        let mut edge = line(canvas.width, seed, scale, if rugged > 0.5 { 5 } else { 3 });
        // Sharp crests for some, round ones for others.
        let round_off = ((1.0 - rugged) * 0.35).powi(2);
        for point in &mut edge {
            *point = base - swing * (0.5 - 1.6 * (*point * *point + round_off).sqrt());
        }
        if wooded && near > 0.3 {
            trees(&mut edge, &mut chance, short * (0.05 + 0.17 * near * near), (near, phase));
        }
        let tone = 0.72 * (1.0 - near) + 0.03;
        let haze = ramp.at((tone + 0.28).min(0.9));
        let colour = ramp.at(tone);
        let start = base - swing * 0.5;
        canvas.below(&edge, |y| mix(colour, haze, 0.75 * ((y - start) / (height * 0.36)).min(1.0)));
    }
    if chance.happens(0.6) {
        birds(canvas, &mut chance, (width, height * horizon), ramp, phase);
    }
}

/// Rows from dark to light, a sun or moon, and thin clouds. Gives the column of the
/// sun.
pub(super) fn sky(
    scene: &Scene,
    canvas: &mut Canvas,
    chance: &mut Chance,
    horizon: f32,
    phase: f32,
) -> f32 {
    let ramp = &scene.palette.ramp;
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let top = chance.between(0.3, 0.62);
    canvas.rows(|y| ramp.at(top + (0.97 - top) * (y / horizon).min(1.0)));
    let centre = (width * chance.between(0.2, 0.8), height * horizon * chance.between(0.35, 0.86));
    let radius = short * chance.between(0.055, 0.12);
    let light = mix(ramp.at(1.0), [255; 3], 0.45);
    let pulse = 1.0 + round(phase, 0.05).0;
    canvas.glow(centre, radius * 5.5 * pulse, (light, 0.5));
    let accent = scene.palette.accent;
    let warm = accent[0] > accent[2] && accent[0] > accent[1];
    let disc = if warm && chance.happens(0.6) { mix(accent, light, 0.15) } else { light };
    canvas.disc(centre, radius, 1.2, (disc, 0.96));
    let seed = chance.next() as u32;
    let cover = chance.between(0.0, 0.34);
    let (dx, dy) = round(phase, 0.1);
    let clouds = field(canvas.width, canvas.height, |x, y| {
        let bend = noise(seed ^ 1, x * 1.2, y * 2.0 + dy);
        [0.5 + layered(seed, x * 0.9 + dx + bend * 0.3, y * 4.6 + bend * 0.4, 3), 0.0, 0.0]
    });
    let rows = (height * (horizon + 0.1)) as usize * canvas.width as usize;
    for (pixel, cloud) in canvas.pixels.iter_mut().zip(clouds.chunks_exact(3)).take(rows) {
        let share = 0.7 * step(0.78 - cover, 1.05 - cover, cloud[0]);
        if share > 0.0 {
            *pixel = mix(*pixel, light, share);
        }
    }
    centre.0
}

/// Firs along a line: raises it to their tops.
fn trees(edge: &mut [f32], chance: &mut Chance, tall: f32, moment: (f32, f32)) {
    let (near, phase) = moment;
    let end = edge.len() as f32;
    let mut x = chance.between(-0.2, 0.3) * tall;
    while x < end + tall {
        let height = tall * chance.between(0.45, 1.25);
        let half = height * chance.between(0.17, 0.24);
        let sway = round(phase + chance.unit(), tall * 0.012 * near).0;
        let foot = edge[(x.clamp(0.0, end - 1.0)) as usize];
        let (from, to) = ((x - half).max(0.0) as usize, (x + half).clamp(0.0, end) as usize);
        for (at, point) in edge.iter_mut().enumerate().take(to).skip(from) {
            let aside = (at as f32 - x - sway).abs() / half;
            // Branches: the outline goes down in teeth.
            let tooth = (aside * 5.0).fract() * 0.16;
            let top = foot + height * 0.05 - height * (1.0 - aside - tooth).max(0.0);
            *point = point.min(top);
        }
        x += half * chance.between(0.55, 2.4) + tall * 0.03;
    }
}

fn birds(canvas: &mut Canvas, chance: &mut Chance, room: (f32, f32), ramp: &Ramp, phase: f32) {
    let short = canvas.short();
    let flock = (room.0 * chance.between(0.2, 0.8), room.1 * chance.between(0.25, 0.7));
    for _ in 0..3 + chance.below(4) {
        let span = short * chance.between(0.012, 0.024);
        let beat = 0.5 + round(phase * 2.0 + chance.unit(), 0.35).0;
        let centre = (
            flock.0 + short * chance.between(-0.16, 0.16),
            flock.1 + short * chance.between(-0.08, 0.08),
        );
        let thick = (span * 0.13).max(0.9);
        canvas.shape(centre, (span, span), (ramp.at(0.08), 0.9), |x, y| {
            let out = x.abs() / span;
            let wing = -span * beat * (2.0 * out - out * out) * (1.25 - out) + span * 0.2;
            (1.2 - (y - wing).abs() / (thick * (1.15 - out))).clamp(0.0, 1.0)
        });
    }
}
