//! The type of an image, by its first bytes and its name: pure functions.

use std::ffi::OsStr;
use std::path::Path;

use crate::model::ImageContentType;

/// How many bytes tell the type.
pub(super) const HEAD_BYTES: usize = 12;

/// The type with this signature.
fn of_bytes(head: &[u8]) -> Option<ImageContentType> {
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

pub(super) fn type_of_name(path: &Path) -> Option<ImageContentType> {
    let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
    match ending.as_str() {
        "png" => Some(ImageContentType::Png),
        "jpg" | "jpeg" | "jpe" | "jfif" => Some(ImageContentType::Jpeg),
        "gif" => Some(ImageContentType::Gif),
        "webp" => Some(ImageContentType::Webp),
        _ => None,
    }
}

/// The type to declare: that of the bytes. It must be the type that the caller declared, or else
/// that of the file name. A declared type that this version does not know is not checked.
pub(super) fn content_type(
    head: &[u8],
    name: Option<ImageContentType>,
    declared: Option<ImageContentType>,
) -> Result<ImageContentType, String> {
    match (of_bytes(head), declared, name) {
        (None, Some(declared @ ImageContentType::Unknown(_)), _) => Ok(declared),
        (None, ..) => Err("is not a PNG, JPEG, WebP or GIF image (unknown signature)".to_owned()),
        (Some(is), Some(declared), _) if declared != is => {
            Err(format!("is {is} by its first bytes, but was declared as {declared}"))
        }
        (Some(is), None, Some(name)) if name != is => {
            Err(format!("is {is} by its first bytes, but {name} by its name"))
        }
        (Some(is), ..) => Ok(is),
    }
}
