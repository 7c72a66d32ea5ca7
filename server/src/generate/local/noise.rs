//! Smooth irregularity: gradient noise, and fields of it over a picture.
//!
//! A field is worked out on a coarse grid and enlarged, which for something smooth
//! looks the same and costs a fiftieth.

use image::imageops::FilterType;
use image::{DynamicImage, Rgb32FImage};

/// Cells of the coarse grid along the longer side.
const GRID: u32 = 88;

/// Three smooth values between 0 and 1 at each pixel, row by row.
pub(super) type Field = Vec<f32>;

/// Fills a field. `value` gets a place in units of the shorter side.
pub(super) fn field(width: u32, height: u32, value: impl Fn(f32, f32) -> [f32; 3]) -> Field {
    let long = width.max(height);
    let cells = |side: u32| (side * GRID / long).max(4);
    let (columns, rows) = (cells(width), cells(height));
    let short = width.min(height) as f32;
    let (dx, dy) = (width as f32 / short / columns as f32, height as f32 / short / rows as f32);
    let coarse = Rgb32FImage::from_fn(columns, rows, |x, y| {
        image::Rgb(value((x as f32 + 0.5) * dx, (y as f32 + 0.5) * dy))
    });
    DynamicImage::from(coarse)
        .resize_exact(width, height, FilterType::CatmullRom)
        .into_rgb32f()
        .into_raw()
}

/// Noise of one scale, between about -1 and 1, with hills about one unit apart.
pub(super) fn noise(seed: u32, x: f32, y: f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let (fx, fy) = (x - left, y - top);
    let (ix, iy) = (left as i32, top as i32);
    let (u, v) = (smooth(fx), smooth(fy));
    let upper = slope(seed, ix, iy, fx, fy);
    let upper = upper + (slope(seed, ix + 1, iy, fx - 1.0, fy) - upper) * u;
    let lower = slope(seed, ix, iy + 1, fx, fy - 1.0);
    let lower = lower + (slope(seed, ix + 1, iy + 1, fx - 1.0, fy - 1.0) - lower) * u;
    (upper + (lower - upper) * v) * 1.5
}

/// Noise of several scales, each half of the one before.
pub(super) fn layered(seed: u32, mut x: f32, mut y: f32, layers: u32) -> f32 {
    let (mut sum, mut weight) = (0.0, 0.5);
    for layer in 0..layers {
        sum += weight * noise(seed.wrapping_add(layer), x, y);
        weight *= 0.5;
        // Turned a little, so that the grids of the layers do not show.
        (x, y) = (1.6 * x - 1.2 * y + 3.7, 1.2 * x + 1.6 * y - 1.3);
    }
    sum
}

/// From 0 to 1 and level at both ends.
pub(super) const fn smooth(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// 0 below `low`, 1 above `high`, and smooth between.
pub(super) fn step(low: f32, high: f32, t: f32) -> f32 {
    let t = ((t - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The height of a plane through a grid point, which leans in one of 8 directions.
const fn slope(seed: u32, x: i32, y: i32, dx: f32, dy: f32) -> f32 {
    let mut hash = seed
        .wrapping_add((x as u32).wrapping_mul(0x27d4_eb2d))
        .wrapping_add((y as u32).wrapping_mul(0x1656_67b1));
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    match hash >> 29 {
        0 => dx,
        1 => -dx,
        2 => dy,
        3 => -dy,
        4 => 0.707 * (dx + dy),
        5 => 0.707 * (dx - dy),
        6 => 0.707 * (dy - dx),
        _ => -0.707 * (dx + dy),
    }
}
