//! Checks of downloaded outputs. Their bytes decide what they are and how large their image is.

use std::io::Cursor;

use bytes::Bytes;
use http::Response;
use image::ImageReader;
use serde_json::Value;

use super::protocol::OutputFile;
use crate::domain::{Media, OutputKind};
use crate::generate::Output;

/// Boxes of MP4: `moov`, `trak`, `tkhd`, which are the movie, a track, its header.
const TO_HEADER: [u32; 3] = [0x6d6f_6f76, 0x7472_616b, 0x746b_6864];
/// Elements of WebM: segment, tracks, a track, its video.
const TO_VIDEO: [u32; 4] = [0x1853_8067, 0x1654_ae6b, 0xae, 0xe0];
const PIXEL_WIDTH: u32 = 0xb0;
const PIXEL_HEIGHT: u32 = 0xba;

/// The output in a response, or for the caller why it is none.
pub(super) fn output(
    response: Response<Bytes>,
    file: &OutputFile,
    kind: OutputKind,
) -> Result<Output, &'static str> {
    let bytes = response.into_body();
    let media = detect(&bytes).filter(|media| match kind {
        OutputKind::Image => !matches!(media, Media::Mp4 | Media::Webm),
        OutputKind::Video => !matches!(media, Media::Png | Media::Jpeg),
    });
    let media = media.ok_or("an output is not of a type that is asked for")?;
    let side = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let declared = || nonzero((side(&file.width)?, side(&file.height)?));
    let (width, height) =
        dimensions(&bytes, media).or_else(declared).ok_or("an output cannot be read")?;
    Ok(Output { bytes, media, width, height })
}

/// The type of a file; `None` if it is not a stored one.
fn detect(bytes: &[u8]) -> Option<Media> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(Media::Png),
        [0xff, 0xd8, 0xff, ..] => Some(Media::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Media::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Media::Webp),
        // HEIF images and QuickTime videos have the same container as MP4.
        [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => {
            let others = ["avif", "avis", "heic", "heix", "hevc", "mif1", "msf1", "qt  "];
            let brand = str::from_utf8(brand.get(..4)?).ok();
            (!brand.is_some_and(|brand| others.contains(&brand))).then_some(Media::Mp4)
        }
        [0x1a, 0x45, 0xdf, 0xa3, rest @ ..] => {
            let head = &rest[..rest.len().min(64)];
            head.windows(4).any(|word| word == b"webm").then_some(Media::Webm)
        }
        _ => None,
    }
}

/// Width and height in pixels, if they are found; both at least 1.
fn dimensions(bytes: &[u8], media: Media) -> Option<(u32, u32)> {
    match media {
        Media::Mp4 => find(bytes, &TO_HEADER, split_box, &end_of_header),
        Media::Webm => find(bytes, &TO_VIDEO, split_element, &|video| {
            let value = |content: &[u8]| u32::try_from(number(content)).ok();
            let side = |id| find(video, &[id], split_element, &value);
            nonzero((side(PIXEL_WIDTH)?, side(PIXEL_HEIGHT)?))
        }),
        Media::Png | Media::Jpeg | Media::Webp | Media::Gif => {
            let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
            reader.into_dimensions().ok().and_then(nonzero)
        }
    }
}

fn nonzero(size: (u32, u32)) -> Option<(u32, u32)> {
    (size.0 > 0 && size.1 > 0).then_some(size)
}

/// Splits off the first part of a container: its id, its content, and what follows.
type Split = fn(&[u8]) -> Option<(u32, &[u8], &[u8])>;

/// Follows `path` through nested parts to the first one in which `read` finds something.
fn find<T>(
    mut bytes: &[u8],
    path: &[u32],
    split: Split,
    read: &dyn Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let [next, path @ ..] = path else { return read(bytes) };
    while let Some((id, content, rest)) = split(bytes) {
        let found = if id == *next { find(content, path, split, read) } else { None };
        if found.is_some() {
            return found;
        }
        bytes = rest;
    }
    None
}

/// A box of MP4. A size of 0 reaches to the end, and after 1 a long size follows.
fn split_box(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let [s1, s2, s3, s4, id @ ..] = *head;
    let (skip, size) = match u32::from_be_bytes([s1, s2, s3, s4]) {
        0 => (0, rest.len()),
        1 => (8, usize::try_from(u64::from_be_bytes(*rest.first_chunk()?)).ok()?.checked_sub(8)?),
        size => (0, usize::try_from(size).ok()?.checked_sub(8)?),
    };
    let (content, rest) = rest.split_at(size.min(rest.len()));
    Some((u32::from_be_bytes(id), content.get(skip..)?, rest))
}

