//! From painted pixels to files.

use std::borrow::Cow;

use bytes::Bytes;
use color_quant::NeuQuant;
use gif::{Encoder, EncodingError, Frame, Repeat};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageError};

use super::canvas::Canvas;
use super::colour::Rgb;

/// Time between the frames of an animation, in hundredths of a second.
const PACE: u16 = 9;
/// Pixels looked at in the search for the colours of an animation.
const SAMPLES: usize = 12_000;
/// 1 is the most careful search for colours and 30 the quickest.
const HASTE: i32 = 8;

/// A still picture.
pub(super) fn png(canvas: &Canvas) -> Result<Bytes, ImageError> {
    let mut file = Vec::with_capacity(canvas.pixels.len());
    PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive)
        .write_image(
            canvas.pixels.as_flattened(),
            canvas.width,
            canvas.height,
            ExtendedColorType::Rgb8,
        )?;
    Ok(file.into())
}

/// An animation that goes on for ever. All frames are of one size.
pub(super) fn gif(frames: &[Canvas]) -> Result<Bytes, EncodingError> {
    let Some(first) = frames.first() else { return Ok(Bytes::new()) };
    let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
    let (width, height) = (side(first.width), side(first.height));
    let mut colours = Colours::of(frames);
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height, &colours.table())?;
    encoder.set_repeat(Repeat::Infinite)?;
    for canvas in frames {
        let indices: Vec<u8> = canvas.pixels.iter().map(|pixel| colours.index(*pixel)).collect();
        encoder.write_frame(&Frame {
            width,
            height,
            delay: PACE,
            buffer: Cow::Owned(indices),
            ..Frame::default()
        })?;
    }
    drop(encoder);
    Ok(file.into())
}

/// The 256 colours of an animation: one choice for all frames, or it would flicker.
struct Colours {
    chosen: NeuQuant,
    /// The nearest one for each colour of 5 bits a part, once it was looked for.
    nearest: Vec<Option<u8>>,
}

impl Colours {
    fn of(frames: &[Canvas]) -> Self {
        let total: usize = frames.iter().map(|frame| frame.pixels.len()).sum();
        // Odd, so that it does not fall on the same columns of each row.
        let stride = (total / SAMPLES) | 1;
        let pixels = frames.iter().flat_map(|frame| &frame.pixels).step_by(stride);
        let samples: Vec<u8> = pixels.flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect();
        Self { chosen: NeuQuant::new(HASTE, 256, &samples), nearest: vec![None; 1 << 15] }
    }

    fn table(&self) -> Vec<u8> {
        self.chosen.color_map_rgb()
    }

    fn index(&mut self, [r, g, b]: Rgb) -> u8 {
        let short = |part: u8| usize::from(part >> 3);
        let slot = &mut self.nearest[short(r) << 10 | short(g) << 5 | short(b)];
        let chosen = &self.chosen;
        *slot.get_or_insert_with(|| {
            let whole = |part: u8| part & 0xf8 | 4;
            u8::try_from(chosen.index_of(&[whole(r), whole(g), whole(b), 255])).unwrap_or(0)
        })
    }
}
