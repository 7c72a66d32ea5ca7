//! The picture of a theme: elements painted over each other, from back to front.

use std::f32::consts::TAU;

use fastrand::Rng;
use image::imageops::FilterType;
use image::{DynamicImage, Rgb, RgbImage};

use super::canvas::{Canvas, Colour, Point, fbm, hash, mix, noise, step};
use super::words::Theme;

const WHITE: Colour = Rgb([255, 250, 240]);
const DARK: Colour = Rgb([24, 20, 30]);

/// The name of an element in themes, and what paints it.
type Element = (&'static str, fn(&mut Painter<'_>));
/// From back to front.
pub(super) const ELEMENTS: [Element; 11] = [
    ("stars", |painter| painter.stars()),
    ("sun", |painter| painter.sun()),
    ("ridges", |painter| painter.layers(5, 0.45, false, ridge)),
    ("skyline", |painter| painter.layers(3, 0.94, true, house)),
    ("trees", |painter| painter.layers(3, 0.7, false, fir)),
    ("water", |painter| painter.water()),
    ("flowers", |painter| painter.flowers()),
    ("portrait", |painter| painter.portrait()),
    ("leaves", |painter| painter.falling(60, (0.014, 0.007), painter.theme.accent)),
    ("snow", |painter| painter.falling(170, (0.005, 0.005), WHITE)),
    ("rain", |painter| painter.falling(260, (0.0013, 0.03), WHITE)),
];

/// Colour, centre, radii, angle and skew of an oval, from the middle of a head. One that is not in the middle is painted on both sides.
type Part = (Colour, Point, Point, f32, f32);
const SKIN: Colour = Rgb([214, 158, 118]);
const HAIR: Colour = Rgb([70, 42, 30]);
const FUR: Colour = Rgb([222, 118, 50]);
const PERSON: &[Part] = &[
    (HAIR, (0.0, 0.02), (0.19, 0.25), 0.0, 0.0),
    (DARK, (0.0, 0.53), (0.34, 0.3), 0.0, 0.0),
    (SKIN, (0.0, 0.2), (0.065, 0.12), 0.0, 0.0),
    (SKIN, (0.0, 0.0), (0.145, 0.185), 0.0, -0.12),
    (HAIR, (0.0, -0.15), (0.155, 0.085), 0.0, 0.35),
    (WHITE, (0.058, 0.0), (0.026, 0.015), 0.0, 0.0),
    (DARK, (0.058, 0.0), (0.014, 0.016), 0.0, 0.0),
    (HAIR, (0.06, -0.045), (0.033, 0.006), 0.15, 0.0),
    (Rgb([190, 70, 70]), (0.0, 0.105), (0.04, 0.013), 0.0, 0.0),
];
const FOX: &[Part] = &[
    (FUR, (0.0, 0.5), (0.26, 0.3), 0.0, 0.0),
    (WHITE, (0.0, 0.42), (0.13, 0.24), 0.0, 0.0),
    (FUR, (0.165, -0.19), (0.085, 0.16), 0.2, 0.9),
    (DARK, (0.168, -0.17), (0.045, 0.1), 0.2, 0.9),
    (FUR, (0.0, -0.02), (0.25, 0.18), 0.0, 0.0),
    (WHITE, (0.14, 0.08), (0.13, 0.08), -0.5, 0.0),
    (FUR, (0.0, 0.05), (0.1, 0.16), 0.0, -0.6),
    (WHITE, (0.0, 0.18), (0.06, 0.045), 0.0, 0.0),
    (DARK, (0.0, 0.175), (0.032, 0.024), 0.0, -0.4),
    (DARK, (0.1, -0.02), (0.032, 0.024), 0.35, 0.0),
    (WHITE, (0.093, -0.028), (0.008, 0.008), 0.0, 0.0),
];

/// Paints the moment `phase` of a scene: from 0 to 1, and 1 is 0 again.
pub(super) fn paint(theme: &Theme, seed: u64, size: (u32, u32), phase: f32) -> RgbImage {
    let mut rng = Rng::with_seed(seed);
    let canvas = Canvas::new(RgbImage::new(size.0, size.1));
    let (width, height) = (size.0 as f32 / canvas.unit, size.1 as f32 / canvas.unit);
    let horizon = height * if theme.has("water") { 0.5 + 0.14 * rng.f32() } else { 1.0 };
    let sun_x = 0.14 * rng.f32() + if rng.bool() { 0.22 } else { 0.64 };
    let sun = (width * sun_x, height * 0.12 + 0.1 * rng.f32());
    let drift = ((phase * TAU).cos(), (phase * TAU).sin());
    let light = mix(mix(theme.at(1.0), theme.accent, 0.4), WHITE, 0.5);
    let mut painter = Painter {
        theme,
        canvas,
        width,
        height,
        phase,
        drift,
        seed: rng.u32(..),
        horizon,
        sun,
        light,
        rng,
    };
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

/// One moment of a scene.
pub(super) struct Painter<'a> {
    theme: &'a Theme,
    canvas: Canvas,
    width: f32,
    height: f32,
    phase: f32,
    /// The moment as a point on a circle, for what moves and comes back.
    drift: Point,
    seed: u32,
    /// Where water begins; the lower edge if there is none.
    horizon: f32,
    sun: Point,
    /// The colour of the sun and of windows.
    light: Colour,
    rng: Rng,
}