/// Width and height come last, as fixed-point numbers; an audio track has 0.
fn end_of_header(header: &[u8]) -> Option<(u32, u32)> {
    let [w1, w2, _, _, h1, h2, _, _] = *header.last_chunk()?;
    nonzero((u16::from_be_bytes([w1, w2]).into(), u16::from_be_bytes([h1, h2]).into()))
}

/// An element of WebM. Its id is with a length marker, its size without.
fn split_element(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (id, rest) = split_integer(bytes)?;
    let (size, rest) = split_integer(rest)?;
    let mask = (1 << (7 * size.len())) - 1;
    // All ones stand for an unknown size.
    let known = Some(number(size) & mask).filter(|size| *size != mask);
    let size = known.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
    let (content, rest) = rest.split_at(size.min(rest.len()));
    Some((u32::try_from(number(id)).ok()?, content, rest))
}

/// A variable-length integer with its length marker.
fn split_integer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = bytes.first()?.leading_zeros() as usize + 1;
    bytes.split_at_checked(length).filter(|_| length <= 8)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mp4_box(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let size = u32::try_from(content.len() + 8).unwrap();
        [&size.to_be_bytes(), name, content].concat()
    }

    fn element(id: &[u8], content: &[u8]) -> Vec<u8> {
        [id, &[0x80 | u8::try_from(content.len()).unwrap()], content].concat()
    }

    #[test]
    fn the_size_of_an_mp4_is_read() {
        let header = |width: u16, height: u16| {
            let mut content = vec![0; 76];
            content.extend(width.to_be_bytes());
            content.extend([0, 0]);
            content.extend(height.to_be_bytes());
            content.extend([0, 0]);
            mp4_box(b"trak", &mp4_box(b"tkhd", &content))
        };
        let movie = mp4_box(b"moov", &[header(0, 0), header(1280, 720)].concat());
        let file = [mp4_box(b"ftyp", b"isom0000"), mp4_box(b"free", &[1; 9]), movie].concat();
        assert_eq!(detect(&file), Some(Media::Mp4));
        assert_eq!(dimensions(&file, Media::Mp4), Some((1280, 720)));
    }

    #[test]
    fn the_size_of_a_webm_is_read() {
        let video = element(&[0xe0], &[0xb0, 0x82, 0x02, 0x80, 0xba, 0x82, 0x01, 0x68]);
        let tracks = element(&[0x16, 0x54, 0xae, 0x6b], &element(&[0xae], &video));
        let segment =
            element(&[0x18, 0x53, 0x80, 0x67], &[element(&[0xec], &[0; 3]), tracks].concat());
        let head = element(&[0x1a, 0x45, 0xdf, 0xa3], &element(&[0x42, 0x82], b"webm"));
        let file = [head, segment].concat();
        assert_eq!(detect(&file), Some(Media::Webm));
        assert_eq!(dimensions(&file, Media::Webm), Some((640, 360)));
    }

    #[test]
    fn other_files_are_not_stored() {
        for bytes in [
            &b""[..],
            b"<!doctype html>",
            b"{}",
            b"\x89PNG\r\n\x1a",
            b"\0\0\0\x1cftypavif",
            b"\0\0\0\x14ftypqt  ",
            b"\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska",
            b"RIFF\0\0\0\0WAVE",
        ] {
            assert_eq!(detect(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn broken_files_have_no_size() {
        let mp4 = mp4_box(b"ftyp", b"isom");
        let broken: [&[u8]; 5] = [
            &mp4,
            b"\0\0\0\x02moov",
            b"\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\0\0\0\0moov\0\0\0\0trak\0\0\0\0tkhd",
            b"\xff\xff\xff\xffmoov",
        ];
        for bytes in broken {
            assert_eq!(dimensions(bytes, Media::Mp4), None, "{bytes:?}");
            assert_eq!(dimensions(bytes, Media::Webm), None, "{bytes:?}");
            assert_eq!(dimensions(bytes, Media::Png), None, "{bytes:?}");
        }
    }
}
