//! Folds and layers: pictures that are nothing but a surface.

use super::super::canvas::Canvas;
use super::super::colour::{luma, mix};
use super::super::noise::{field, layered, noise, step};
use super::{Scene, round};

/// Folds of silk: noise whose place is bent by other noise, and light that falls on
/// it from one side.
pub(super) fn silk(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    let seed = chance.next() as u32;
    let scale = chance.between(0.75, 1.25);
    let bend = chance.between(0.9, 1.6);
    let folds = chance.between(4.5, 8.5);
    let tinted = chance.between(0.35, 0.75);
    let (dx, dy) = round(phase, 0.14);
    let values = field(canvas.width, canvas.height, |x, y| {
        let (x, y) = (x * scale, y * scale);
        let u = layered(seed, x + dx, y + dy, 2);
        let v = layered(seed ^ 0x55, x + 5.2 - dy, y + 1.3 + dx, 2);
        let height = layered(seed ^ 0xa3, x + bend * u, y + bend * v, 2);
        [0.5 + 0.5 * height, 0.5 + 0.7 * v, 0.5 + 0.7 * u]
    });
    let wave = wave();
    let (ramp, accent) = (&scene.palette.ramp, scene.palette.accent);
    for (pixel, value) in canvas.pixels.iter_mut().zip(values.chunks_exact(3)) {
        // Worked out at each pixel: folds are finer than the field.
        let turn = ((value[0] * folds + value[2] * 0.8 + 8.0) * STEPS as f32) as usize;
        let fold = wave[turn % STEPS];
        // Steepest towards the lamp a quarter of a fold away from the crest.
        let lit = wave[(turn + STEPS / 5) % STEPS];
        let tone = 0.08 + 0.5 * value[1] + 0.2 * fold + 0.16 * lit;
        let base = mix(ramp.at(tone), accent, tinted * step(0.62, 0.86, value[2]) * fold);
        *pixel = mix(base, ramp.at(0.99), 0.55 * lit * lit * lit * lit);
    }
}

const STEPS: usize = 1024;

/// One wave, from 0 to 1 and back, with a sharper crest than a sine.
fn wave() -> Vec<f32> {
    let at = |step: usize| 0.5 + 0.5 * (step as f32 / STEPS as f32 * std::f32::consts::TAU).sin();
    (0..STEPS).map(|step| at(step).powf(1.5)).collect()
}

/// Sheets of paper, cut and laid upon each other, with shadows.
pub(super) fn paper(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    let seed = chance.next() as u32;
    let scale = chance.between(1.2, 2.0);
    let sheets = 8.0 + chance.below(5) as f32;
    let (cx, cy) = (chance.between(0.3, 0.9), chance.between(0.3, 0.9));
    let rising = chance.happens(0.5);
    let (dx, dy) = round(phase, 0.05);
    let values = field(canvas.width, canvas.height, |x, y| {
        let far = ((x - cx) * (x - cx) + (y - cy) * (y - cy)).sqrt();
        let bowl = 0.5 + if rising { 0.36 } else { -0.36 } * (far * 2.6).cos();
        let height = bowl
            + 0.55 * layered(seed, x * scale + dx, y * scale + dy, 2)
            + 0.05 * noise(seed ^ 9, x * 4.0 - dy, y * 4.0 + dx);
        [height.clamp(0.02, 0.98), 0.0, 0.0]
    });
    let (width, height) = (canvas.width as usize, canvas.height as usize);
    let cast = (canvas.short() * 0.016) as usize + 1;
    let accent_at = (sheets / 2.0 + chance.unit() * sheets / 2.0).floor();
    let sheet_colour = |sheet: f32| {
        let colour = scene.palette.ramp.at(0.12 + 0.8 * sheet / (sheets - 1.0));
        if sheet == accent_at { mix(colour, scene.palette.accent, 0.8) } else { colour }
    };
    let colours: Vec<_> = (0..=sheets as usize).map(|sheet| sheet_colour(sheet as f32)).collect();
    let shadow = scene.palette.ramp.at(0.0);
    let depth = |x: usize, y: usize| values[3 * (y * width + x)] * sheets;
    for y in 0..height {
        for x in 0..width {
            let here = depth(x, y);
            let sheet = here as usize;
            // How much of the pixel is still this sheet, where its edge is near.
            let lean = (depth((x + 1).min(width - 1), y) - here).abs()
                + (depth(x, (y + 1).min(height - 1)) - here).abs();
            let share = (here - sheet as f32) / lean.max(0.0001);
            let above = depth(x.saturating_sub(cast), y.saturating_sub(cast));
            let dark = 0.42 * step(0.0, 0.14, above - (sheet + 1) as f32);
            let mut colour = mix(colours[sheet], shadow, dark);
            if share < 1.0 && sheet > 0 {
                let lower = mix(colours[sheet - 1], shadow, 0.42);
                colour = mix(lower, colour, share);
            }
            // A light edge towards the lamp.
            let rim = step(2.2, 0.4, share) * (1.0 - luma(colour)) * 0.25;
            canvas.pixels[y * width + x] = mix(colour, [255; 3], rim);
        }
    }
}