impl Painter<'_> {
    /// A sky with clouds above places, or folds of colour.
    fn backdrop(&mut self) {
        const COARSE: u32 = 5;
        let (theme, seed) = (self.theme, self.seed);
        let (dx, dy) = (self.drift.0 * 0.12, self.drift.1 * 0.12);
        let is_place = ["sun", "skyline", "water"].iter().any(|place| theme.has(place));
        let (width, height) = self.canvas.image.dimensions();
        // Smooth, so that few points are enough.
        let points = RgbImage::from_fn(width / COARSE + 2, height / COARSE + 2, |x, y| {
            let unit = width.min(height) as f32 / COARSE as f32;
            let (x, y) = (x as f32 / unit, y as f32 / unit);
            if is_place {
                let t = (y / self.horizon.min(self.height * 0.8)).min(1.0);
                let cloud = step(0.5, 0.78, fbm(seed, x * 1.3 + dx, y * 5.0 + dy, 5));
                return mix(theme.at(0.34 + 0.6 * t * t), self.light, 0.5 * cloud * (1.1 - t));
            }
            let warp = (fbm(seed ^ 8, x + dx, y + dy, 3), fbm(seed ^ 16, x - dy, y + dx, 3));
            let folds = fbm(seed ^ 24, x * 0.9 + 3.2 * warp.0, y * 0.9 + 3.2 * warp.1, 3);
            let t = 0.12 + 0.5 * folds + 0.24 * (folds * 2.0 * TAU + x * 0.8).sin() + 0.16 * warp.0;
            mix(theme.at(t), theme.accent, 0.3 * step(0.55, 0.8, warp.1))
        });
        let smooth = DynamicImage::from(points).resize_exact(width, height, FilterType::CatmullRom);
        self.canvas.image = smooth.into_rgb8();
    }

    fn anywhere(&mut self) -> Point {
        (self.width * self.rng.f32(), self.height * self.rng.f32())
    }

    fn stars(&mut self) {
        for star in 0..150_u8 {
            let (place, radius) = (self.anywhere(), 0.006 * self.rng.f32().powi(3));
            let twinkle = 0.7 + 0.3 * (self.phase * TAU + f32::from(star)).sin();
            self.canvas.glow(place, radius * 6.0, (self.theme.accent, 0.6 * twinkle));
            self.canvas.glow(place, radius + 0.003, (WHITE, twinkle));
        }
    }

    fn sun(&mut self) {
        let swell = 1.0 + 0.05 * self.drift.1;
        self.canvas.glow(self.sun, 0.62 * swell, (self.light, 0.35));
        self.canvas.glow(self.sun, 0.24 * swell, (self.light, 0.4));
        self.canvas.oval(self.sun, (0.075, 0.075), (0.0, 0.0), (self.light, 1.0));
    }

    /// Silhouettes one before the other, the near ones dark, perhaps with lit windows.
    /// `profile` gives the height of a layer at a place.
    fn layers(&mut self, count: u32, far: f32, is_lit: bool, profile: fn(u32, f32, f32) -> f32) {
        let (theme, seed, horizon, light) = (self.theme, self.seed, self.horizon, self.light);
        for layer in 1..=count {
            let (seed, near) = (seed ^ (layer * 8), layer as f32 / count as f32);
            let base = horizon * (far + (1.0 - far) * near);
            let top = |x: f32| base - (horizon * 1.4).min(1.0) * profile(seed, near, x);
            self.canvas.below(top, |(x, y), down| {
                let (column, row) = (x / 0.0136, down / 0.024);
                let is_pane = row > 1.4 && row.fract() > 0.4 && column.fract() > 0.4;
                if is_lit && is_pane && hash(seed, column as i32, row as i32) < 0.32 {
                    return mix(theme.at(0.0), light, 0.3 + 0.6 * near);
                }
                theme.at(0.72 - 0.66 * near + 0.2 * step(0.0, 0.3, y - base))
            });
        }
    }

    /// What is above the horizon, mirrored in waves that are longer nearby.
    fn water(&mut self) {
        let (theme, seed, light, (dx, dy)) = (self.theme, self.seed, self.light, self.drift);
        let (horizon, has_sun) = (self.horizon, theme.has("sun"));
        let (above, unit) = (self.canvas.image.clone(), self.canvas.unit);
        self.canvas.below(
            |_| horizon,
            |(x, y), down| {
                let depth = down.max(0.0) / (self.height - horizon);
                let (far, u) = (0.04 + depth, x - self.width / 2.0);
                let wave = |salt, wide: f32, high: f32| {
                    noise(seed ^ salt, u * wide / far + 0.35 * dx, high / far + 0.35 * dy) - 0.5
                };
                let (swell, ripple) = (wave(1, 9.0, 16.0), wave(2, 22.0, 44.0));
                let up = down * 1.15 + (swell + ripple).abs() * 0.3 * depth + 0.003;
                let from = (x + (swell + 0.6 * ripple) * depth * 0.12, y - down - up);
                let column = ((from.0 * unit) as u32).min(above.width() - 1);
                let mirrored = *above.get_pixel(column, (from.1 * unit) as u32);
                let shade = 0.28 + 0.3 * depth + 0.5 * swell.max(-0.2) * depth.sqrt();
                let water = mix(mirrored, theme.at(0.34 - 0.2 * depth), shade);
                let aside = (x - self.sun.0) / (0.05 + 0.2 * depth);
                let path = if has_sun { 1.0 / (1.0 + aside.powi(4)) } else { 0.0 };
                mix(
                    water,
                    light,
                    step(0.2, 0.5, swell * 0.6 + ripple * 0.7 + 0.3 * path) * path * 0.9,
                )
            },
        );
    }

    /// Small blossoms around a large one.
    fn flowers(&mut self) {
        for blossom in 0..7_u8 {
            let (far, radius) = if blossom < 6 { (0.46, 0.13) } else { (0.04, 0.34) };
            let (sin, cos) = (f32::from(blossom) * TAU / 6.0 + 0.6 * self.rng.f32()).sin_cos();
            let (x, y) = (self.width * (0.5 + far * cos), self.height * (0.5 + far * sin));
            let petals = self.rng.u8(7..12);
            let turn = TAU * self.rng.f32() + 0.06 * self.drift.1;
            self.canvas.glow((x, y + 0.08 * radius), radius * 1.35, (self.theme.at(0.0), 0.45));
            for at in 0..5 * petals {
                let (ring, petal) = (f32::from(at / petals), f32::from(at % petals));
                let angle = turn + (petal + 0.5 * ring) * TAU / f32::from(petals);
                let ((sin, cos), size) = (angle.sin_cos(), radius * (1.0 - 0.18 * ring));
                for (far, large, light) in [(0.6, 1.1, 0.14), (0.6, 1.0, 0.3), (0.67, 0.7, 0.38)] {
                    let centre = (x + cos * far * size, y + sin * far * size);
                    let radii = (2.3 / f32::from(petals) * large * size, 0.4 * large * size);
                    let paint = (self.theme.at(light + 0.14 * ring), 0.8);
                    self.canvas.oval(centre, radii, (angle - TAU / 4.0, 0.25), paint);
                }
            }
            let heart = (radius * 0.16, radius * 0.16);
            self.canvas.oval((x, y), heart, (0.0, 0.0), (self.theme.accent, 1.0));
        }
    }

    /// What falls through the picture once from the first moment to the last.
    fn falling(&mut self, count: u16, (wide, tall): Point, colour: Colour) {
        for _ in 0..count {
            let ((x, y), size) = (self.anywhere(), 0.6 + 0.7 * self.rng.f32());
            let angle = if wide > tall { size * 99.0 + self.phase * TAU } else { 0.08 };
            let place = (x, (y + self.phase * self.height) % self.height);
            self.canvas.oval(place, (wide * size, tall * size), (angle, 0.0), (colour, 0.7));
        }
    }

    fn portrait(&mut self) {
        let centre = (self.width / 2.0, self.height - 0.46 - 0.006 * self.drift.1);
        self.canvas.glow(centre, 0.6, (self.light, 0.8));
        let (tint, is_fox) = (0.15 * self.rng.f32(), self.theme.has("fox"));
        for &(colour, (x, y), radii, angle, skew) in if is_fox { FOX } else { PERSON } {
            let paint = (mix(colour, self.theme.at(0.4), tint), 1.0);
            for side in if x == 0.0 { &[1.0][..] } else { &[-1.0, 1.0] } {
                let place = (centre.0 + x * side, centre.1 + y);
                self.canvas.oval(place, radii, (angle * side, skew), paint);
            }
        }
    }
}

fn ridge(seed: u32, near: f32, x: f32) -> f32 {
    0.6 * (fbm(seed, x * (4.0 - 2.0 * near), 0.5, 5) - 0.45)
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
