//! What the words of a prompt ask for: a palette, and elements painted over each other.

use std::f32::consts::TAU;
use std::ops::Range;

use fastrand::Rng;
use image::imageops::FilterType;
use image::{DynamicImage, Rgb, RgbImage};

use super::canvas::{Canvas, Colour, Point, fractal_noise, hash, mix, noise, step};

const WHITE: Colour = Rgb([255, 250, 240]);

/// A palette (five colours from dark to light, and an accent), elements, and words. Each row with
/// a word of the prompt adds its elements. The first of them that has a palette gives it, so
/// colours and times of day come before places.
pub(super) const ROWS: [&str; 20] = [
    "101114 36383d 74777d b5b7ba f1f0ec d9d4c7||noir black monochrome ink grey gray",
    "2e0713 7a1022 c42b35 f26b5e ffd3c2 f7b733||red ruby crimson scarlet fire flame lava",
    "0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541||green emerald jade",
    "0a1f44 184a84 3f86c0 8fc4e4 e9f6fb ff9f5a||blue azure sapphire navy",
    "5a1f4a a8457c e283a8 f8bfcc fff0ea 6fbf8b||pink coral love spring flower rose blossom bloom garden petal orchid peony",
    "1e1145 47297f 8257b8 c19ae0 f4e4fa ffc857||purple violet lavender lilac magic dream",
    "5b3a12 b0761d e9b230 fbdc74 fff6d6 3f7cac||yellow lemon sunny sunflower",
    "2f1420 7a2f25 c4622d eca85a fdebc0 e23f2a|leaves|autumn fall orange gold golden amber",
    "231942 5b2a6b b13f71 f3795a ffd58a ffc04d|sun|dusk sunset evening twilight",
    "1f2a56 4f5590 a4749f f2a58e ffe6bf ff8a5c|sun|dawn sunrise morning",
    "0b0524 2a0f5e 7a1fa2 e0409a ff9ad5 2de2e6|skyline|neon cyberpunk synthwave",
    "04071c 0e1542 232c72 48489a 8f80c8 ffd27a|stars sun|night midnight star moon",
    "07061f 1c1149 45287c 8a4f9e e8a6c9 ffd27a|stars|space galaxy nebula planet cosmos",
    "26384f 58738f 97b2c8 cfdfe9 fafcfd e07a5f|sun snow|snow snowy winter ice frost arctic",
    "1d3540 4a6b74 86a5a8 c3d4d0 f5f2e8 e8a15f|sun ridges|fog mist haze cloud sky",
    "062a44 0f5873 2f95a5 8fd0cb fbf2d8 ff8c66|sun water|sea ocean wave lake beach river coast harbour harbor boat ship sail lighthouse",
    "0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541|sun trees|forest wood jungle tree pine park",
    "0a1f44 184a84 3f86c0 8fc4e4 e9f6fb ff9f5a|rain|rain rainy storm",
    "|sun ridges|mountain hill valley landscape desert dune canyon meadow field cliff volcano",
    "|skyline|city street building town skyline tokyo york paris london tower urban",
];
/// Rows with palettes for prompts that ask for none: all but the grey one.
const PALETTES: Range<usize> = 1..18;
/// Elements for prompts that ask for none.
const FREE: [&str; 4] = ["", "stars", "sun ridges", "sun water"];

/// An element's name with what paints it.
type Element = (&'static str, fn(&mut Painter<'_>));
/// From back to front.
pub(super) const ELEMENTS: [Element; 9] = [
    ("stars", |painter| painter.stars()),
    ("sun", |painter| painter.sun()),
    ("ridges", |painter| painter.layers(5, 0.45, false, ridge)),
    ("skyline", |painter| painter.layers(3, 0.94, true, house)),
    ("trees", |painter| painter.layers(3, 0.7, false, fir)),
    ("water", |painter| painter.water()),
    ("leaves", |painter| painter.falling(60, (0.014, 0.007), painter.theme.accent)),
    ("snow", |painter| painter.falling(170, (0.005, 0.005), WHITE)),
    ("rain", |painter| painter.falling(260, (0.0013, 0.03), WHITE)),
];

/// The colours, from dark to light, and the elements of a picture.
pub(super) struct Theme {
    stops: [Colour; 5],
    accent: Colour,
    /// Of the sun and of windows.
    light: Colour,
    elements: Vec<&'static str>,
}

