//! Checks of downloaded outputs. Their bytes decide what they are and how large their image is.

use std::io::{self, Cursor, Read};

use image::metadata::Orientation;
use image::{ImageDecoder, ImageReader};
use imagesize::{Compression, ImageType};

use crate::blobs::ReadSeek;
use crate::domain::{Media, OutputKind};
use crate::limits::OUTPUT_HEAD_BYTES_MAX;

/// Boxes of MP4: `moov`, `trak`, `tkhd`, which are the movie, a track, its header.
const MOVIE: u32 = 0x6d6f_6f76;
const TO_HEADER: [u32; 2] = [0x7472_616b, 0x746b_6864];
/// Elements of WebM: segment, tracks, a track, its video.
const TO_VIDEO: [u32; 4] = [0x1853_8067, 0x1654_ae6b, 0xae, 0xe0];
const PIXEL_WIDTH: u32 = 0xb0;
const PIXEL_HEIGHT: u32 = 0xba;
/// Boxes of an MP4 before its movie. A hostile file consists of empty ones.
const BOXES_MAX: usize = 10_000;

type File<'a> = &'a mut dyn ReadSeek;

/// Type, width and height of an output, or for the caller why it is none. `declared` is the size
/// that the provider gives, used if the file does not tell.
pub(crate) fn examine(
    file: File<'_>,
    kind: OutputKind,
    declared: Option<(u32, u32)>,
) -> io::Result<Result<(Media, u32, u32), &'static str>> {
    let mut head = Vec::new();
    file.rewind()?;
    file.take(64).read_to_end(&mut head)?;
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

/// The type of a file that begins so; `None` if it is not a stored one.
fn detect(head: &[u8]) -> Option<Media> {
    // AVIF and HEIF images and QuickTime videos have the same container as MP4.
    let is_video = |brand: &[u8]| !matches!(brand, b"mif1" | b"msf1" | b"mif2" | b"miaf" | b"qt  ");
    match imagesize::image_type(head) {
        Ok(ImageType::Png) => Some(Media::Png),
        Ok(ImageType::Jpeg) => Some(Media::Jpeg),
        Ok(ImageType::Gif) => Some(Media::Gif),
        Ok(ImageType::Webp) => Some(Media::Webp),
        Ok(ImageType::Heif(Compression::Av1)) => Some(Media::Avif),
        Ok(ImageType::Heif(Compression::Unknown)) => {
            head.get(8..12).is_some_and(is_video).then_some(Media::Mp4)
        }
        Err(_) if head.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) => {
            head.windows(4).any(|word| word == b"webm").then_some(Media::Webm)
        }
        _ => None,
    }
}

