//! Figures: a head and shoulders, and an animal before the moon. They are plain
//! shapes, so that they look drawn and not wrong.

use super::super::canvas::Canvas;
use super::super::chance::Chance;
use super::super::colour::{Rgb, luma, mix};
use super::super::noise::{field, layered, step};
use super::{Scene, line, round};

const SKIN: [Rgb; 6] = [
    [248, 217, 190],
    [238, 190, 154],
    [214, 160, 118],
    [178, 120, 82],
    [132, 84, 58],
    [92, 58, 44],
];

/// Where a head is, in pixels.
struct Head {
    x: f32,
    y: f32,
    /// Half its width.
    size: f32,
}

pub(super) fn portrait(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    let mut chance = scene.chance();
    backdrop(scene, canvas, &mut chance, phase);
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let bob = round(phase, short * 0.006).1;
    let size = short * chance.between(0.135, 0.155);
    let head = Head { x: width * chance.between(0.46, 0.54), y: height * 0.44 + bob, size };
    let halo = short * chance.between(0.3, 0.37);
    let sun = if chance.happens(0.5) { scene.palette.accent } else { scene.palette.ramp.at(0.95) };
    canvas.disc((head.x, height * 0.43), halo, 1.5, (sun, 0.9));
    canvas.disc((head.x, height * 0.43), halo * 0.86, 1.5, (scene.palette.ramp.at(0.8), 0.55));
    let skin = SKIN[chance.below(SKIN.len())];
    let natural = scene.palette.ramp.at(chance.between(0.0, 0.22));
    let hair = mix(natural, [28, 20, 24], chance.between(0.1, 0.6));
    let style = chance.below(4);
    hair_behind(canvas, &head, hair, style);
    bust(scene, canvas, &mut chance, &head, skin);
    face(canvas, &mut chance, &head, skin, phase);
    hair_before(canvas, &mut chance, &head, hair, style);
}

fn backdrop(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, phase: f32) {
    let seed = chance.next() as u32;
    let (dx, dy) = round(phase, 0.1);
    let (low, high) = if chance.happens(0.5) { (0.2, 0.55) } else { (0.5, 0.9) };
    let values = field(canvas.width, canvas.height, |x, y| {
        let bend = layered(seed, x + dx, y + dy, 2);
        [0.5 + 0.8 * layered(seed ^ 5, x * 1.1 + bend, y * 1.1 - bend, 2), 0.0, 0.0]
    });
    for (pixel, value) in canvas.pixels.iter_mut().zip(values.chunks_exact(3)) {
        *pixel = scene.palette.ramp.at(low + (high - low) * value[0]);
    }
}

fn hair_behind(canvas: &mut Canvas, head: &Head, hair: Rgb, style: usize) {
    let Head { x, y, size } = *head;
    match style {
        // Long.
        0 => {
            canvas.ellipse((x, y - size * 0.1), (size * 1.28, size * 1.42), (hair, 1.0));
            canvas.ellipse((x, y + size * 1.1), (size * 1.34, size * 1.5), (hair, 1.0));
        }
        // Curls.
        1 => {
            for curl in 0..13 {
                let (sin, cos) = (2.55 + curl as f32 * 0.36).sin_cos();
                let at = (x + size * 1.08 * cos, y - size * 0.12 + size * 1.12 * sin);
                canvas.disc(at, size * 0.46, 1.0, (hair, 1.0));
            }
        }
        // A bun.
        2 => {
            canvas.disc((x, y - size * 1.55), size * 0.52, 1.0, (hair, 1.0));
            canvas.ellipse((x, y - size * 0.25), (size * 1.14, size * 1.24), (hair, 1.0));
        }
        _ => canvas.ellipse((x, y - size * 0.3), (size * 1.12, size * 1.15), (hair, 1.0)),
    }
}

fn bust(scene: &Scene, canvas: &mut Canvas, chance: &mut Chance, head: &Head, skin: Rgb) {
    let Head { x, y, size } = *head;
    let cloth = match chance.below(3) {
        0 => scene.palette.accent,
        1 => scene.palette.ramp.at(0.3),
        _ => scene.palette.ramp.at(0.12),
    };
    let floor = canvas.height as f32;
    let shoulders = y + size * 2.25;
    let radius = (size * 2.35, (floor - shoulders).max(size) * 1.35);
    canvas.ellipse((x, shoulders + radius.1 * 0.93), radius, (cloth, 1.0));
    let shade = mix(skin, [60, 20, 30], 0.28);
    canvas.ellipse((x, y + size * 1.55), (size * 0.46, size * 0.95), (shade, 1.0));
    canvas.ellipse((x, y + size * 2.2), (size * 0.74, size * 0.34), (shade, 1.0));
    let collar = mix(cloth, [255; 3], 0.25);
    canvas.shape((x, y + size * 2.3), (size, size * 0.5), (collar, 1.0), |dx, dy| {
        let far = ((dx / 0.84).powi(2) + (dy / 0.44).powi(2)).sqrt();
        if dy < 0.0 { 0.0 } else { (size * 0.06 - (far - size).abs() + 0.5).clamp(0.0, 1.0) }
    });
}