impl Theme {
    /// What the words of `prompt` ask for; `rng` decides what they leave open.
    pub(super) fn new(prompt: &str, rng: &mut Rng) -> Self {
        let prompt = prompt.to_lowercase();
        let words: Vec<_> = prompt.split(|letter: char| !letter.is_alphanumeric()).collect();
        let is_asked = |row: &[&str; 3]| {
            row[2].split(' ').any(|known| {
                words.iter().any(|word| *word == known || word.strip_suffix('s') == Some(known))
            })
        };
        let rows = ROWS.map(|row| std::array::from_fn(|at| row.split('|').nth(at).unwrap_or("")));
        let (free, any) = (FREE[rng.usize(..FREE.len())], rows[rng.usize(PALETTES)][0]);
        let asked: Vec<[&'static str; 3]> = rows.into_iter().filter(is_asked).collect();
        let mut elements: Vec<_> = asked.iter().flat_map(|row| row[1].split_whitespace()).collect();
        if elements.is_empty() {
            elements.extend(free.split_whitespace());
        }
        let palette = asked.iter().map(|row| row[0]).find(|palette| !palette.is_empty());
        let mut colours = palette.unwrap_or(any).split(' ').map(|hex| {
            let [_, rgb @ ..] = u32::from_str_radix(hex, 16).unwrap_or_default().to_be_bytes();
            Rgb(rgb)
        });
        let [stops @ .., accent]: [Colour; 6] =
            std::array::from_fn(|_| colours.next().unwrap_or(WHITE));
        let light = mix(mix(stops[4], accent, 0.4), WHITE, 0.5);
        Self { stops, accent, light, elements }
    }

    /// The colour at `t`: 0 is dark, 1 is light.
    pub(super) fn at(&self, t: f32) -> Colour {
        let t = t.clamp(0.0, 1.0) * 4.0;
        let from = (t as usize).min(3);
        mix(self.stops[from], self.stops[from + 1], t - from as f32)
    }

    pub(super) fn has(&self, element: &str) -> bool {
        self.elements.contains(&element)
    }
}

/// Paints the moment `phase` of a scene: from 0 to 1, and 1 is 0 again.
pub(super) fn paint(theme: &Theme, seed: u64, (width, height): (u32, u32), phase: f32) -> RgbImage {
    let mut rng = Rng::with_seed(seed);
    let unit = width.min(height) as f32;
    let size = (width as f32 / unit, height as f32 / unit);
    let horizon = size.1 * if theme.has("water") { 0.5 + 0.14 * rng.f32() } else { 1.0 };
    let sun_x = 0.14 * rng.f32() + if rng.bool() { 0.22 } else { 0.64 };
    let sun = (size.0 * sun_x, size.1 * 0.12 + 0.1 * rng.f32());
    let drift = ((phase * TAU).cos(), (phase * TAU).sin());
    let canvas = Canvas { image: RgbImage::new(width, height), unit };
    let noise = rng.u32(..);
    let mut painter = Painter { theme, canvas, size, phase, drift, noise, horizon, sun, rng };
    painter.backdrop();
    for (at, (name, element)) in (1..).zip(ELEMENTS) {
        if theme.has(name) {
            // Its own, so that an element looks the same beside any others.
            painter.rng = Rng::with_seed(seed ^ (at << 40));
            element(&mut painter);
        }
    }
    painter.canvas.image
}

pub(super) struct Painter<'a> {
    theme: &'a Theme,
    canvas: Canvas,
    size: Point,
    phase: f32,
    /// The moment as a point on a circle, for what moves and comes back.
    drift: Point,
    noise: u32,
    /// Where water begins; the lower edge if there is none.
    horizon: f32,
    sun: Point,
    rng: Rng,
}

