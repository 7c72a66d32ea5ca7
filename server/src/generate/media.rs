//! Checks of downloaded outputs. Their bytes decide what they are and how large their image is.

use std::io::{self, Cursor, Read, SeekFrom};
use std::ops::Range;

use image::metadata::Orientation;
use image::{ImageDecoder, ImageReader};
use imagesize::{Compression, ImageType};

use crate::blobs::ReadSeek;
use crate::domain::{Media, OutputKind};
use crate::limits::OUTPUT_HEAD_BYTES_MAX;

/// Boxes of MP4: `moov`, `trak`, `tkhd`, which are the movie, a track, its header.
const TO_HEADER: [u32; 3] = [0x6d6f_6f76, 0x7472_616b, 0x746b_6864];
/// Elements of WebM: segment, tracks, a track, its video.
const TO_VIDEO: [u32; 4] = [0x1853_8067, 0x1654_ae6b, 0xae, 0xe0];
const PIXEL_WIDTH: u32 = 0xb0;
const PIXEL_HEIGHT: u32 = 0xba;
/// Parts of a video that are looked at. A hostile file consists of empty ones.
const PARTS_MAX: usize = 10_000;

type File<'a> = &'a mut dyn ReadSeek;

/// Type, width and height of an output, or for the caller why it is none. `declared` is the size
/// that the provider gives, used if the file does not tell.
pub(super) fn examine(
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
    let whole = 0..file.seek(SeekFrom::End(0))?;
    let mut parts = Parts { file, left: PARTS_MAX };
    match media {
        Media::Mp4 => parts.find(whole, &TO_HEADER, split_box, &end_of_header),
        Media::Webm => parts.find(whole, &TO_VIDEO, split_element, &|parts, video| {
            let mut side = |id| parts.find(video.clone(), &[id], split_element, &pixels);
            Ok(side(PIXEL_WIDTH)?.zip(side(PIXEL_HEIGHT)?).and_then(nonzero))
        }),
        Media::Avif => {
            let size = ImageType::Heif(Compression::Av1).reader_size(&mut parts.head()?).ok();
            let side = |side| u32::try_from(side).ok();
            Ok(size.and_then(|size| nonzero((side(size.width)?, side(size.height)?))))
        }
        Media::Png | Media::Jpeg | Media::Webp | Media::Gif => {
            let mut reader = ImageReader::new(parts.head()?).with_guessed_format()?;
            reader.no_limits();
            let Ok(mut decoder) = reader.into_decoder() else { return Ok(None) };
            let (width, height) = decoder.dimensions();
            use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
            Ok(nonzero(match decoder.orientation() {
                Ok(Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH) => (height, width),
                _ => (width, height),
            }))
        }
    }
}

fn nonzero(size: (u32, u32)) -> Option<(u32, u32)> {
    (size.0 > 0 && size.1 > 0).then_some(size)
}

/// A container file, and how many more of its parts are looked at.
struct Parts<'a> {
    file: File<'a>,
    left: usize,
}

/// The id of a part and the place of its content.
type Part = (u32, Range<u64>);

/// Reads the head of the part at the beginning of a range.
type Split = fn(&mut Parts<'_>, Range<u64>) -> io::Result<Option<Part>>;

/// Reads something in the content of a part.
type ReadPart<'r, T> = &'r dyn Fn(&mut Parts<'_>, Range<u64>) -> io::Result<Option<T>>;

impl Parts<'_> {
    /// The beginning of the file: the libraries read all there is.
    fn head(&mut self) -> io::Result<Cursor<Vec<u8>>> {
        let mut head = Vec::new();
        self.file.rewind()?;
        self.file.take(OUTPUT_HEAD_BYTES_MAX).read_to_end(&mut head)?;
        Ok(Cursor::new(head))
    }

    /// Follows `path` through nested parts to the first one in which `read` finds something.
    fn find<T>(
        &mut self,
        mut range: Range<u64>,
        path: &[u32],
        split: Split,
        read: ReadPart<'_, T>,
    ) -> io::Result<Option<T>> {
        let [next, path @ ..] = path else { return read(self, range) };
        while self.left > 0
            && let Some((id, content)) = split(self, range.clone())?
        {
            self.left -= 1;
            range.start = content.end;
            let found = if id == *next { self.find(content, path, split, read)? } else { None };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first `N` bytes of a range; fewer if it is shorter.
    fn bytes<const N: usize>(&mut self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(N);
        self.file.seek(SeekFrom::Start(range.start))?;
        let length = range.end.saturating_sub(range.start).min(N as u64);
        (&mut *self.file).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// A range of this length after `head` bytes, or up to the end.
fn content(range: &Range<u64>, head: u64, length: u64) -> Range<u64> {
    let start = range.start.saturating_add(head).min(range.end);
    start..start.saturating_add(length).min(range.end)
}

/// A box of MP4. A size of 0 reaches to the end, and after 1 a long size follows.
fn split_box(parts: &mut Parts<'_>, range: Range<u64>) -> io::Result<Option<Part>> {
    let bytes = parts.bytes::<16>(&range)?;
    let Some((head, long)) = bytes.split_first_chunk::<8>() else { return Ok(None) };
    let [s1, s2, s3, s4, id @ ..] = *head;
    let place = match u32::from_be_bytes([s1, s2, s3, s4]) {
        0 => Some((8, u64::MAX)),
        1 => long
            .first_chunk()
            .and_then(|long| Some((16, u64::from_be_bytes(*long).checked_sub(16)?))),
        size => u64::from(size).checked_sub(8).map(|size| (8, size)),
    };
    Ok(place.map(|(head, length)| (u32::from_be_bytes(id), content(&range, head, length))))
}

/// Width and height come last, as fixed-point numbers; an audio track has 0.
fn end_of_header(parts: &mut Parts<'_>, header: Range<u64>) -> io::Result<Option<(u32, u32)>> {
    let start = header.end.saturating_sub(8).max(header.start);
    let bytes = parts.bytes::<8>(&(start..header.end))?;
    let Some([w1, w2, _, _, h1, h2, _, _]) = bytes.first_chunk() else { return Ok(None) };
    Ok(nonzero((u16::from_be_bytes([*w1, *w2]).into(), u16::from_be_bytes([*h1, *h2]).into())))
}

/// An element of WebM. Its id is with a length marker, its size without.
fn split_element(parts: &mut Parts<'_>, range: Range<u64>) -> io::Result<Option<Part>> {
    let bytes = parts.bytes::<16>(&range)?;
    Ok(split_integer(&bytes).and_then(|(id, rest)| {
        let (size, rest) = split_integer(rest)?;
        let mask = (1 << (7 * size.len())) - 1;
        // All ones stand for an unknown size.
        let known = Some(number(size) & mask).filter(|size| *size != mask);
        let head = (bytes.len() - rest.len()) as u64;
        let content = content(&range, head, known.unwrap_or(u64::MAX));
        Some((u32::try_from(number(id)).ok()?, content))
    }))
}

fn pixels(parts: &mut Parts<'_>, range: Range<u64>) -> io::Result<Option<u32>> {
    Ok(u32::try_from(number(&parts.bytes::<8>(&range)?)).ok())
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
