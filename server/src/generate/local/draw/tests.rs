use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::{AnimationDecoder, ImageFormat, RgbImage};

use super::super::chance::varied;
use super::super::size::size;
use super::*;

/// One prompt for each motif.
const PROMPTS: [&str; 12] = [
    "silk",
    "paper",
    "bubbles",
    "a rose",
    "mountains",
    "a forest",
    "the ocean",
    "portrait",
    "city",
    "a galaxy",
    "a cat",
    "a fox",
];

fn drawing(prompt: &str) -> Drawing {
    Drawing {
        prompt: prompt.into(),
        kind: OutputKind::Image,
        size: (160, 120),
        count: 1,
        seed: prompt.bytes().fold(7, |seed, byte| varied(seed, byte.into())),
        bases: Vec::new(),
    }
}

fn decoded(output: &Output) -> RgbImage {
    image::load_from_memory(&output.bytes).unwrap().into_rgb8()
}

/// The mean difference of two pictures of one size, from 0 to 255.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.len() as f64
}

#[test]
fn the_same_drawing_gives_the_same_bytes() {
    for prompt in PROMPTS {
        let draw = || drawing(prompt).draw().unwrap();
        assert!(draw() == draw(), "{prompt}");
    }
    let film = || Drawing { kind: OutputKind::Video, ..drawing("a forest") }.draw().unwrap();
    assert!(film() == film());
}

#[test]
fn different_prompts_give_different_pictures() {
    let prompts = PROMPTS.into_iter().chain(["lorem ipsum", "hello, world", "Ein Gedicht"]);
    let pictures: Vec<_> =
        prompts.map(|prompt| (prompt, decoded(&drawing(prompt).draw().unwrap()[0]))).collect();
    for (at, (one, a)) in pictures.iter().enumerate() {
        for (other, b) in &pictures[at + 1..] {
            let difference = difference(a, b);
            assert!(difference > 12.0, "{one} and {other} differ by {difference}");
        }
    }
}

#[test]
fn a_picture_is_a_png_of_the_size_that_is_said() {
    for (ratio, kind) in [("1:1", OutputKind::Image), ("4:1", OutputKind::Image)] {
        let size = size(ratio, kind).unwrap();
        let outputs = Drawing { size, ..drawing("the ocean") }.draw().unwrap();
        assert_eq!(outputs[0].media, Media::Png);
        assert_eq!(image::guess_format(&outputs[0].bytes).unwrap(), ImageFormat::Png);
        assert_eq!((outputs[0].width, outputs[0].height), size);
        assert_eq!(decoded(&outputs[0]).dimensions(), size);
    }
}

#[test]
fn every_motif_fills_every_size_at_every_moment() {
    for prompt in PROMPTS {
        for (at, size) in [(640, 160), (160, 640), (33, 57), (4, 1)].into_iter().enumerate() {
            let phase = at as f32 / 3.5;
            let canvas = Scene::new(prompt, 3, at as u64).paint(size.0, size.1, phase);
            assert_eq!(canvas.pixels.len(), (size.0 * size.1) as usize, "{prompt}");
        }
    }
}

#[test]
fn a_batch_is_of_variations() {
    for prompt in PROMPTS {
        let outputs = Drawing { count: 4, ..drawing(prompt) }.draw().unwrap();
        let pictures: Vec<_> = outputs.iter().map(decoded).collect();
        assert_eq!(pictures.len(), 4);
        for at in 0..4 {
            for other in at + 1..4 {
                let difference = difference(&pictures[at], &pictures[other]);
                assert!(difference > 2.0, "{prompt}: {at} and {other} differ by {difference}");
            }
        }
    }
}

#[test]
fn another_seed_gives_another_picture() {
    let with = |seed| decoded(&Drawing { seed, ..drawing("a rose") }.draw().unwrap()[0]);
    assert!(difference(&with(1), &with(2)) > 2.0);
}

