//! Lights: discs out of focus, and the sky at night.

use std::f32::consts::TAU;

use super::super::canvas::Canvas;
use super::super::chance::Chance;
use super::super::colour::{Rgb, mix};
use super::super::noise::{field, layered, step};
use super::{Scene, round};

/// Discs of light before a soft ground.
pub(super) fn orbs(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    let seed = chance.next() as u32;
    let scale = chance.between(0.7, 1.1);
    let (dx, dy) = round(phase, 0.12);
    let values = field(canvas.width, canvas.height, |x, y| {
        let tone = layered(seed, x * scale + dx, y * scale + dy, 2);
        [0.26 + 0.5 * tone, 0.5 + layered(seed ^ 7, x * scale, y * scale + 9.0, 2), 0.0]
    });
    for (pixel, value) in canvas.pixels.iter_mut().zip(values.chunks_exact(3)) {
        let ground = scene.palette.ramp.at(value[0]);
        *pixel = mix(ground, scene.palette.accent, 0.45 * step(0.6, 1.0, value[1]));
    }
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let count = 22 + chance.below(16);
    for at in 0..count {
        let size = 1.0 - at as f32 / count as f32;
        let radius = short * (0.025 + 0.16 * size * size * chance.between(0.5, 1.0));
        let turn = chance.unit();
        let (mx, my) = round(phase + turn, short * chance.between(0.01, 0.03));
        let centre = (chance.between(0.0, width) + mx, chance.between(0.0, height) + my);
        let colour = if chance.happens(0.24) {
            scene.palette.accent
        } else {
            scene.palette.ramp.at(chance.between(0.62, 1.0))
        };
        let strength = chance.between(0.25, 0.75) * (1.1 - 0.5 * size);
        let soft = radius * if chance.happens(0.4) { 0.5 } else { 0.06 };
        canvas.glow(centre, radius * 1.9, (colour, strength * 0.5));
        canvas.disc(centre, radius, soft, (colour, strength));
        let rim = (radius * 0.045).max(1.0);
        canvas.shape(centre, (radius + rim, radius + rim), (colour, strength * 0.8), |x, y| {
            (1.0 - ((x * x + y * y).sqrt() - radius + rim).abs() / rim).max(0.0)
        });
    }
}

/// A nebula, stars, and most often a planet.
pub(super) fn space(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    let seed = chance.next() as u32;
    let (dx, dy) = round(phase, 0.05);
    let lean = chance.between(-0.9, 0.9);
    let values = field(canvas.width, canvas.height, |x, y| {
        let bend = layered(seed, x * 1.4 + dx, y * 1.4 + dy, 3);
        let cloud = layered(seed ^ 3, x * 1.5 + bend * 1.5, y * 1.5 - bend - dy, 3);
        let band = (y - 0.5 - lean * (x - 0.6)).abs() - 0.25 * bend;
        let band = (1.0 - band * 1.7).max(0.0);
        [band * (0.5 + cloud), 0.5 + cloud, 0.5 + bend]
    });
    for (pixel, value) in canvas.pixels.iter_mut().zip(values.chunks_exact(3)) {
        let cloud = scene.palette.ramp.at(0.05 + 0.95 * value[0] * value[1] + 0.3 * value[0]);
        let cloud = mix(cloud, scene.palette.accent, 0.55 * step(0.5, 0.9, value[2]) * value[0]);
        *pixel = mix([6, 6, 16], cloud, 0.3 + 1.1 * value[0]);
    }
    stars(scene, canvas, &mut chance, phase);
    if chance.happens(0.8) {
        planet(scene, canvas, &mut chance, phase);
    }
}

fn stars(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, phase: f32) {
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let tint = scene.palette.ramp.at(0.92);
    for _ in 0..(170.0 * width * height / (short * short)) as usize {
        let centre = (chance.between(0.0, width), chance.between(0.0, height));
        let bright = chance.unit().powi(4);
        let twinkle = 1.0 - 0.45 * bright * (0.5 + 0.5 * ((phase + chance.unit()) * TAU).sin());
        let colour = mix([255; 3], tint, chance.unit());
        let radius = short * (0.0009 + 0.0022 * bright);
        canvas.disc(centre, radius, 1.0, (colour, (0.35 + 0.65 * bright) * twinkle));
        if bright > 0.6 {
            canvas.glow(centre, short * 0.024 * bright, (colour, 0.4 * twinkle));
            rays(canvas, centre, short * 0.04 * bright * twinkle, colour);
        }
    }
}

