//! What type an image is, told by its first bytes.

use std::ffi::OsStr;
use std::path::Path;

use crate::model::ImageContentType;

/// How many bytes it takes to tell.
pub(super) const HEAD_BYTES: usize = 12;

/// The type that these first bytes are the beginning of.
pub(super) fn of_bytes(head: &[u8]) -> Option<ImageContentType> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(ImageContentType::Png),
        [0xFF, 0xD8, 0xFF, ..] => Some(ImageContentType::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageContentType::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            Some(ImageContentType::Webp)
        }
        _ => None,
    }
}

/// The type that a file's name says it has.
pub(super) fn of_name(path: &Path) -> Option<ImageContentType> {
    let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
    match ending.as_str() {
        "png" => Some(ImageContentType::Png),
        "jpg" | "jpeg" | "jpe" | "jfif" => Some(ImageContentType::Jpeg),
        "gif" => Some(ImageContentType::Gif),
        "webp" => Some(ImageContentType::Webp),
        _ => None,
    }
}

/// The type to declare: what the bytes are, unless that contradicts what the caller
/// said or, if the caller said nothing, the name. The failure says what is wrong,
/// without naming the image.
///
/// A type this version does not know is taken at the caller's word.
pub(super) fn decide(
    head: &[u8],
    name: Option<ImageContentType>,
    told: Option<ImageContentType>,
) -> Result<ImageContentType, String> {
    match (of_bytes(head), told, name) {
        (None, Some(told @ ImageContentType::Unknown(_)), _) => Ok(told),
        (None, ..) => Err(format!(
            "does not begin as an image that can be uploaded does; accepted are {}",
            accepted()
        )),
        (Some(is), Some(told), _) if told != is => {
            Err(format!("is {is} by its first bytes, but was said to be {told}"))
        }
        (Some(is), None, Some(name)) if name != is => {
            Err(format!("is {is} by its first bytes, but {name} by its name"))
        }
        (Some(is), ..) => Ok(is),
    }
}

fn accepted() -> String {
    let all: Vec<_> = ImageContentType::KNOWN.iter().map(ImageContentType::as_str).collect();
    all.join(", ")
}
