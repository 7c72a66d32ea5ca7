//! Checks of downloaded outputs. Their bytes decide what they are and how large their image is.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use image::metadata::Orientation;
use image::{ImageDecoder, ImageReader};
use imagesize::{Compression, ImageType};

use crate::blobs::part;
use crate::domain::{Media, OutputKind};
use crate::limits::OUTPUT_HEAD_BYTES_MAX;

/// Brands of what has the container of MP4 and is none: AVIF and HEIF images, QuickTime videos.
const NOT_MP4: [&[u8]; 5] = [b"mif1", b"msf1", b"mif2", b"miaf", b"qt  "];
/// Size and name of the box `tkhd` of a track of an MP4, in its two versions.
const TRACK_HEADS: [[u8; 8]; 2] = [*b"\0\0\0\x5ctkhd", *b"\0\0\0\x68tkhd"];

/// Type and size of an output, or why it is none. `declared` is used if the file does not tell.
pub(crate) fn examine(
    file: &mut File,
    kind: OutputKind,
    declared: Option<(u32, u32)>,
) -> io::Result<Result<(Media, u32, u32), &'static str>> {
    let head = part(file, 0, 64)?;
    let media = detect(&head).filter(|media| match kind {
        OutputKind::Image => !matches!(media, Media::Mp4 | Media::Webm),
        OutputKind::Video => !matches!(media, Media::Png | Media::Jpeg),
    });
    let Some(media) = media else {
        return Ok(Err("an output is not of a type that is asked for"));
    };
    let size = dimensions(file, media)?.or(declared.and_then(nonzero));
    Ok(size.map(|(width, height)| (media, width, height)).ok_or("an output cannot be read"))
}