fn face(canvas: &mut Canvas, chance: &mut Chance, head: &Head, skin: Rgb, phase: f32) {
    let Head { x, y, size } = *head;
    for side in [-1.0, 1.0] {
        canvas.ellipse(
            (x + side * size * 0.98, y + size * 0.12),
            (size * 0.17, size * 0.25),
            (skin, 1.0),
        );
    }
    canvas.ellipse((x, y), (size, size * 1.26), (skin, 1.0));
    // One cheek in the shade, both a little red.
    let shade = mix(skin, [90, 30, 50], 0.3);
    canvas.shape((x, y), (size, size * 1.26), (shade, 0.55), |dx, dy| {
        let inside = 1.0 - (dx / size).powi(2) - (dy / (size * 1.26)).powi(2);
        if inside < 0.02 { 0.0 } else { step(0.28, 0.42, dx / size - 0.16 * dy / size) }
    });
    let line = mix(skin, [40, 16, 24], 0.78);
    let open = chance.happens(0.5) && !(0.45..0.55).contains(&phase);
    for side in [-1.0, 1.0] {
        let eye = (x + side * size * 0.42, y + size * 0.1);
        canvas.glow(
            (eye.0 + side * size * 0.1, eye.1 + size * 0.42),
            size * 0.3,
            ([222, 84, 84], 0.1 + 0.2 * luma(skin)),
        );
        if open {
            canvas.ellipse(eye, (size * 0.1, size * 0.125), (line, 1.0));
            canvas.disc(
                (eye.0 + size * 0.03, eye.1 - size * 0.04),
                size * 0.03,
                1.0,
                ([255; 3], 0.9),
            );
        } else {
            arc(canvas, eye, (size * 0.2, size * 0.11), size * 0.03, line);
        }
        let brow = (eye.0, eye.1 - size * 0.3);
        arc(canvas, (brow.0, brow.1), (size * 0.24, -size * 0.07), size * 0.035, line);
    }
    arc(canvas, (x + size * 0.03, y + size * 0.4), (size * 0.1, size * 0.06), size * 0.025, shade);
    let lips = mix(skin, [168, 38, 52], 0.6);
    arc(canvas, (x, y + size * 0.68), (size * 0.27, size * 0.12), size * 0.04, lips);
}

/// A bow that hangs down by `size.1`, or stands up if that is negative.
fn arc(canvas: &mut Canvas, at: (f32, f32), size: (f32, f32), thick: f32, colour: Rgb) {
    let thick = thick.max(0.8);
    let reach = (size.0 + thick, size.1.abs() + thick * 2.0);
    canvas.shape(at, reach, (colour, 1.0), |x, y| {
        let out = (x / size.0).abs();
        if out > 1.0 {
            return 0.0;
        }
        let bow = size.1 * (1.0 - out * out) - size.1 * 0.5;
        (thick * (1.15 - out * 0.6) - (y - bow).abs() + 0.5).clamp(0.0, 1.0)
    });
}

fn hair_before(canvas: &mut Canvas, chance: &mut Chance, head: &Head, hair: Rgb, style: usize) {
    let Head { x, y, size } = *head;
    let part = chance.between(-0.45, 0.45);
    let low = chance.between(0.34, 0.5);
    let lit = mix(hair, [255; 3], 0.14);
    canvas.shape((x, y - size * 0.42), (size * 1.1, size * 0.98), (hair, 1.0), |dx, dy| {
        let (u, v) = (dx / size, (dy - size * 0.42) / size);
        let cap = 1.0 - (u / 1.06).powi(2) - ((v + 0.06) / 1.3).powi(2);
        // The hairline: highest at the parting.
        let fringe = -0.98 + low + 0.62 * (u - part).abs();
        ((cap * 0.6).min(fringe - v) * size + 0.5).clamp(0.0, 1.0)
    });
    if style == 1 {
        for curl in 0..6 {
            let at =
                (x + size * (curl as f32 * 0.36 - 0.9), y - size * (1.0 - 0.1 * (curl % 2) as f32));
            canvas.disc(at, size * 0.34, 1.0, (hair, 1.0));
        }
    }
    arc(canvas, (x + size * part, y - size * 1.06), (size * 0.5, -size * 0.09), size * 0.03, lit);
}

pub(super) fn cat(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    night(scene, canvas, false, phase);
}

