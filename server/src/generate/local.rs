//! The provider that needs no outside service: it paints pictures.
//!
//! Model, prompt and `parameters.seed` decide the picture; the words of the prompt suggest
//! its palette and its scene. It keeps no state between calls.
//!
//! Every name under `local/` is a model. Three are for tests: `local/slow` takes 3
//! seconds, or `parameters.seconds`; `local/fail` accepts a request and fails;
//! `local/refuse` accepts none.

mod canvas;
mod picture;
mod words;

use std::io::{Cursor, Write};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use data_encoding::BASE32_DNSSEC;
use fastrand::Rng;
use image::codecs::gif::{GifEncoder, Repeat};
use image::imageops::{self, FilterType};
use image::{
    Delay, DynamicImage, Frame, ImageFormat, ImageReader, ImageResult, Limits, Pixel, Rgb, RgbImage,
};
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use self::canvas::mix;
use self::words::Theme;
use super::{Output, PollError, Progress, Provider, SubmitError};
use crate::blobs::asset_url::Assets;
use crate::blobs::{AssetName, Blobs};
use crate::clock::Clock;
use crate::domain::{GenerationRequest, Media, OutputKind, ProviderTicket};

const NAMESPACE: &str = "local/";
const SLOW: Duration = Duration::from_secs(3);
/// The longest that `parameters.seconds` can ask for.
const SLOW_MAX_SECONDS: f64 = 600.0;
/// The longer side of a picture and of an animation, in pixels.
const PICTURE: u32 = 640;
const ANIMATION: u32 = 320;
/// The longest side in units of the shorter one.
const RATIO_MAX: f64 = 4.0;
const FRAMES: u16 = 16;
const FRAME_MILLIS: u32 = 90;
/// Of an input image: the longer side in pixels, and memory to decode it.
const INPUT_SIDE_MAX: u32 = 16_384;
const INPUT_MEMORY_MAX: u64 = 256 << 20;

/// Paints. Input images count if they are assets of this service; nothing is fetched
/// from anywhere else.
#[derive(Clone, Debug)]
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
    fn inputs(&self, order: &GenerationRequest) -> Vec<AssetName> {
        let urls = order.image_input.iter().chain(&order.image_inputs);
        urls.filter_map(|url| self.assets.name_in(url)).collect()
    }

    /// Time since the submission; 0 if the clock went back.
    fn age(&self, ticket: &ProviderTicket) -> Result<Duration, PollError> {
        let submitted: Timestamp = ticket
            .provider_state
            .parse()
            .map_err(|_| PollError("a ticket of another provider".into()))?;
        Ok(self.clock.now().duration_since(submitted).try_into().unwrap_or_default())
    }

    async fn paint(&self, order: &GenerationRequest) -> Result<Progress, PollError> {
        let mut bases = Vec::new();
        for name in self.inputs(order) {
            match self.blobs.read_all(&name).await {
                Ok(Some(bytes)) => bases.push(bytes),
                Ok(None) => return Ok(Progress::Failed(not_uploaded(&name))),
                Err(error) => return Err(PollError(error.to_string())),
            }
        }
        let order = order.clone();
        match spawn_blocking(move || outputs(&order, &bases)).await {
            Ok(Ok(outputs)) => Ok(Progress::Completed(outputs)),
            Ok(Err(reason)) => Ok(Progress::Failed(reason)),
            Err(error) => Err(PollError(error.to_string())),
        }
    }
}

#[async_trait]
impl Provider for LocalProvider {
    async fn submit(&self, order: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let model = model(order);
        if model.strip_prefix(NAMESPACE).is_none_or(str::is_empty) {
            return Err(SubmitError::Refused(format!("there is no model {}", quoted(model))));
        }
        if model == "local/refuse" {
            return Err(SubmitError::Refused("local/refuse accepts no requests".into()));
        }
        size(&order.aspect_ratio, order.kind).map_err(SubmitError::Refused)?;
        for name in self.inputs(order) {
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
        order: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let age = self.age(ticket)?;
        match model(order) {
            "local/fail" => Ok(Progress::Failed("local/fail always fails".into())),
            "local/slow" if age < slow(order) / 3 => Ok(Progress::Queued),
            "local/slow" if age < slow(order) => Ok(Progress::InProgress),
            _ => self.paint(order).await,
        }
    }
}

/// The model of a request: the editing one if there is an image to edit.
fn model(order: &GenerationRequest) -> &str {
    match (&order.image_edit_endpoint_id, &order.image_input) {
        (Some(endpoint), Some(_)) => endpoint,
        _ => &order.model_id,
    }
}

fn parameter<'a>(order: &'a GenerationRequest, name: &str) -> Option<&'a Value> {
    order.parameters.as_ref()?.get(name)
}

/// How long `local/slow` takes.
fn slow(order: &GenerationRequest) -> Duration {
    let seconds = parameter(order, "seconds").and_then(Value::as_f64);
    seconds.map_or(SLOW, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, SLOW_MAX_SECONDS)))
}

/// From model, prompt and `parameters.seed`, which is any JSON value.
fn seed(order: &GenerationRequest) -> u64 {
    let seed = parameter(order, "seed").map(Value::to_string).unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [model(order), &order.prompt, &seed] {
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
fn outputs(order: &GenerationRequest, bases: &[Bytes]) -> Result<Vec<Output>, String> {
    let ((width, height), seed) = (size(&order.aspect_ratio, order.kind)?, seed(order));
    let theme = Theme::new(&order.prompt, &mut Rng::with_seed(seed));
    let base = side_by_side(bases, width, height)
        .map_err(|error| format!("an input image cannot be read: {error}"))?;
    let output = |variation: u64| {
        let moment = |phase: f32| {
            let seed = seed.wrapping_add(variation << 32);
            let mut picture = picture::paint(&theme, seed, (width, height), phase);
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
        let (media, written) = match order.kind {
            OutputKind::Image => (Media::Png, moment(0.0).write_to(&mut file, ImageFormat::Png)),
            OutputKind::Video => (Media::Gif, write_gif(&mut file, moment)),
        };
        written.map_err(|error| error.to_string())?;
        Ok(Output { bytes: file.into_inner().into(), media, width, height })
    };
    (0..u64::from(order.batch_count)).map(output).collect()
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