#[test]
fn a_base_stays_to_be_seen_in_other_colours() {
    let plain = decoded(&drawing("neon").draw().unwrap()[0]);
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let base = RgbImage::from_fn(96, 72, |x, _| image::Rgb([if x < 48 { 20 } else { 235 }; 3]));
        let mut file = Cursor::new(Vec::new());
        base.write_to(&mut file, format).unwrap();
        let bases = vec![file.into_inner().into()];
        let picture = decoded(&Drawing { bases, ..drawing("neon") }.draw().unwrap()[0]);
        assert!(difference(&plain, &picture) > 10.0, "{format:?}");
        let mean = |from: u32, to: u32| {
            let columns = (from..to).flat_map(|x| (0..120).map(move |y| (x, y)));
            let sum: u64 =
                columns.flat_map(|(x, y)| picture.get_pixel(x, y).0).map(u64::from).sum();
            sum / u64::from((to - from) * 120 * 3)
        };
        assert!(mean(0, 70) + 60 < mean(90, 160), "{format:?}: {} {}", mean(0, 70), mean(90, 160));
        let grey = picture.pixels().all(|pixel| pixel.0[0] == pixel.0[1]);
        assert!(!grey, "{format:?}");
    }
}

#[test]
fn several_bases_stand_side_by_side() {
    let plain = |value: u8| {
        let mut file = Cursor::new(Vec::new());
        RgbImage::from_pixel(8, 8, image::Rgb([value; 3]))
            .write_to(&mut file, ImageFormat::Png)
            .unwrap();
        Bytes::from(file.into_inner())
    };
    let bases = vec![plain(0), plain(255), plain(0)];
    let picture = decoded(&Drawing { bases, ..drawing("silk") }.draw().unwrap()[0]);
    let row: Vec<_> = [20, 80, 140].map(|x| picture.get_pixel(x, 60).0[1]).into();
    assert!(row[1] > row[0] && row[1] > row[2], "{row:?}");
}

#[test]
fn what_is_no_picture_cannot_be_a_base() {
    for bytes in [&b"no picture"[..], b"", b"\x89PNG\r\n\x1a\n", b"GIF89a"] {
        let drawing = Drawing { bases: vec![bytes.into()], ..drawing("silk") };
        let reason = drawing.draw().unwrap_err();
        assert!(reason.starts_with("an input image cannot be read: "), "{reason}");
    }
}

#[test]
fn a_picture_that_is_too_large_is_not_read() {
    // A header that promises 65535 by 65535 pixels.
    let mut file = Cursor::new(Vec::new());
    RgbImage::new(1, 1).write_to(&mut file, ImageFormat::Gif).unwrap();
    let mut bytes = file.into_inner();
    bytes[6..10].fill(0xff);
    let reason = Drawing { bases: vec![bytes.into()], ..drawing("silk") }.draw().unwrap_err();
    assert!(reason.starts_with("an input image cannot be read: "), "{reason}");
}

#[test]
fn a_video_moves_and_ends_where_it_begins() {
    for prompt in PROMPTS {
        let drawing = Drawing { kind: OutputKind::Video, size: (96, 72), ..drawing(prompt) };
        let output = &drawing.draw().unwrap()[0];
        assert_eq!((output.media, output.width, output.height), (Media::Gif, 96, 72));
        let frames: Vec<_> = GifDecoder::new(Cursor::new(&output.bytes[..]))
            .unwrap()
            .into_frames()
            .map(|frame| frame.unwrap().into_buffer())
            .collect();
        assert_eq!(frames.len(), usize::from(FRAMES));
        assert!(frames.iter().all(|frame| frame.dimensions() == (96, 72)));
        let steps: Vec<_> = (0..frames.len())
            .map(|at| difference(&frames[at], &frames[(at + 1) % frames.len()]))
            .collect();
        let (last, inner) = steps.split_last().unwrap();
        let widest = inner.iter().copied().fold(0.0, f64::max);
        assert!(widest > 0.0, "{prompt} stands still");
        assert!(*last <= widest * 1.5 + 0.1, "{prompt} jumps: {steps:?}");
    }
}

#[test]
fn a_video_repeats_for_ever() {
    let film = Drawing { kind: OutputKind::Video, size: (32, 32), ..drawing("silk") };
    let bytes = &film.draw().unwrap()[0].bytes;
    let repeats = b"NETSCAPE2.0\x03\x01\x00\x00\x00";
    assert!(bytes.windows(repeats.len()).any(|window| window == repeats));
}
