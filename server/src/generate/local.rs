//! The provider that needs no outside service: it paints.
//!
//! Model, prompt and `parameters.seed` decide the picture. Every name under `local/` is a model.
//! Three are for tests: `local/slow` takes 3 seconds, or `parameters.seconds`; `local/fail` fails;
//! `local/refuse` accepts no request.

use std::f32::consts::TAU;
use std::io::Cursor;
use std::sync::LazyLock;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use image::codecs::gif::{GifEncoder, Repeat};
use image::imageops::FilterType;
use image::{
    Delay, DynamicImage, Frame, GrayImage, ImageFormat, ImageReader, ImageResult, Limits, Rgb,
    RgbImage,
};
use jiff::Timestamp;
use promptarium::limits::UPLOAD_SIZE_BYTES;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::{Output, PollError, Progress, Provider, SubmitError, model};
use crate::blobs::Blobs;
use crate::blobs::urls::Assets;
use crate::clock::Clock;
use crate::domain::{AssetName, GenerationRequest, OutputKind, ProviderTicket};
use crate::quota::{Client, Quota};

/// The longer side of a picture and of an animation. Smaller in our tests, which are not optimized.
const PICTURE: u32 = if IN_TESTS { 192 } else { 512 };
const ANIMATION: u32 = if IN_TESTS { 96 } else { 256 };
const IN_TESTS: bool = cfg!(all(debug_assertions, any(test, feature = "test-support")));
/// The longest side in units of the shorter one.
const RATIO_MAX: f64 = 4.0;
const FRAMES: u16 = 12;

/// Painting occupies a processor each, which requests need too.
pub(crate) static PAINTERS: LazyLock<Quota> =
    LazyLock::new(|| Quota::new("painters", "the processors", 2, 2));

/// Red, green and blue, from 0 to 1.
pub(crate) type Colour = [f32; 3];

#[derive(Clone, Copy)]
pub(crate) struct Point {
    /// From the left and from the top, in units of the height.
    pub(crate) at: (f32, f32),
    /// The width in these units, and the size of a pixel.
    pub(crate) wide: f32,
    pub(crate) pixel: f32,
    /// From 0 to 1, and 1 is 0 again.
    pub(crate) moment: f32,
}

/// The colour at each place of the picture for a text, varied by a digest.
pub(crate) type Paint = fn(&str, [u8; 32]) -> Box<dyn Fn(Point) -> Colour>;

pub(crate) fn waves(_: &str, digest: [u8; 32]) -> Box<dyn Fn(Point) -> Colour> {
    let tints = [0, 1, 2, 3].map(|at| f32::from(digest[at]) / 255.0);
    Box::new(move |Point { at: (x, y), moment, .. }| {
        let wave = (TAU * (3.0 * x + tints[3] + moment)).sin() / 8.0;
        [0, 1, 2].map(|at| 0.5 + 0.5 * (TAU * (0.4 * (y + wave) + tints[at])).cos())
    })
}

/// Input images count if they are assets of this service; nothing is fetched from elsewhere.
#[derive(Clone)]
pub(crate) struct LocalProvider {
    pub(crate) clock: Clock,
    pub(crate) assets: Assets,
    pub(crate) blobs: Blobs,
    pub(crate) paint: Paint,
}

impl LocalProvider {
    /// The input images that are assets of this service.
    fn inputs(&self, request: &GenerationRequest) -> Vec<AssetName> {
        let images = request.image_input.iter().chain(&request.image_inputs);
        images.filter_map(|image| self.assets.name_of(image)).collect()
    }

    async fn paint(&self, request: &GenerationRequest) -> Result<Progress, PollError> {
        // Also for the memory of the input.
        let permit = PAINTERS.acquire(Client::Server, 1, Duration::MAX).await;
        let mut input = None;
        if let Some(name) = self.inputs(request).first() {
            let file = self.blobs.read_all(name, *UPLOAD_SIZE_BYTES.end()).await?;
            let file = file.ok_or_else(|| PollError::Permanent(not_uploaded(name)))?;
            let too_large = || PollError::Permanent(format!("the input image {name} is too large"));
            input = Some(Some(file).filter(|file| !file.is_empty()).ok_or_else(too_large)?);
        }
        let (paint, request) = (self.paint, request.clone());
        let painting = spawn_blocking(move || {
            let _permit = permit;
            outputs(paint, &request, input.as_ref())
        });
        let painted = painting.await.map_err(|error| PollError::transient(error.to_string()))?;
        let files = painted.map_err(PollError::Permanent)?;
        Ok(Progress::completed(files.into_iter().map(Output::from)))
    }
}

