//! The provider that needs no outside service: it paints pictures.
//!
//! Model, prompt and `parameters.seed` decide the picture; the words of the prompt suggest
//! its palette and its scene. It keeps no state between calls.
//!
//! Every name under `local/` is a model. Three are for tests: `local/slow` takes 3
//! seconds, or `parameters.seconds`; `local/fail` accepts a request and fails;
//! `local/refuse` accepts none.

mod canvas;
mod scene;

use std::io::{Cursor, Write};

use async_trait::async_trait;
use bytes::Bytes;
use data_encoding::BASE32_DNSSEC;
use fastrand::Rng;
use image::codecs::gif::{GifEncoder, Repeat};
use image::codecs::png::{self, CompressionType, PngEncoder};
use image::imageops::{self, FilterType};
use image::{Delay, DynamicImage, Frame, ImageReader, ImageResult, Limits, Pixel, Rgb, RgbImage};
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use self::canvas::mix;
use self::scene::{Theme, paint};
use super::{Output, PollError, Progress, Provider, SubmitError, model};
use crate::blobs::asset_url::Assets;
use crate::blobs::{AssetName, Blobs};
use crate::clock::Clock;
use crate::domain::{GenerationRequest, Media, OutputKind, ProviderTicket};

const NAMESPACE: &str = "local/";
/// How long `local/slow` takes, and the longest that `parameters.seconds` can ask for.
const SLOW_SECONDS: f64 = 3.0;
const SLOW_SECONDS_MAX: f64 = 600.0;
/// The longer side of a picture and of an animation, in pixels.
const PICTURE: u32 = 512;
const ANIMATION: u32 = 320;
/// The longest side in units of the shorter one.
const RATIO_MAX: f64 = 4.0;
const FRAMES: u16 = 16;
const FRAME_MILLIS: u32 = 90;
/// Of an input image: the longer side in pixels, and memory to decode it.
const INPUT_SIDE_MAX: u32 = 16_384;
const INPUT_MEMORY_MAX: u64 = 256 << 20;

/// Paints. Input images count if they are assets of this service; nothing is fetched from
/// anywhere else.
#[derive(Clone)]
pub(crate) struct LocalProvider {
    clock: Clock,
    assets: Assets,
    blobs: Blobs,
}

impl LocalProvider {
    /// `assets` and `blobs` are where input images are found.
    pub(crate) const fn new(clock: Clock, assets: Assets, blobs: Blobs) -> Self {
        Self { clock, assets, blobs }
    }

    /// The input images that are assets of this service.
    fn inputs(&self, request: &GenerationRequest) -> Vec<AssetName> {
        let urls = request.image_input.iter().chain(&request.image_inputs);
        urls.filter_map(|url| self.assets.name_in(url)).collect()
    }

    async fn paint(&self, request: &GenerationRequest) -> Result<Progress, PollError> {
        let mut bases = Vec::new();
        for name in self.inputs(request) {
            match self.blobs.read_all(&name).await {
                Ok(Some(bytes)) => bases.push(bytes),
                Ok(None) => return Ok(Progress::Failed(not_uploaded(&name))),
                Err(error) => return Err(PollError(error.to_string())),
            }
        }
        let request = request.clone();
        match spawn_blocking(move || outputs(&request, &bases)).await {
            Ok(Ok(outputs)) => Ok(Progress::Completed(outputs)),
            Ok(Err(reason)) => Ok(Progress::Failed(reason)),
            Err(error) => Err(PollError(error.to_string())),
        }
    }
}

#[async_trait]
impl Provider for LocalProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let model = model(request);
        if model.strip_prefix(NAMESPACE).is_none_or(str::is_empty) {
            return Err(SubmitError::Refused(format!("there is no model {}", quoted(model))));
        }
        if model == "local/refuse" {
            return Err(SubmitError::Refused("local/refuse accepts no requests".into()));
        }
        size(&request.aspect_ratio, request.kind).map_err(SubmitError::Refused)?;
        for name in self.inputs(request) {
            match self.blobs.size_of(&name).await {
                Ok(Some(_)) => {}
                Ok(None) => return Err(SubmitError::Refused(not_uploaded(&name))),
                Err(error) => return Err(SubmitError::Unavailable(error.to_string())),
            }
        }
        let id: [u8; 16] = rand::random();
        Ok(ProviderTicket {
            request_id: BASE32_DNSSEC.encode(&id).into(),
            provider_state: self.clock.now().to_string().into(),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let submitted: Timestamp = ticket
            .provider_state
            .parse()
            .map_err(|_| PollError("a ticket of another provider".into()))?;
        let age = self.clock.now().duration_since(submitted).as_secs_f64();
        match model(request) {
            "local/fail" => Ok(Progress::Failed("local/fail always fails".into())),
            "local/slow" if age < slow_seconds(request) / 3.0 => Ok(Progress::Queued),
            "local/slow" if age < slow_seconds(request) => Ok(Progress::InProgress),
            _ => self.paint(request).await,
        }
    }
}

fn parameter<'a>(request: &'a GenerationRequest, name: &str) -> Option<&'a Value> {
    request.parameters.as_ref()?.get(name)
}

