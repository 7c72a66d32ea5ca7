//! Pictures to start from: what was there stays to be seen, in the colours of the
//! scene and with its light upon it.

use std::io::Cursor;

use bytes::Bytes;
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader, Limits};

use super::canvas::Canvas;
use super::colour::{Ramp, luma, mix};

/// The longest side that is read.
const SIDE_MAX: u32 = 16_384;
/// Memory for reading one picture.
const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// Reads a picture.
///
/// # Errors
/// With the reason, for a person.
pub(super) fn read(bytes: &Bytes) -> Result<DynamicImage, String> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    limits.max_alloc = Some(MEMORY_MAX_BYTES);
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    reader.limits(limits);
    reader.decode().map_err(|error| error.to_string())
}

/// Fills a canvas with pictures, side by side if there are several, each cut to
/// its share.
pub(super) fn fit(bases: &[DynamicImage], (width, height): (u32, u32)) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    let count = bases.len();
    let width = width as usize;
    for (at, base) in bases.iter().enumerate() {
        let (left, right) = (width * at / count, width * (at + 1) / count);
        let panel = (right - left) as u32;
        let fitted = base.resize_to_fill(panel, height, FilterType::Triangle).into_rgb8();
        for (x, y, pixel) in fitted.enumerate_pixels() {
            canvas.pixels[y as usize * width + left + x as usize] = pixel.0;
        }
    }
    canvas
}

/// Lays a picture of the same size under a painted scene.
pub(super) fn lay_under(canvas: &mut Canvas, base: &Canvas, ramp: &Ramp) {
    for (pixel, source) in canvas.pixels.iter_mut().zip(&base.pixels) {
        let light = luma(*source);
        let recoloured = mix(*source, ramp.at(0.04 + 0.92 * light), 0.6);
        // More of the scene where the picture is light, and most where the scene is
        // lighter: a little of a moon's yellow in a blue sky is a grey disc.
        let lit = (luma(*pixel) - luma(recoloured)).max(0.0);
        *pixel = mix(recoloured, *pixel, 0.1 + 0.22 * light + 1.2 * lit);
    }
}