pub(super) fn fox(scene: &Scene, canvas: &mut Canvas, phase: f32) {
    night(scene, canvas, true, phase);
}

/// A moon above a hill, and an animal upon it.
fn night(scene: &Scene, canvas: &mut Canvas, wild: bool, phase: f32) {
    let mut chance = scene.chance();
    let (width, height) = canvas.sides();
    let short = canvas.short();
    let ramp = &scene.palette.ramp;
    let top = chance.between(0.14, 0.34);
    canvas.rows(|y| ramp.at(top + 0.42 * y));
    for _ in 0..40 {
        let star = (chance.between(0.0, width), chance.between(0.0, height * 0.7));
        canvas.disc(star, short * 0.003 * chance.unit(), 1.0, (ramp.at(1.0), chance.unit()));
    }
    let x = width * chance.between(0.42, 0.58);
    let size = short * chance.between(0.115, 0.135);
    let ground = height * 0.84;
    let moon = (x + size * chance.between(-1.2, 1.2), ground - size * chance.between(2.4, 3.0));
    let light = mix(ramp.at(1.0), [255; 3], 0.3);
    canvas.glow(moon, size * 5.2, (light, 0.45));
    canvas.disc(moon, size * 2.6, 1.5, (light, 0.97));
    for _ in 0..5 {
        let crater =
            (moon.0 + size * chance.between(-1.6, 1.6), moon.1 + size * chance.between(-1.6, 1.6));
        canvas.disc(crater, size * chance.between(0.15, 0.4), 2.0, (ramp.at(0.84), 0.35));
    }
    let seed = chance.next() as u32;
    let mut edge = line(canvas.width, seed, 1.1 / short, 2);
    for (at, point) in edge.iter_mut().enumerate() {
        let flat = step(0.5, 2.5, (at as f32 - x).abs() / (size * 1.5));
        *point = ground + *point * short * 0.12 * flat;
    }
    let dark = ramp.at(0.02);
    let soil = ramp.at(0.16);
    canvas.below(&edge, |y| mix(dark, soil, (y - ground) / (height * 0.2)));
    animal(scene, canvas, (x, ground, size), (wild, phase));
}

/// A sitting animal, seen from behind the light: upright ears and a tail that sways.
fn animal(scene: &Scene, canvas: &mut Canvas, at: (f32, f32, f32), looks: (bool, f32)) {
    let (x, ground, size) = at;
    let (wild, phase) = looks;
    let fur = (mix(scene.palette.ramp.at(0.0), [10, 8, 14], 0.5), 1.0);
    let sway = round(phase, 0.12).0;
    // The tail: discs along a bow, thicker in its middle for the wild ones.
    for piece in 0..48 {
        let t = piece as f32 / 47.0;
        let turn = 0.2 + t * (2.3 + sway);
        let place = (
            x + size * (0.6 + 1.05 * turn.sin()),
            ground - size * (0.12 + 0.62 * (1.0 - turn.cos())),
        );
        let thick = if wild { 0.13 + 0.5 * t * (1.15 - t) } else { 0.13 };
        canvas.disc(place, size * thick, 1.0, fur);
    }
    canvas.ellipse((x, ground - size * 0.72), (size * 0.82, size * 0.86), fur);
    canvas.ellipse((x, ground - size * 1.35), (size * 0.58, size * 0.9), fur);
    for side in [-1.0, 1.0] {
        canvas.ellipse(
            (x + side * size * 0.34, ground - size * 0.06),
            (size * 0.28, size * 0.14),
            fur,
        );
    }
    let head = (x, ground - size * 2.3);
    canvas.ellipse(head, (size * 0.66, size * if wild { 0.52 } else { 0.56 }), fur);
    if wild {
        canvas.triangle(
            [
                (head.0 - size * 0.5, head.1 + size * 0.1),
                (head.0 + size * 0.5, head.1 + size * 0.1),
                (head.0, head.1 + size * 0.78),
            ],
            fur,
        );
    }
    let ear = if wild { 0.98 } else { 0.82 };
    for side in [-1.0, 1.0] {
        let tip = (head.0 + side * size * 0.56, head.1 - size * ear);
        let outer = (head.0 + side * size * 0.66, head.1 + size * 0.02);
        canvas.triangle([tip, outer, (head.0 + side * size * 0.08, head.1 - size * 0.42)], fur);
        let shut = (0.46..0.54).contains(&phase);
        let tall = if shut { 0.02 } else { 0.11 };
        let eye = (head.0 + side * size * 0.27, head.1 - size * 0.02);
        canvas.ellipse(eye, (size * 0.12, size * tall), (scene.palette.accent, 1.0));
        canvas.ellipse(eye, (size * 0.035, size * tall), fur);
    }
}
