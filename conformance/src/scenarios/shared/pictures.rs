//! Pictures of one pixel, in each of the types that an upload may have.

pub const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

pub fn of_all_types() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let jpeg = include_bytes!("pictures/pixel.jpg").to_vec();
    let webp = include_bytes!("pictures/pixel.webp").to_vec();
    let gif = include_bytes!("pictures/pixel.gif").to_vec();
    TYPES.into_iter().zip([png([40, 120, 200]), jpeg, webp, gif])
}

/// Bytes of the smallest PNG that this module makes.
pub const PNG_BYTES: usize = 82;
/// Bytes of the length, kind and checksum of a chunk.
const CHUNK_BYTES: usize = 12;

/// A PNG of this colour; two of different colours have the same size.
pub fn png(colour: [u8; 3]) -> Vec<u8> {
    png_of_size(colour, PNG_BYTES)
}

/// A PNG of this colour and size. A size less than [`CHUNK_BYTES`] above [`PNG_BYTES`] is not
/// possible and gives the smallest one.
pub fn png_of_size(colour: [u8; 3], bytes: usize) -> Vec<u8> {
    // Width and height of 1; one bit per pixel, which is an index into the palette.
    const HEADER: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 1, 1, 3, 0, 0, 0];
    // The index 0, compressed with zlib.
    const PIXEL: &[u8] = b"\x78\x9c\x63\x60\0\0\0\x02\0\x01";
    // A private chunk, which decoders ignore.
    let filling = bytes.checked_sub(PNG_BYTES + CHUNK_BYTES);
    let filling = filling.map_or_else(Vec::new, |bytes| chunk(b"paDd", &vec![0; bytes]));
    let [header, palette] = [chunk(b"IHDR", HEADER), chunk(b"PLTE", &colour)];
    let [pixel, end] = [chunk(b"IDAT", PIXEL), chunk(b"IEND", &[])];
    [b"\x89PNG\r\n\x1a\n", &header[..], &palette, &filling, &pixel, &end].concat()
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let content = [kind, data].concat();
    [&length.to_be_bytes()[..], &content, &crc32fast::hash(&content).to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::{PNG_BYTES, png, png_of_size};

    #[test]
    fn a_png_has_the_requested_size_and_correct_checksums() {
        assert_eq!(png([1, 2, 3]).len(), PNG_BYTES);
        for bytes in [94, 95, 1000] {
            assert_eq!(png_of_size([1, 2, 3], bytes).len(), bytes);
        }
        // As zlib computes them.
        let written = png([40, 120, 200]);
        assert_eq!(written[44..48], [0xe3, 0x7d, 0x93, 0xfe]);
        assert_eq!(written[66..70], [0x48, 0xaf, 0xa4, 0x71]);
    }
}
