//! The pictures of the built-in provider: scenes that the words of the prompt choose.
//!
//! A scene is a sky over four layers. The words choose the layers and the light; the digest of the
//! request decides the rest.

use std::f32::consts::TAU;

use super::local::{Colour, Point};

/// The subject of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Motif {
    Sea,
    Mountains,
    Forest,
    City,
    Flowers,
    /// Of any other text.
    Hills,
}

/// Beginnings of words that choose a subject.
const MOTIFS: [(Motif, &str); 5] = [
    (
        Motif::Sea,
        "sea ocean harbo lighthouse beach boat ship sail river lake water island coast gull wave fish",
    ),
    (Motif::Mountains, "mountain alp peak snow cliff glacier valley rock volcano"),
    (Motif::Forest, "forest tree wood fox pine deer owl jungle leaf autumn"),
    (Motif::City, "city street town neon tower skyline house building road cyber roof"),
    (Motif::Flowers, "flower garden meadow rose tulip bloom spring field poppy bee butterfly"),
];

/// The colours of the sky at its top and at the horizon, of the sun, and of the nearest land.
const LIGHTS: [(&str, [Colour; 4]); 4] = [
    (
        "night moon star midnight dark",
        [[0.05, 0.07, 0.20], [0.22, 0.25, 0.45], [0.95, 0.94, 0.84], [0.03, 0.05, 0.11]],
    ),
    (
        "dawn sunrise morning early",
        [[0.42, 0.55, 0.78], [0.99, 0.82, 0.70], [1.00, 0.95, 0.80], [0.20, 0.24, 0.36]],
    ),
    (
        "dusk sunset evening golden",
        [[0.28, 0.24, 0.48], [0.97, 0.60, 0.42], [1.00, 0.86, 0.58], [0.14, 0.10, 0.22]],
    ),
    (
        "day noon summer spring blue",
        [[0.33, 0.60, 0.87], [0.84, 0.93, 0.97], [1.00, 0.98, 0.88], [0.12, 0.30, 0.26]],
    ),
];

const LAYERS: usize = 4;

pub(crate) fn paint(text: &str, digest: [u8; 32]) -> Box<dyn Fn(Point) -> Colour> {
    let scene = Scene::new(text, digest);
    Box::new(move |point| scene.colour(point))
}

struct Scene {
    motif: Motif,
    is_night: bool,
    colours: [Colour; 4],
    /// Point of the sun or moon, in units of the picture.
    sun: (f32, f32),
    digest: [u8; 32],
}

