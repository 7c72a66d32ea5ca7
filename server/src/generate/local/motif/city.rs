//! Houses in rows, with light in their windows.

use std::f32::consts::TAU;

use super::super::canvas::Canvas;
use super::super::chance::Chance;
use super::super::colour::{Rgb, mix};
use super::Scene;
use super::land::sky;

struct House {
    left: f32,
    top: f32,
    width: f32,
    colour: Rgb,
}

pub(super) fn city(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    sky(scene, canvas, &mut chance, 0.86, phase);
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let rows = 3 + chance.below(2);
    let skyline = chance.between(0.3, 0.5);
    for row in 0..rows {
        let near = (row as f32 + 1.0) / rows as f32;
        let mut left = -short * chance.between(0.0, 0.1);
        while left < width {
            let wide = short * chance.between(0.06, 0.13) * (0.65 + 0.6 * near);
            let low = height * (skyline + 0.34 * near);
            let top = low + height * chance.between(-0.16, 0.1);
            let tone = 0.62 * (1.0 - near) + chance.between(0.0, 0.06);
            let house = House { left, top, width: wide, colour: scene.palette.ramp.at(tone) };
            build(scene, canvas, &mut chance, &house);
            windows(scene, canvas, &mut chance, &house, (near, phase));
            left += wide + if chance.happens(0.3) { short * 0.012 } else { 0.0 };
        }
        let haze = scene.palette.ramp.at(0.8 - 0.45 * near);
        haze_over(canvas, haze, 0.3 * (1.0 - near) + 0.08);
    }
}

fn build(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, house: &House) {
    let right = house.left + house.width;
    block(canvas, (house.left, house.top), (right, canvas.height as f32), house.colour);
    let middle = house.left + house.width / 2.0;
    let tall = house.width * chance.between(0.25, 0.8);
    match chance.below(5) {
        // A gable, a step, an aerial, or nothing.
        0 => canvas.triangle(
            [
                (house.left, house.top + 0.5),
                (right, house.top + 0.5),
                (middle, house.top - tall * 0.7),
            ],
            (house.colour, 1.0),
        ),
        1 => {
            let inset = house.width * 0.2;
            let from = (house.left + inset, house.top - tall * 0.5);
            block(canvas, from, (right - inset, house.top + 1.0), house.colour);
        }
        2 => {
            let from = (middle - 0.8, house.top - tall);
            block(canvas, from, (middle + 0.8, house.top + 1.0), house.colour);
            canvas.disc((middle, house.top - tall), 1.6, 1.0, (scene.palette.accent, 1.0));
        }
        _ => {}
    }
    // The side that is turned away from the light.
    let side = mix(house.colour, [0; 3], 0.16);
    let from = (right - house.width * 0.26, house.top);
    block(canvas, from, (right, canvas.height as f32), side);
}

fn windows(
    scene: &Scene,
    canvas: &mut Canvas,
    chance: &mut Chance,
    house: &House,
    (near, phase): (f32, f32),
) {
    let size = (canvas.short() * 0.0085 * (0.55 + 0.7 * near)).max(1.2);
    let gap = size * 1.1;
    let warm = mix(scene.palette.ramp.at(1.0), [255, 214, 140], 0.6);
    let lit_share = chance.between(0.12, 0.5);
    let mut y = house.top + gap * 1.4;
    while y + size < canvas.height as f32 {
        let mut x = house.left + gap;
        while x + size < house.left + house.width - gap * 0.6 {
            let lit = chance.happens(lit_share);
            let odd = chance.unit();
            let blinks = odd > 0.93 && ((phase + odd * 30.0) * TAU).sin() < 0.0;
            if lit && !blinks {
                let colour = if odd < 0.14 { scene.palette.accent } else { warm };
                let glass = mix(house.colour, colour, 0.45 + 0.5 * odd);
                block(canvas, (x, y), (x + size, y + size * 1.35), glass);
            }
            x += size + gap;
        }
        y += size * 1.35 + gap * 1.2;
    }
}

/// A rectangle with clean sides.
fn block(canvas: &mut Canvas, from: (f32, f32), to: (f32, f32), colour: Rgb) {
    let width = canvas.width as usize;
    let right = (to.0.ceil().max(0.0) as usize).min(width);
    let bottom = (to.1.ceil().max(0.0) as usize).min(canvas.height as usize);
    for y in from.1.max(0.0) as usize..bottom {
        let down = (y as f32 + 1.0 - from.1).min(to.1 - y as f32).min(1.0);
        for x in from.0.max(0.0) as usize..right {
            let across = (x as f32 + 1.0 - from.0).min(to.0 - x as f32).min(1.0);
            let pixel = &mut canvas.pixels[y * width + x];
            let share = down * across;
            *pixel = if share >= 1.0 { colour } else { mix(*pixel, colour, share) };
        }
    }
}

/// Lays haze over everything so far, thicker towards the ground.
fn haze_over(canvas: &mut Canvas, colour: Rgb, most: f32) {
    let (width, height) = (canvas.width as usize, canvas.height as f32);
    let first = canvas.height as usize / 3;
    for (y, row) in canvas.pixels.chunks_exact_mut(width).enumerate().skip(first) {
        let share = most * (y as f32 / height - 0.33) * 1.5;
        for pixel in row {
            *pixel = mix(*pixel, colour, share);
        }
    }
}