fn rays(canvas: &mut Canvas, centre: (f32, f32), reach: f32, colour: Rgb) {
    canvas.shape(centre, (reach, reach), (colour, 0.8), |x, y| {
        let thin = (1.0 - x.abs().min(y.abs())).max(0.0);
        let left = (1.0 - x.abs().max(y.abs()) / reach).max(0.0);
        thin * left * left
    });
}

fn planet(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, phase: f32) {
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let radius = short * chance.between(0.12, 0.25);
    let centre = (width * chance.between(0.25, 0.75), height * chance.between(0.3, 0.7));
    let ring = chance.happens(0.55).then(|| chance.between(0.14, 0.3));
    let stripes = chance.between(7.0, 13.0);
    let light = scene.palette.ramp.at(0.86);
    canvas.glow(centre, radius * 2.1, (light, 0.35));
    let seed = chance.next() as u32;
    let (ramp, accent) = (&scene.palette.ramp, scene.palette.accent);
    let at_pixel = |x: f32, y: f32| {
        let (u, v) = (x / radius, y / radius);
        let bulge = (1.0 - u * u - v * v).max(0.0).sqrt();
        let wave = layered(seed, u * 1.4 / (bulge + 0.6) + round(phase, 0.12).0, v * 3.0, 2);
        let stripe = ((v + 0.22 * u + 0.14 * wave) * stripes).sin();
        let lit = (0.15 + 0.95 * (bulge * 0.55 - u * 0.55 - v * 0.5)).clamp(0.04, 1.0);
        let body = mix(ramp.at(0.6 + 0.22 * stripe), accent, 0.45 * step(0.2, 0.8, wave + 0.4));
        mix([4, 4, 12], body, lit)
    };
    if let Some(tilt) = ring {
        belt(canvas, centre, radius, tilt, (light, true));
    }
    sphere(canvas, centre, radius, at_pixel);
    if let Some(tilt) = ring {
        belt(canvas, centre, radius, tilt, (light, false));
    }
}

fn sphere(canvas: &mut Canvas, centre: (f32, f32), radius: f32, at: impl Fn(f32, f32) -> Rgb) {
    let width = canvas.width;
    let (left, top) = ((centre.0 - radius) as u32, (centre.1 - radius) as u32);
    for y in top..((centre.1 + radius + 1.0) as u32).min(canvas.height) {
        for x in left..((centre.0 + radius + 1.0) as u32).min(width) {
            let (dx, dy) = (x as f32 + 0.5 - centre.0, y as f32 + 0.5 - centre.1);
            let inside = radius - (dx * dx + dy * dy).sqrt() + 0.5;
            if inside > 0.0 {
                let pixel = &mut canvas.pixels[(y * width + x) as usize];
                *pixel = mix(*pixel, at(dx, dy), inside);
            }
        }
    }
}

/// The half of a planet's ring that is behind it, or the one before it.
fn belt(canvas: &mut Canvas, centre: (f32, f32), radius: f32, tilt: f32, paint: (Rgb, bool)) {
    let (colour, behind) = paint;
    let reach = radius * 2.2;
    canvas.shape(centre, (reach, reach), (colour, 0.75), |x, y| {
        // Leaning to the right.
        let (u, v) = (x * 0.95 - y * 0.31, (x * 0.31 + y * 0.95) / tilt);
        let far = (u * u + v * v).sqrt() / radius;
        if (v < 0.0) != behind {
            return 0.0;
        }
        let gap = 1.0 - 0.8 * step(0.04, 0.0, (far - 1.75).abs());
        step(1.3, 1.38, far) * step(2.1, 1.98, far) * gap * (0.55 + 0.45 * (far * 31.0).sin().abs())
    });
}