#[async_trait]
impl Provider for LocalProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let refused = |reason| Err(SubmitError::Refused(reason));
        match model(request).strip_prefix("local/") {
            None | Some("") => return refused(format!("there is no model {:?}", model(request))),
            Some("refuse") => return refused("local/refuse accepts no requests".into()),
            Some(_) => {}
        }
        size(request).map_err(SubmitError::Refused)?;
        for name in self.inputs(request) {
            let found = self.blobs.size_of(&name).await;
            if found.map_err(|error| SubmitError::Unavailable(error.to_string()))?.is_none() {
                return refused(not_uploaded(&name));
            }
        }
        Ok(ProviderTicket {
            request_id: format!("{:032x}", rand::random::<u128>()).into(),
            provider_state: self.clock.now().to_string().into(),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let submitted = ticket.provider_state.parse::<Timestamp>();
        let submitted =
            submitted.map_err(|_| PollError::transient("a ticket of another provider"))?;
        let age = self.clock.now().duration_since(submitted).as_secs_f64();
        match model(request) {
            "local/fail" => Err(PollError::permanent("local/fail always fails")),
            "local/slow" if age < slow_seconds(request) / 3.0 => Ok(Progress::Queued),
            "local/slow" if age < slow_seconds(request) => Ok(Progress::InProgress),
            _ => self.paint(request).await,
        }
    }
}

fn parameter<'a>(request: &'a GenerationRequest, name: &str) -> &'a Value {
    request.parameters.as_ref().and_then(|all| all.get(name)).unwrap_or(&Value::Null)
}

fn slow_seconds(request: &GenerationRequest) -> f64 {
    parameter(request, "seconds").as_f64().unwrap_or(3.0).clamp(0.0, 600.0)
}

fn not_uploaded(name: &AssetName) -> String {
    format!("the input image {name} was not uploaded")
}

/// Width and height for a ratio such as `16:9`, or why there are none.
fn size(request: &GenerationRequest) -> Result<(u32, u32), String> {
    let ratio = &request.aspect_ratio;
    let wide = super::ratio(ratio)
        .ok_or_else(|| format!("the aspect ratio {ratio:?} is not of the form 16:9"))?;
    if !(1.0 / RATIO_MAX..=RATIO_MAX).contains(&wide) {
        return Err(format!("the aspect ratio {ratio:?} is beyond 4:1 or 1:4"));
    }
    let long = f64::from(if request.kind == OutputKind::Image { PICTURE } else { ANIMATION });
    Ok(((long * wide.min(1.0)).round() as u32, (long / wide.max(1.0)).round() as u32))
}

/// Paints the outputs of a request over its first input image, always the same bytes.
fn outputs(
    paint: Paint,
    request: &GenerationRequest,
    input: Option<&Bytes>,
) -> Result<Vec<Bytes>, String> {
    let (width, height) = size(request)?;
    let base = input.map(|file| decoded(file, width, height)).transpose();
    let base = base.map_err(|error| format!("an input image cannot be read: {error}"))?;
    let output = |number| {
        let moment = painting(paint, request, number, base.as_ref(), (width, height));
        let mut file = Cursor::new(Vec::new());
        match request.kind {
            OutputKind::Image => moment(0.0).write_to(&mut file, ImageFormat::Png),
            OutputKind::Video => write_gif(&mut file, moment),
        }
        .map_err(|error| error.to_string())?;
        Ok(file.into_inner().into())
    };
    (0..request.batch_count).map(output).collect()
}

/// The picture at each moment, decided by model, prompt, seed and the number of the output.
fn painting(
    paint: Paint,
    request: &GenerationRequest,
    number: u32,
    base: Option<&GrayImage>,
    (width, height): (u32, u32),
) -> impl Fn(f32) -> RgbImage {
    let parts = json!([model(request), request.prompt, parameter(request, "seed"), number]);
    let colour = paint(&request.prompt, Sha256::digest(parts.to_string()).into());
    let pixel = 1.0 / height as f32;
    move |moment| {
        RgbImage::from_fn(width, height, |x, y| {
            let light = base.map_or(255, |base| base.get_pixel(x, y).0[0]);
            let light = 0.2 + 0.8 * f32::from(light) / 255.0;
            let at = ((x as f32 + 0.5) * pixel, (y as f32 + 0.5) * pixel);
            let colour = colour(Point { at, wide: width as f32 * pixel, pixel, moment });
            Rgb(colour.map(|part| (255.0 * light * part.clamp(0.0, 1.0)) as u8))
        })
    }
}

fn decoded(file: &Bytes, width: u32, height: u32) -> ImageResult<GrayImage> {
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(256 << 20);
    reader.limits(limits);
    Ok(reader.decode()?.resize_to_fill(width, height, FilterType::Triangle).into_luma8())
}

fn write_gif(file: &mut Cursor<Vec<u8>>, moment: impl Fn(f32) -> RgbImage) -> ImageResult<()> {
    let mut encoder = GifEncoder::new_with_speed(file, 30);
    encoder.set_repeat(Repeat::Infinite)?;
    let delay = Delay::from_numer_denom_ms(120, 1);
    encoder.encode_frames((0..FRAMES).map(|frame| {
        let picture = DynamicImage::from(moment(f32::from(frame) / f32::from(FRAMES)));
        Frame::from_parts(picture.into_rgba8(), 0, 0, delay)
    }))
}

#[cfg(test)]
mod tests;