impl Scene {
    fn new(text: &str, digest: [u8; 32]) -> Self {
        let text = text.to_lowercase();
        let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric()).collect();
        // Of several the first word that is known decides.
        let has = |stems: &str| {
            words.iter().position(|word| stems.split(' ').any(|stem| word.starts_with(stem)))
        };
        let motif = MOTIFS.iter().filter_map(|(motif, stems)| Some((has(stems)?, *motif)));
        let motif = motif.min_by_key(|(at, _)| *at).map_or(Motif::Hills, |(_, motif)| motif);
        let light = LIGHTS.iter().position(|(stems, _)| has(stems).is_some());
        let light = light.unwrap_or(1 + usize::from(digest[0]) % 3);
        let mut colours = LIGHTS[light].1;
        // A tint of its own.
        for colour in &mut colours[..2] {
            for (part, byte) in colour.iter_mut().zip(&digest[1..4]) {
                *part = (*part + 0.10 * (f32::from(*byte) / 255.0 - 0.5)).clamp(0.0, 1.0);
            }
        }
        let part = |at: usize| f32::from(digest[at]) / 255.0;
        let sun = (0.2 + 0.6 * part(4), 0.16 + 0.2 * part(5));
        Self { motif, is_night: light == 0, colours, sun, digest }
    }

    /// A number from 0 to 1 for a place of the scene.
    fn random(&self, kind: u32, at: i32) -> f32 {
        let seed =
            u32::from_le_bytes([self.digest[6], self.digest[7], self.digest[8], self.digest[9]]);
        let mut mixed =
            seed ^ kind.wrapping_mul(0x9e37_79b9) ^ (at as u32).wrapping_mul(0x85eb_ca6b);
        mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
        mixed = (mixed ^ mixed >> 12).wrapping_mul(0x297a_2d39);
        (mixed >> 8) as f32 / (1 << 24) as f32
    }

    fn colour(&self, point: Point) -> Colour {
        let Point { at: (x, y), pixel, moment, .. } = point;
        let mut colour = self.sky(point);
        for layer in 0..LAYERS {
            let top = self.top(layer, x, moment);
            let cover = ((y - top) / pixel + 0.5).clamp(0.0, 1.0);
            if cover > 0.0 {
                colour = mix(colour, self.ground(layer, point, top), cover);
            }
        }
        colour
    }

    fn sky(&self, Point { at: (x, y), wide, pixel, moment }: Point) -> Colour {
        let [top, horizon, sun, _] = self.colours;
        let mut colour = mix(top, horizon, (y / 0.6).clamp(0.0, 1.0));
        if self.is_night {
            // One cell in twelve has a star.
            let (column, row) = ((x * 24.0).floor(), (y * 24.0).floor());
            let cell = row as i32 * 997 + column as i32;
            let (dx, dy) =
                (x * 24.0 - column - self.random(21, cell), y * 24.0 - row - self.random(22, cell));
            let blink = 0.75 + 0.25 * (TAU * (moment + self.random(23, cell))).sin();
            let size = if self.random(20, cell) < 0.16 { 0.075 * blink } else { 0.0 };
            colour =
                mix(colour, [0.95; 3], ((size - dx.hypot(dy)) / (12.0 * pixel)).clamp(0.0, 0.9));
        }
        let distance = (x - self.sun.0 * wide).hypot(y - self.sun.1);
        let glow = 0.45 * (-distance * 6.0).exp();
        colour = mix(colour, sun, glow);
        mix(colour, sun, ((0.07 - distance) / pixel + 0.5).clamp(0.0, 1.0))
    }

    /// Where a layer begins, from the top; 0 is the layer at the back.
    fn top(&self, layer: usize, x: f32, moment: f32) -> f32 {
        let seed = layer as u32;
        let base = 0.52 + 0.12 * layer as f32;
        let phase = |number: u32| TAU * self.random(seed * 8 + number, 0);
        let wave = |count: f32, number: u32| (TAU * count * x + phase(number)).sin();
        let hills = 0.05 * wave(0.7, 0) + 0.02 * wave(1.9, 1);
        match (self.motif, layer) {
            (Motif::Sea, 0) => 0.56 - 0.04 * (wave(0.8, 0) + 0.4 * wave(3.1, 1)).max(0.0),
            (Motif::Sea, _) => {
                let swell = (TAU * (2.0 * layer as f32 * x + moment) + phase(0)).sin();
                base - 0.02 + 0.006 * layer as f32 * swell
            }
            (Motif::Mountains, 0 | 1) => {
                let ridge = |count: f32, number: u32| {
                    let at = count * x + self.random(seed * 8 + number, 1);
                    let (cell, inner) = (at.floor(), at - at.floor());
                    let high = |cell: f32| self.random(seed * 8 + number, cell as i32 + 2);
                    let (left, right) = (high(cell), high(cell + 1.0));
                    left + (right - left) * inner
                };
                base + 0.08 - 0.36 * ridge(3.0, 2) - 0.08 * ridge(11.0, 3) - 0.03 * ridge(37.0, 4)
            }
            (Motif::Forest, 1..) => {
                let count = 26.0 - 6.0 * layer as f32;
                let at = count * x;
                let (cell, inner) = (at.floor(), at - at.floor());
                let high = 0.4 + 0.6 * self.random(seed * 8 + 5, cell as i32);
                let tree = high * (1.0 - (2.0 * inner - 1.0).abs());
                // Branches in steps.
                let tree = tree - 0.06 * (tree * 9.0).fract();
                base + 0.06 + hills - (0.10 + 0.05 * layer as f32) * tree.max(0.0)
            }
            (Motif::City, 0..=2) => {
                let count = 22.0 - 5.0 * layer as f32;
                let high = self.random(seed * 8 + 6, (count * x).floor() as i32);
                base + 0.12 - 0.30 * high * high - 0.06 * high
            }
            _ => base + hills,
        }
    }

    /// The colour of a layer at a place below its top.
    fn ground(
        &self,
        layer: usize,
        Point { at: (x, y), wide, moment, .. }: Point,
        top: f32,
    ) -> Colour {
        let [sky, horizon, sun, land] = self.colours;
        let near = (layer as f32 + 1.0) / LAYERS as f32;
        // Distant layers have the colour of the horizon.
        let base = mix(horizon, land, 0.25 + 0.75 * near * near.sqrt());
        let base = mix(base, horizon, 0.25 * (1.0 - near) * ((y - top) * 4.0).clamp(0.0, 1.0));
        match (self.motif, layer) {
            (Motif::Sea, 1..) => {
                let water = mix(mix(sky, horizon, 0.35), land, 0.18 * layer as f32);
                let away = (x - self.sun.0 * wide).abs();
                let ripple = (TAU * (46.0 * y + 1.5 * (5.0 * x).sin() + moment)).sin();
                let glitter = 0.55 * (-away * 9.0).exp() * ripple.max(0.0);
                mix(water, sun, glitter + 0.03 * ripple)
            }
            (Motif::Mountains, 0 | 1) => {
                let snow = ((0.10 - (y - top)) * 30.0 - 20.0 * (top - 0.32)).clamp(0.0, 0.85);
                mix(base, [0.97, 0.97, 1.0], snow * (0.6 + 0.4 * near))
            }
            (Motif::City, 0..=2) => {
                let (column, row) = ((x * 90.0).floor(), (y * 60.0).floor());
                let (dx, dy) = (x * 90.0 - column, y * 60.0 - row);
                let is_pane = (0.25..0.75).contains(&dx) && (0.25..0.75).contains(&dy);
                let part = if self.is_night { 0.42 } else { 0.16 };
                let is_lit =
                    self.random(40 + layer as u32, row as i32 * 997 + column as i32) < part;
                if is_pane && is_lit {
                    mix(base, [1.0, 0.86, 0.55], 0.35 + 0.5 * near)
                } else {
                    base
                }
            }
            (Motif::Flowers, 1..) => self.flower(layer, (x, y), moment).unwrap_or(base),
            _ => base,
        }
    }

    fn flower(&self, layer: usize, (x, y): (f32, f32), moment: f32) -> Option<Colour> {
        let count = 34.0 - 8.0 * layer as f32;
        let sway = 0.10 * (TAU * moment + 9.0 * x).sin() / count;
        let (x, y) = ((x + sway) * count, y * count);
        let (column, row) = (x.floor(), y.floor());
        let cell = row as i32 * 997 + column as i32;
        let kind = 50 + layer as u32;
        let (dx, dy) = (x - column - 0.5, y - row - 0.5);
        let angle = dy.atan2(dx) + TAU * self.random(kind, cell);
        let radius =
            (0.26 + 0.14 * self.random(kind + 8, cell)) * (0.75 + 0.25 * (5.0 * angle).cos());
        let distance = dx.hypot(dy);
        if self.random(kind + 16, cell) > 0.55 || distance > radius {
            return None;
        }
        const PETALS: [Colour; 4] =
            [[0.95, 0.45, 0.50], [0.98, 0.80, 0.40], [0.93, 0.88, 0.95], [0.70, 0.50, 0.85]];
        let petal = PETALS[(4.0 * self.random(kind + 24, cell)) as usize % 4];
        let petal = mix(petal, self.colours[3], if self.is_night { 0.5 } else { 0.1 });
        Some(if distance < 0.10 { [0.98, 0.85, 0.45] } else { petal })
    }
}

fn mix(from: Colour, to: Colour, part: f32) -> Colour {
    std::array::from_fn(|at| from[at] + (to[at] - from[at]) * part)
}
