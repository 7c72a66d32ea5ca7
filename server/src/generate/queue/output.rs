//! Checks of downloaded outputs.

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::media;
use super::protocol::OutputFile;
use crate::domain::{Media, OutputKind};
use crate::generate::Output;

/// The output in a response. Its bytes decide what it is.
///
/// # Errors
/// If it is of another type than requested, or broken; the reason for the caller.
pub(super) fn read(
    response: Response<Bytes>,
    file: &OutputFile,
    kind: OutputKind,
) -> Result<Output, &'static str> {
    let declared = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let bytes = response.body();
    let media = media::detect(bytes).filter(|media| match kind {
        OutputKind::Image => !matches!(media, Media::Mp4 | Media::Webm),
        OutputKind::Video => !matches!(media, Media::Png | Media::Jpeg),
    });
    let (true, Some(media)) = (declared.is_none_or(may_be_media), media) else {
        return Err("an output is not of a type that is asked for");
    };
    let declared_size = || Some((side(&file.width)?, side(&file.height)?));
    let (width, height) =
        media::dimensions(bytes, media).or_else(declared_size).ok_or("an output cannot be read")?;
    Ok(Output { bytes: response.into_body(), media, width, height })
}

/// Whether a declared type is a stored one, or says nothing.
fn may_be_media(declared: &str) -> bool {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let vague = ["application/octet-stream", "binary/octet-stream", "image/jpg", ""];
    vague.contains(&&*essence) || Media::ALL.iter().any(|media| media.content_type() == essence)
}

fn side(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok().filter(|side| *side > 0)
}