/// Whether the end of a picture is missing, as far as its format tells; also for an empty file.
pub(crate) fn is_cut(file: &mut File) -> io::Result<bool> {
    let (head, length) = (part(file, 0, 64)?, file.seek(SeekFrom::End(0))?);
    // Some programs append bytes, and decoders ignore them.
    let tail = part(file, length.saturating_sub(4096), 4096)?;
    let lacks = |end: &[u8]| memchr::memmem::find(&tail, end).is_none();
    Ok(match (detect(&head), &*head) {
        (Some(Media::Png), _) => lacks(b"IEND\xae\x42\x60\x82"),
        // In the data of a picture, 0xff is followed by 0 or a restart marker.
        (Some(Media::Jpeg), _) => lacks(b"\xff\xd9"),
        (Some(Media::Gif), _) => tail.iter().rev().find(|byte| **byte != 0) != Some(&b';'),
        (Some(Media::Webp), [_, _, _, _, a, b, c, d, ..]) => {
            length < 8 + u64::from(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        _ => length == 0,
    })
}

/// The type of a file that begins so; `None` if it is not a stored one.
fn detect(head: &[u8]) -> Option<Media> {
    let has = |text: &[u8]| head.windows(text.len()).any(|part| part == text);
    Some(match imagesize::image_type(head) {
        Ok(ImageType::Png) => Media::Png,
        Ok(ImageType::Jpeg) => Media::Jpeg,
        Ok(ImageType::Gif) => Media::Gif,
        Ok(ImageType::Webp) => Media::Webp,
        Ok(ImageType::Heif(Compression::Av1)) => Media::Avif,
        Ok(ImageType::Heif(Compression::Unknown)) if !NOT_MP4.contains(&head.get(8..12)?) => {
            Media::Mp4
        }
        Err(_) if head.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) && has(b"webm") => Media::Webm,
        _ => return None,
    })
}

/// Width and height in pixels as browsers show them, if they are found; both at least 1.
fn dimensions(file: &mut (impl Read + Seek), media: Media) -> io::Result<Option<(u32, u32)>> {
    let head = part(file, 0, OUTPUT_HEAD_BYTES_MAX)?;
    Ok(match media {
        Media::Mp4 => match track_size(&head) {
            Some(size) => Some(size),
            None => {
                let length = file.seek(SeekFrom::End(0))?;
                let end = length.saturating_sub(OUTPUT_HEAD_BYTES_MAX);
                track_size(&part(file, end, OUTPUT_HEAD_BYTES_MAX)?)
            }
        },
        // The elements `PixelWidth` and `PixelHeight` of a track.
        Media::Webm => (0..head.len()).find_map(|at| {
            let (width, rest) = number(0xb0, &head[at..])?;
            nonzero((width, number(0xba, rest)?.0))
        }),
        Media::Avif => {
            let mut head = Cursor::new(head);
            let size = ImageType::Heif(Compression::Av1).reader_size(&mut head).ok();
            let side = |side| u32::try_from(side).ok();
            size.and_then(|size| nonzero((side(size.width)?, side(size.height)?)))
        }
        Media::Png | Media::Jpeg | Media::Webp | Media::Gif => {
            let mut reader = ImageReader::new(Cursor::new(head)).with_guessed_format()?;
            reader.no_limits();
            let Ok(mut decoder) = reader.into_decoder() else { return Ok(None) };
            let (width, height) = decoder.dimensions();
            use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
            nonzero(match decoder.orientation() {
                Ok(Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH) => (height, width),
                _ => (width, height),
            })
        }
    })
}

fn nonzero(size: (u32, u32)) -> Option<(u32, u32)> {
    (size.0 > 0 && size.1 > 0).then_some(size)
}

/// Width and height of the first video track in a part of an MP4: fixed-point numbers at the end of
/// the box `tkhd`, which may be at the beginning or the end of a file. An audio track has 0.
fn track_size(part: &[u8]) -> Option<(u32, u32)> {
    let heads =
        part.windows(8).enumerate().filter(|(_, head)| TRACK_HEADS.iter().any(|h| h == head));
    heads.into_iter().find_map(|(at, head)| {
        let [w1, w2, _, _, h1, h2, _, _] =
            *part.get(at..at + usize::from(head[3]))?.last_chunk()?;
        nonzero((u16::from_be_bytes([w1, w2]).into(), u16::from_be_bytes([h1, h2]).into()))
    })
}

/// The number in the element `id` of WebM that `bytes` begin with, and what follows: programs write
/// the width of a track and then its height.
fn number(id: u8, bytes: &[u8]) -> Option<(u32, &[u8])> {
    let [first, length @ 0x81..=0x84, rest @ ..] = bytes else { return None };
    let (number, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
    let number = number.iter().fold(0, |value, byte| value << 8 | u32::from(*byte));
    (*first == id).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: &[u8], media: Media) -> Option<(u32, u32)> {
        dimensions(&mut Cursor::new(bytes), media).unwrap()
    }

    fn mp4_box(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let size = u32::try_from(content.len() + 8).unwrap();
        [&size.to_be_bytes(), name, content].concat()
    }

    fn element(id: &[u8], content: &[u8]) -> Vec<u8> {
        [id, &[0x80 | u8::try_from(content.len()).unwrap()], content].concat()
    }

    fn mp4() -> Vec<u8> {
        let track = |width: u16, height: u16| {
            let size = [width.to_be_bytes(), [0; 2], height.to_be_bytes(), [0; 2]].concat();
            mp4_box(b"trak", &mp4_box(b"tkhd", &[vec![0; 76], size].concat()))
        };
        let movie = mp4_box(b"moov", &[track(0, 0), track(1280, 720)].concat());
        // At the end of the file.
        let content = vec![1; OUTPUT_HEAD_BYTES_MAX as usize];
        [mp4_box(b"ftyp", b"isom0000"), mp4_box(b"mdat", &content), movie].concat()
    }

    fn webm() -> Vec<u8> {
        let video = element(&[0xe0], &[0xb0, 0x82, 0x02, 0x80, 0xba, 0x82, 0x01, 0x68]);
        let tracks = element(&[0x16, 0x54, 0xae, 0x6b], &element(&[0xae], &video));
        let segment = [element(&[0xec], &[0; 3]), tracks].concat();
        let head = element(&[0x1a, 0x45, 0xdf, 0xa3], &element(&[0x42, 0x82], b"webm"));
        [head, element(&[0x18, 0x53, 0x80, 0x67], &segment)].concat()
    }

    /// It has a small picture too, and may be rotated by quarters.
    fn avif(brand: &[u8], quarters: Option<u8>) -> Vec<u8> {
        let size_box = |width: u32, height: u32| {
            mp4_box(b"ispe", &[&[0; 4][..], &width.to_be_bytes(), &height.to_be_bytes()].concat())
        };
        let rotation = quarters.map(|quarters| mp4_box(b"irot", &[quarters])).unwrap_or_default();
        let properties = [size_box(64, 64), rotation, size_box(300, 200)].concat();
        let properties = mp4_box(b"iprp", &mp4_box(b"ipco", &properties));
        [mp4_box(b"ftyp", brand), mp4_box(b"meta", &[&[0; 4], &properties[..]].concat())].concat()
    }

    /// A picture of 96 by 64, to be turned so.
    fn photo(orientation: u8) -> Vec<u8> {
        let mut plain = Vec::new();
        let picture = image::RgbImage::new(96, 64);
        picture.write_to(&mut Cursor::new(&mut plain), image::ImageFormat::Jpeg).unwrap();
        // An EXIF segment with one entry, after the first two bytes of a JPEG.
        let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
        let exif = [b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01", &entry[..], &[0; 4]].concat();
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        [&plain[..2], &[0xff, 0xe1], &length, &exif, &plain[2..]].concat()
    }

    #[test]
    fn type_and_size_of_a_file_are_those_that_a_browser_shows() {
        let mut rows = vec![
            (mp4(), Media::Mp4, (1280, 720)),
            (webm(), Media::Webm, (640, 360)),
            (avif(b"avif\0\0\0\0", None), Media::Avif, (300, 200)),
            (avif(b"mif1\0\0\0\0mif1avif", Some(2)), Media::Avif, (300, 200)),
            (avif(b"avis\0\0\0\0", Some(3)), Media::Avif, (200, 300)),
        ];
        rows.extend((1..5).map(|turn| (photo(turn), Media::Jpeg, (96, 64))));
        rows.extend((5..9).map(|turn| (photo(turn), Media::Jpeg, (64, 96))));
        for (at, (file, media, expected)) in rows.into_iter().enumerate() {
            assert_eq!(detect(&file), Some(media), "{at}");
            assert_eq!(size(&file, media), Some(expected), "{at}: {media:?}");
        }
    }

    #[test]
    fn a_picture_without_its_end_is_cut() {
        use image::ImageFormat::{Gif, Jpeg, Png, WebP};
        for format in [Png, Jpeg, Gif, WebP] {
            let mut whole = Vec::new();
            let picture = image::RgbImage::new(96, 64);
            picture.write_to(&mut Cursor::new(&mut whole), format).unwrap();
            for (end, expected) in [(whole.len(), false), (whole.len() - 3, true), (0, true)] {
                let mut file = tempfile::tempfile().unwrap();
                std::io::Write::write_all(&mut file, &whole[..end]).unwrap();
                assert_eq!(is_cut(&mut file).unwrap(), expected, "{format:?} {end}");
                if !expected {
                    std::io::Write::write_all(&mut file, &[0; 16]).unwrap();
                    assert!(!is_cut(&mut file).unwrap(), "{format:?} with bytes behind it");
                }
            }
        }
    }

    #[test]
    fn other_files_are_not_stored() {
        for bytes in [
            &b""[..],
            b"<!doctype html>",
            b"{}",
            b"\x89PNG\r\n\x1a",
            b"\0\0\0\x1cftypheic",
            b"\0\0\0\x1cftypmif1\0\0\0\0mif1heic",
            b"\0\0\0\x14ftypqt  ",
            b"\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska",
            b"RIFF\0\0\0\0WAVE",
        ] {
            assert_eq!(detect(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn broken_files_have_no_size() {
        for bytes in [
            &mp4_box(b"ftyp", b"isom")[..],
            b"\0\0\0\0moov\0\0\0\x5ctkhd",
            b"\xb0\x84\xff\xff\xff\xff\xba\x84",
            b"\xb0\x82\x02\x80\xba\x81\0",
        ] {
            for media in [Media::Mp4, Media::Webm, Media::Png] {
                assert_eq!(size(bytes, media), None, "{media:?} {bytes:?}");
            }
        }
    }
}
