//! Shapes and smooth noise on pixels.

use image::{Rgb, RgbImage};

pub(super) type Colour = Rgb<u8>;
pub(super) type Point = (f32, f32);

/// A picture that is being painted. Its shorter side is the unit of places and lengths.
pub(super) struct Canvas {
    pub(super) image: RgbImage,
    pub(super) unit: f32,
}

impl Canvas {
    /// Mixes in a colour by the share that `cover` gives for a place relative to `centre`.
    fn shape(&mut self, centre: Point, reach: f32, colour: Colour, cover: impl Fn(Point) -> f32) {
        let (unit, (cx, cy)) = (self.unit, centre);
        // Casts of negative numbers give 0.
        let range = |at: f32, side: u32| {
            ((at - reach) * unit - 1.0) as u32..(((at + reach) * unit + 2.0) as u32).min(side)
        };
        for y in range(cy, self.image.height()) {
            for x in range(cx, self.image.width()) {
                let share = cover(((x as f32 + 0.5) / unit - cx, (y as f32 + 0.5) / unit - cy));
                if share > 0.003 {
                    let pixel = self.image.get_pixel_mut(x, y);
                    *pixel = mix(*pixel, colour, share);
                }
            }
        }
    }

    pub(super) fn oval(&mut self, centre: Point, (a, b): Point, angle: f32, colour: Colour) {
        let ((sin, cos), pixels) = (angle.sin_cos(), a.min(b) * self.unit);
        self.shape(centre, a.max(b), colour, |(x, y)| {
            let distance = ((x * cos + y * sin) / a).hypot((y * cos - x * sin) / b);
            (1.0 - distance) * pixels + 0.5
        });
    }

    pub(super) fn glow(&mut self, centre: Point, radius: f32, colour: Colour, strength: f32) {
        self.shape(centre, radius, colour, |(x, y)| {
            strength * (1.0 - (x * x + y * y) / (radius * radius)).max(0.0).powi(2)
        });
    }

    /// Paints what is below `top` of each column, by place and distance from the top.
    pub(super) fn below<F>(&mut self, top: impl Fn(f32) -> f32, colour: F)
    where
        F: Fn(Point, f32) -> Colour,
    {
        for column in 0..self.image.width() {
            let x = column as f32 / self.unit;
            let top = top(x) * self.unit;
            for row in top as u32..self.image.height() {
                let (y, down) = (row as f32 / self.unit, row as f32 - top);
                let pixel = self.image.get_pixel_mut(column, row);
                *pixel = mix(*pixel, colour((x, y), down / self.unit), down + 1.0);
            }
        }
    }
}

/// `a` at 0 and below, `b` at 1 and beyond. Without closures and generics, as most of the time of
/// the tests, which are not optimized, would be spent in them.
pub(super) fn mix(Rgb(a): Colour, Rgb(b): Colour, t: f32) -> Colour {
    let t = t.clamp(0.0, 1.0);
    let between = [a[0] as f32, a[1] as f32, a[2] as f32];
    let between = [
        between[0] + (b[0] as f32 - between[0]) * t,
        between[1] + (b[1] as f32 - between[1]) * t,
        between[2] + (b[2] as f32 - between[2]) * t,
    ];
    Rgb([between[0] as u8, between[1] as u8, between[2] as u8])
}

/// 0 up to `low`, 1 from `high` on, and smooth between.
pub(super) fn step(low: f32, high: f32, t: f32) -> f32 {
    let t = ((t - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// From 0 to 1, for a point of a grid.
pub(super) fn hash(seed: u32, x: i32, y: i32) -> f32 {
    let mixed = seed ^ (x as u32).wrapping_mul(0x27d4_eb2d) ^ (y as u32).wrapping_mul(0x1656_67b1);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 24) as f32
}

/// Value noise from 0 to 1: random on a grid of units, and smooth between.
pub(super) fn noise(seed: u32, x: f32, y: f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let (u, v) = (step(0.0, 1.0, x - left), step(0.0, 1.0, y - top));
    let between = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let row = |y: i32| between(hash(seed, left as i32, y), hash(seed, left as i32 + 1, y), u);
    between(row(top as i32), row(top as i32 + 1), v)
}

/// Noise of several scales, from 0 to 1.
pub(super) fn fractal_noise(seed: u32, mut x: f32, mut y: f32, octaves: u32) -> f32 {
    let (mut sum, mut weight) = (0.5, 0.5);
    for octave in 0..octaves {
        sum += weight * (noise(seed ^ octave, x, y) - 0.5);
        weight *= 0.5;
        // Turned, so that the grids of the octaves do not show.
        (x, y) = (1.6 * x - 1.2 * y + 3.7, 1.2 * x + 1.6 * y - 1.3);
    }
    sum
}
