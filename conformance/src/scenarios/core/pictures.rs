//! Small pictures, one pixel each, that every program which knows their type
//! can read.

pub(crate) const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

pub(crate) fn of_all_types() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    TYPES.into_iter().zip([png([40, 120, 200]), jpeg(), WEBP.to_vec(), GIF.to_vec()])
}

/// The bytes of the smallest PNG that this module makes.
pub(crate) const PNG_BYTES: usize = 72;

/// A PNG of this colour; two of different colours are of the same size.
pub(crate) fn png(colour: [u8; 3]) -> Vec<u8> {
    png_with(colour, &[])
}

/// A PNG of this colour and size. Between [`PNG_BYTES`] and 12 more there is none.
pub(crate) fn png_of_size(colour: [u8; 3], bytes: usize) -> Vec<u8> {
    match bytes.checked_sub(PNG_BYTES + CHUNK_BYTES) {
        // A chunk of our own, which readers skip.
        Some(filling) => png_with(colour, &chunk(b"paDd", &vec![0; filling])),
        None => png(colour),
    }
}

/// Length, kind and sum of a chunk.
const CHUNK_BYTES: usize = 12;

fn png_with(colour: [u8; 3], more: &[u8]) -> Vec<u8> {
    // One pixel wide and high, eight bits for each of three colours.
    const HEADER: [u8; 13] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0];
    let [red, green, blue] = colour;
    let line = [0, red, green, blue];
    // A zlib stream of one block that is stored as it is.
    let mut data = vec![0x78, 0x01, 0x01, 4, 0, !4, !0];
    data.extend(line);
    data.extend(adler32(&line).to_be_bytes());
    let (header, data, end) = (chunk(b"IHDR", &HEADER), chunk(b"IDAT", &data), chunk(b"IEND", &[]));
    [b"\x89PNG\r\n\x1a\n", &header[..], &data, more, &end].concat()
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let content = [kind, data].concat();
    let sum = crc32fast::hash(&content);
    [&length.to_be_bytes()[..], &content, &sum.to_be_bytes()].concat()
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    for byte in bytes {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    (high << 16) | low
}

/// A grey pixel, with code tables of one code each.
fn jpeg() -> Vec<u8> {
    const QUANTIZATION: &[u8] = b"\xff\xd8\xff\xdb\x00\x43\x00";
    const FRAME: &[u8] = b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00";
    const FIRST: &[u8] = b"\xff\xc4\x00\x14\x00";
    const SECOND: &[u8] = b"\xff\xc4\x00\x14\x10";
    const CODES: &[u8] = b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    const SCAN: &[u8] = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f\xff\xd9";
    [QUANTIZATION, &[1; 64], FRAME, FIRST, CODES, SECOND, CODES, SCAN].concat()
}

const WEBP: &[u8] = b"RIFF\x1c\0\0\0WEBPVP8L\x10\0\0\0/\0\0\0\0\xcdU \"\x02\xc5+l\xa1\"\x01";

const GIF: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\x28\x78\xc8\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[cfg(test)]
mod tests {
    use super::{PNG_BYTES, of_all_types, png, png_of_size};

    #[test]
    fn a_png_has_the_size_that_was_asked_for_and_true_sums() {
        assert_eq!(png([1, 2, 3]).len(), PNG_BYTES);
        for bytes in [84, 85, 1000] {
            assert_eq!(png_of_size([1, 2, 3], bytes).len(), bytes);
        }
        // As a library for PNG wrote them.
        let written = png_of_size([40, 120, 200], 84);
        assert_eq!(written[29..33], [0x90, 0x77, 0x53, 0xde]);
        assert_eq!(written[52..60], [0x02, 0x34, 0x01, 0x69, 0x73, 0x1f, 0x6d, 0x1d]);
        assert_eq!(written[68..72], [0xdd, 0xa4, 0xf1, 0xd7]);
    }

    #[test]
    fn each_type_begins_as_files_of_that_type_do() {
        let starts: Vec<_> = of_all_types().map(|(_, bytes)| bytes[..3].to_vec()).collect();
        assert_eq!(starts, [*b"\x89PN", *b"\xff\xd8\xff", *b"RIF", *b"GIF"]);
    }
}