impl Painter<'_> {
    /// A sky with clouds above places, or folds of colour.
    fn backdrop(&mut self) {
        const COARSE: u32 = 5;
        let (theme, seed) = (self.theme, self.noise);
        let (dx, dy) = (self.drift.0 * 0.12, self.drift.1 * 0.12);
        let is_place = ["sun", "skyline", "water"].iter().any(|place| theme.has(place));
        let (width, height) = self.canvas.image.dimensions();
        // Smooth, so that few points are enough.
        let points = RgbImage::from_fn(width / COARSE + 2, height / COARSE + 2, |x, y| {
            let unit = self.canvas.unit / COARSE as f32;
            let (x, y) = (x as f32 / unit, y as f32 / unit);
            if is_place {
                let t = (y / self.horizon.min(self.size.1 * 0.8)).min(1.0);
                let cloud = step(0.5, 0.78, fractal_noise(seed, x * 1.3 + dx, y * 5.0 + dy, 5));
                return mix(theme.at(0.34 + 0.6 * t * t), theme.light, 0.5 * cloud * (1.1 - t));
            }
            let warp = fractal_noise(seed ^ 8, x + dx, y + dy, 3);
            let folds = fractal_noise(seed ^ 24, x * 0.9 + 3.2 * warp, y * 0.9 - 3.2 * warp, 3);
            let t = 0.12 + 0.5 * folds + 0.24 * (folds * 2.0 * TAU + x * 0.8).sin() + 0.16 * warp;
            mix(theme.at(t), theme.accent, 0.3 * step(0.55, 0.8, warp))
        });
        let smooth = DynamicImage::from(points).resize_exact(width, height, FilterType::CatmullRom);
        self.canvas.image = smooth.into_rgb8();
    }

    fn stars(&mut self) {
        for star in 0..150_u8 {
            let place = (self.size.0 * self.rng.f32(), self.size.1 * self.rng.f32());
            let radius = 0.003 + 0.006 * self.rng.f32().powi(3);
            let twinkle = 0.7 + 0.3 * (self.phase * TAU + f32::from(star)).sin();
            self.canvas.glow(place, radius * 4.0, self.theme.accent, 0.4 * twinkle);
            self.canvas.glow(place, radius, WHITE, twinkle);
        }
    }

    fn sun(&mut self) {
        let swell = 1.0 + 0.05 * self.drift.1;
        self.canvas.glow(self.sun, 0.62 * swell, self.theme.light, 0.35);
        self.canvas.glow(self.sun, 0.24 * swell, self.theme.light, 0.4);
        self.canvas.oval(self.sun, (0.075, 0.075), 0.0, self.theme.light);
    }

    /// Silhouettes one before the other, the near ones dark, perhaps with lit windows.
    /// `profile` gives the height of a layer at a place.
    fn layers(&mut self, count: u32, far: f32, is_lit: bool, profile: fn(u32, f32, f32) -> f32) {
        let (theme, seed, horizon) = (self.theme, self.noise, self.horizon);
        for layer in 1..=count {
            let (seed, near) = (seed ^ (layer * 8), layer as f32 / count as f32);
            let base = horizon * (far + (1.0 - far) * near);
            let top = |x: f32| base - (horizon * 1.4).min(1.0) * profile(seed, near, x);
            self.canvas.below(top, |(x, y), down| {
                let (column, row) = (x / 0.0136, down / 0.024);
                let is_pane = row > 1.4 && row.fract() > 0.4 && column.fract() > 0.4;
                if is_lit && is_pane && hash(seed, column as i32, row as i32) < 0.32 {
                    return mix(theme.at(0.0), theme.light, 0.3 + 0.6 * near);
                }
                theme.at(0.72 - 0.66 * near + 0.2 * step(0.0, 0.3, y - base))
            });
        }
    }

    /// What is above the horizon, mirrored in waves that are longer nearby.
    fn water(&mut self) {
        let (theme, seed, (dx, dy)) = (self.theme, self.noise, self.drift);
        let (above, unit, horizon) = (self.canvas.image.clone(), self.canvas.unit, self.horizon);
        let (middle, depth_max) = (self.size.0 / 2.0, self.size.1 - horizon);
        let colour = |(x, _): Point, down: f32| {
            let depth = down.max(0.0) / depth_max;
            let far = 0.04 + depth;
            let (across, along) = ((x - middle) / far, 1.0 / far);
            let wave = |salt: u32, wide: f32, high: f32| {
                noise(seed ^ salt, across * wide + 0.35 * dx, along * high + 0.35 * dy) - 0.5
            };
            let waves = wave(1, 9.0, 16.0) + 0.7 * wave(2, 22.0, 44.0);
            let from =
                (x + waves * depth * 0.12, horizon - 1.15 * down - 0.3 * waves.abs() * depth);
            let column = ((from.0 * unit) as u32).min(above.width() - 1);
            let mirrored = *above.get_pixel(column, (from.1 * unit) as u32);
            let shade = 0.28 + 0.3 * depth + 0.4 * waves * depth.sqrt();
            let water = mix(mirrored, theme.at(0.34 - 0.2 * depth), shade);
            let path = 1.0 / (1.0 + ((x - self.sun.0) / (0.05 + 0.2 * depth)).powi(4));
            mix(water, theme.light, step(0.2, 0.5, waves + 0.3 * path) * path * 0.9)
        };
        self.canvas.below(|_| horizon, colour);
    }

    /// What falls through the picture once from the first moment to the last.
    fn falling(&mut self, count: u16, (wide, tall): Point, colour: Colour) {
        for _ in 0..count {
            let (x, y, size) = (self.rng.f32(), self.rng.f32(), 0.6 + 0.7 * self.rng.f32());
            let angle = if wide > tall { size * 99.0 + self.phase * TAU } else { 0.08 };
            let place = (self.size.0 * x, self.size.1 * (y + self.phase).fract());
            self.canvas.oval(place, (wide * size, tall * size), angle, colour);
        }
    }
}

fn ridge(seed: u32, near: f32, x: f32) -> f32 {
    0.6 * (fractal_noise(seed, x * (4.0 - 2.0 * near), 0.5, 5) - 0.45)
}

/// The highest of three firs around a place.
fn fir(seed: u32, near: f32, x: f32) -> f32 {
    let wide = 0.03 + 0.036 * near;
    let fir = |next: i32| {
        let tree = (x / wide) as i32 + next;
        let twigs = (x / wide - tree as f32 - hash(seed, tree, 0)).abs() * 5.5;
        wide * (2.5 + 2.5 * hash(seed, tree, 1))
            * (1.0 - (twigs.floor() + 0.4 * twigs.fract()) / 5.0)
    };
    fir(-1).max(fir(0)).max(fir(1))
}

/// The higher of two houses, which are whole numbers of windows wide.
fn house(seed: u32, near: f32, x: f32) -> f32 {
    let house = |wide: i32| hash(seed, (x / (0.0136 * wide as f32)) as i32, wide);
    0.1 + house(8).max(house(5)).powi(2) * (0.62 - 0.38 * near)
}