/// Width and height in pixels as browsers show them, if they are found; both at least 1.
fn dimensions(file: File<'_>, media: Media) -> io::Result<Option<(u32, u32)>> {
    file.rewind()?;
    if media == Media::Mp4 {
        return Ok(find(&movie(file)?, &TO_HEADER, split_box, &end_of_header));
    }
    // The libraries read all there is.
    let mut head = Vec::new();
    file.take(OUTPUT_HEAD_BYTES_MAX).read_to_end(&mut head)?;
    let mut head = Cursor::new(head);
    Ok(match media {
        Media::Mp4 | Media::Webm => find(head.get_ref(), &TO_VIDEO, split_element, &|video| {
            let side = |id| find(video, &[id], split_element, &pixels);
            side(PIXEL_WIDTH).zip(side(PIXEL_HEIGHT)).and_then(nonzero)
        }),
        Media::Avif => {
            let size = ImageType::Heif(Compression::Av1).reader_size(&mut head).ok();
            let side = |side| u32::try_from(side).ok();
            size.and_then(|size| nonzero((side(size.width)?, side(size.height)?)))
        }
        Media::Png | Media::Jpeg | Media::Webp | Media::Gif => {
            let mut reader = ImageReader::new(head).with_guessed_format()?;
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

/// The content of the movie of an MP4, which may be at its end; of a long one the beginning.
fn movie(file: File<'_>) -> io::Result<Vec<u8>> {
    let mut movie = Vec::new();
    for _ in 0..BOXES_MAX {
        let mut head = Vec::new();
        file.take(16).read_to_end(&mut head)?;
        let Some((id, size, rest)) = box_head(&head) else { break };
        file.seek_relative(-(rest.len() as i64))?;
        if id == MOVIE {
            file.take(size.min(OUTPUT_HEAD_BYTES_MAX)).read_to_end(&mut movie)?;
            break;
        }
        let Ok(size) = i64::try_from(size) else { break };
        file.seek_relative(size)?;
    }
    Ok(movie)
}

/// The id of the first part, its content, and the parts behind it.
type Split = fn(&[u8]) -> Option<(u32, &[u8], &[u8])>;

/// Follows `path` through nested parts to the first one in which `read` finds something.
fn find<T>(
    mut parts: &[u8],
    path: &[u32],
    split: Split,
    read: &dyn Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let [next, path @ ..] = path else { return read(parts) };
    while let Some((id, content, rest)) = split(parts) {
        parts = rest;
        let found = if id == *next { find(content, path, split, read) } else { None };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The id of a box of MP4, the size of its content, and what is behind its head. A size of 0
/// reaches to the end, and after 1 a long size follows.
fn box_head(bytes: &[u8]) -> Option<(u32, u64, &[u8])> {
    let ([s1, s2, s3, s4, id @ ..], rest) = bytes.split_first_chunk::<8>()?;
    let id = u32::from_be_bytes(*id);
    match u32::from_be_bytes([*s1, *s2, *s3, *s4]) {
        0 => Some((id, u64::MAX, rest)),
        1 => {
            let (long, rest) = rest.split_first_chunk()?;
            Some((id, u64::from_be_bytes(*long).checked_sub(16)?, rest))
        }
        size => Some((id, u64::from(size).checked_sub(8)?, rest)),
    }
}

fn split_box(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (id, size, rest) = box_head(bytes)?;
    let (content, rest) = split(rest, size);
    Some((id, content, rest))
}

/// After so many bytes, or where there are no more.
fn split(bytes: &[u8], size: u64) -> (&[u8], &[u8]) {
    bytes.split_at(usize::try_from(size).unwrap_or(usize::MAX).min(bytes.len()))
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
    let (content, rest) = split(rest, known.unwrap_or(u64::MAX));
    Some((u32::try_from(number(id)).ok()?, content, rest))
}

fn pixels(content: &[u8]) -> Option<u32> {
    (content.len() <= 8).then(|| u32::try_from(number(content)).ok())?
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
        assert_eq!(size(&file, Media::Mp4), Some((1280, 720)));
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
        assert_eq!(size(&file, Media::Webm), Some((640, 360)));
    }

    #[test]
    fn the_size_of_an_avif_is_that_of_its_largest_part_as_it_is_shown() {
        let size_box = |width: u32, height: u32| {
            mp4_box(b"ispe", &[&[0; 4][..], &width.to_be_bytes(), &height.to_be_bytes()].concat())
        };
        let file = |brand: &[u8], rotation: &[u8]| {
            let properties = [size_box(64, 64), rotation.to_vec(), size_box(300, 200)].concat();
            let properties = mp4_box(b"iprp", &mp4_box(b"ipco", &properties));
            [mp4_box(b"ftyp", brand), mp4_box(b"meta", &[&[0; 4], &properties[..]].concat())]
                .concat()
        };
        for (brand, quarters, expected) in [
            (&b"avif\0\0\0\0"[..], None, (300, 200)),
            (b"mif1\0\0\0\0mif1avif", Some(2), (300, 200)),
            (b"avis\0\0\0\0", Some(3), (200, 300)),
        ] {
            let rotation = quarters.map(|quarters| mp4_box(b"irot", &[quarters]));
            let file = file(brand, &rotation.unwrap_or_default());
            assert_eq!(detect(&file), Some(Media::Avif));
            assert_eq!(size(&file, Media::Avif), Some(expected), "{quarters:?}");
        }
    }

    #[test]
    fn a_photo_that_is_turned_by_its_orientation_has_the_size_that_is_shown() {
        let mut plain = Vec::new();
        let picture = image::RgbImage::new(96, 64);
        picture.write_to(&mut Cursor::new(&mut plain), image::ImageFormat::Jpeg).unwrap();
        for orientation in 1..=8 {
            // An EXIF segment with one entry, after the first two bytes of a JPEG.
            let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
            let exif = [b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01", &entry[..], &[0; 4]].concat();
            let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
            let file = [&plain[..2], &[0xff, 0xe1], &length, &exif, &plain[2..]].concat();
            let expected = if orientation >= 5 { (64, 96) } else { (96, 64) };
            assert_eq!(size(&file, Media::Jpeg), Some(expected), "{orientation}");
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
        let mp4 = mp4_box(b"ftyp", b"isom");
        let broken: [&[u8]; 5] = [
            &mp4,
            b"\0\0\0\x02moov",
            b"\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\0\0\0\0moov\0\0\0\0trak\0\0\0\0tkhd",
            b"\xff\xff\xff\xffmoov",
        ];
        for bytes in broken {
            assert_eq!(size(bytes, Media::Mp4), None, "{bytes:?}");
            assert_eq!(size(bytes, Media::Webm), None, "{bytes:?}");
            assert_eq!(size(bytes, Media::Png), None, "{bytes:?}");
        }
    }
}