fn slow_seconds(request: &GenerationRequest) -> f64 {
    let seconds = parameter(request, "seconds").and_then(Value::as_f64).unwrap_or(SLOW_SECONDS);
    seconds.clamp(0.0, SLOW_SECONDS_MAX)
}

/// From model, prompt and `parameters.seed`, which is any JSON value.
fn seed(request: &GenerationRequest) -> u64 {
    let seed = parameter(request, "seed").map(Value::to_string).unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [model(request), &request.prompt, &seed] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// The beginning of a text from a request.
fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(80).collect::<String>())
}

fn not_uploaded(name: &AssetName) -> String {
    format!("the input image {name} was not uploaded")
}

/// Width and height for a ratio such as `16:9` or `1.91:1`, or why there are none.
fn size(ratio: &str, kind: OutputKind) -> Result<(u32, u32), String> {
    let side = |text: &str| {
        let is_plain = text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        text.parse().ok().filter(|side: &f64| is_plain && *side > 0.0)
    };
    let sides = ratio.split_once(':').and_then(|(w, h)| Some((side(w)?, side(h)?)));
    let (width, height) = sides
        .ok_or_else(|| format!("the aspect ratio {} is not of the form 16:9", quoted(ratio)))?;
    if width / height > RATIO_MAX || height / width > RATIO_MAX {
        return Err(format!("the aspect ratio {} is beyond 4:1 or 1:4", quoted(ratio)));
    }
    let long = if kind == OutputKind::Image { PICTURE } else { ANIMATION };
    let unit = f64::from(long) / width.max(height);
    Ok(((width * unit).round() as u32, (height * unit).round() as u32))
}

/// Paints the outputs of a request over its input images. The same request gives the same
/// bytes. The error is a reason for a person.
fn outputs(request: &GenerationRequest, bases: &[Bytes]) -> Result<Vec<Output>, String> {
    let ((width, height), seed) = (size(&request.aspect_ratio, request.kind)?, seed(request));
    let theme = Theme::new(&request.prompt, &mut Rng::with_seed(seed));
    let base = side_by_side(bases, width, height)
        .map_err(|error| format!("an input image cannot be read: {error}"))?;
    let output = |variation: u64| {
        let moment = |phase: f32| {
            let seed = seed.wrapping_add(variation << 32);
            let mut picture = paint(&theme, seed, (width, height), phase);
            // The input in the palette of the scene, with more of the scene where that is lighter.
            for (pixel, base) in picture.pixels_mut().zip(base.iter().flat_map(RgbImage::pixels)) {
                let light = |colour: &Rgb<u8>| f32::from(colour.to_luma().0[0]) / 255.0;
                let tinted = mix(*base, theme.at(light(base)), 0.6);
                let lighter = (light(pixel) - light(&tinted)).max(0.0);
                *pixel = mix(tinted, *pixel, 0.1 + 0.2 * light(base) + 1.2 * lighter);
            }
            picture
        };
        let mut file = Cursor::new(Vec::new());
        let (media, written) = match request.kind {
            OutputKind::Image => (Media::Png, write_png(&mut file, &moment(0.0))),
            OutputKind::Video => (Media::Gif, write_gif(&mut file, moment)),
        };
        written.map_err(|error| error.to_string())?;
        Ok(Output { bytes: file.into_inner().into(), media, width, height })
    };
    (0..u64::from(request.batch_count)).map(output).collect()
}

/// Pictures cut to equal shares of the width; `None` if there are none.
fn side_by_side(files: &[Bytes], width: u32, height: u32) -> ImageResult<Option<RgbImage>> {
    let mut canvas = RgbImage::new(width, height);
    let end = |at: usize| (u64::from(width) * at as u64 / files.len() as u64) as u32;
    for (at, file) in files.iter().enumerate() {
        let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(INPUT_SIDE_MAX);
        limits.max_image_height = Some(INPUT_SIDE_MAX);
        limits.max_alloc = Some(INPUT_MEMORY_MAX);
        reader.limits(limits);
        let share = end(at + 1) - end(at);
        let picture = reader.decode()?.resize_to_fill(share, height, FilterType::Triangle);
        imageops::replace(&mut canvas, &picture.into_rgb8(), end(at).into(), 0);
    }
    Ok((!files.is_empty()).then_some(canvas))
}

fn write_png(file: impl Write, picture: &RgbImage) -> ImageResult<()> {
    // One filter for all rows: choosing one for each takes longer than painting.
    let encoder = PngEncoder::new_with_quality(file, CompressionType::Fast, png::FilterType::Up);
    picture.write_with_encoder(encoder)
}

/// An animation that repeats for ever.
fn write_gif(file: impl Write, moment: impl Fn(f32) -> RgbImage) -> ImageResult<()> {
    let mut encoder = GifEncoder::new_with_speed(file, 10);
    encoder.set_repeat(Repeat::Infinite)?;
    let delay = Delay::from_numer_denom_ms(FRAME_MILLIS, 1);
    encoder.encode_frames((0..FRAMES).map(|frame| {
        let picture = DynamicImage::from(moment(f32::from(frame) / f32::from(FRAMES)));
        Frame::from_parts(picture.into_rgba8(), 0, 0, delay)
    }))
}

#[cfg(test)]
mod tests;
