//! Small pictures of stored ones. Each is made once, when it is first asked for, and stored beside
//! the original.
//!
//! Anybody can ask for one, and the original may be made to take much memory or time. So one is
//! made at a time, from a source and with memory of a bounded size. For a file that cannot be drawn
//! a plain picture is stored, so that it is not tried again.

use std::io::Cursor;
use std::net::IpAddr;
use std::sync::LazyLock;

use image::imageops::overlay;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, Limits, Rgba, RgbaImage,
};
use tokio::task::spawn_blocking;

use super::{BlobError, Blobs};
use crate::domain::{AssetName, Media};
use crate::limits::product::{
    THUMBNAIL_MEMORY_MAX, THUMBNAIL_PIXELS, THUMBNAIL_SOURCE_BYTES_MAX, THUMBNAIL_WAIT,
};
use crate::quota::{OverQuota, Quota};

/// The making of thumbnails, one at a time.
pub(crate) static THUMBNAILS: LazyLock<Quota> =
    LazyLock::new(|| Quota::new("thumbnails", "the making of thumbnails", 1, 1));

/// Where the original is transparent.
const GROUND: [u8; 4] = [255; 4];
/// In place of what cannot be drawn.
const PLAIN: [u8; 4] = [214, 211, 222, 255];

impl Blobs {
    /// The thumbnail of a stored picture, which is made if there is none. `None` if there is no such
    /// picture, or its type is not one that is drawn.
    pub(crate) async fn thumbnail<E: From<OverQuota> + From<BlobError>>(
        &self,
        name: &AssetName,
        client: IpAddr,
    ) -> Result<Option<AssetName>, E> {
        if matches!(name.media(), Media::Avif | Media::Mp4 | Media::Webm) {
            return Ok(None);
        }
        let small = name.thumbnail();
        if self.size_of(&small).await?.is_some() {
            return Ok(Some(small));
        }
        let _permit = THUMBNAILS.acquire(client, 1, THUMBNAIL_WAIT).await?;
        let source = self.read_all(name, THUMBNAIL_SOURCE_BYTES_MAX).await?;
        let Some(source) = source else { return Ok(None) };
        // A decoder that panics has not drawn anything either.
        let drawn = spawn_blocking(move || draw(&source).and_then(jpeg)).await.ok();
        let plain = || jpeg(RgbaImage::from_pixel(4, 3, Rgba(PLAIN)));
        let file = drawn.and_then(Result::ok).or_else(|| plain().ok()).unwrap_or_default();
        // Another request may have stored it meanwhile.
        let _is_new = self.put_new(&small, file.into()).await?;
        Ok(Some(small))
    }
}

/// A picture of at most [`THUMBNAIL_PIXELS`] on each side, turned as the original is shown. Of an
/// animation it is the first picture.
fn draw(source: &[u8]) -> ImageResult<RgbaImage> {
    let mut reader = ImageReader::new(Cursor::new(source)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(THUMBNAIL_MEMORY_MAX);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    // Not all decoders check that.
    limits.reserve(decoder.total_bytes())?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    if picture.width().max(picture.height()) > THUMBNAIL_PIXELS {
        picture = picture.thumbnail(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS);
    }
    picture.apply_orientation(orientation);
    let mut flat = RgbaImage::from_pixel(picture.width(), picture.height(), Rgba(GROUND));
    overlay(&mut flat, &picture.into_rgba8(), 0, 0);
    Ok(flat)
}

fn jpeg(picture: RgbaImage) -> ImageResult<Vec<u8>> {
    let mut file = Cursor::new(Vec::new());
    DynamicImage::from(picture).into_rgb8().write_to(&mut file, ImageFormat::Jpeg)?;
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use image::ImageFormat;

    use super::*;
    use crate::store::Cause;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    async fn stored(blobs: &Blobs, media: Media, file: Vec<u8>) -> AssetName {
        let name = AssetName::random(media);
        assert!(blobs.put_new(&name, file.into()).await.unwrap());
        name
    }

    fn file(width: u32, height: u32, colour: [u8; 4], format: ImageFormat) -> Vec<u8> {
        let picture = RgbaImage::from_pixel(width, height, Rgba(colour));
        if format == ImageFormat::Jpeg {
            return jpeg(picture).unwrap();
        }
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    async fn thumbnail(blobs: &Blobs, name: &AssetName) -> RgbaImage {
        let small = blobs.thumbnail::<Cause>(name, CLIENT).await.unwrap().unwrap();
        let bytes = blobs.read_all(&small, u64::MAX).await.unwrap().unwrap();
        assert_eq!(image::guess_format(&bytes).unwrap(), ImageFormat::Jpeg);
        image::load_from_memory(&bytes).unwrap().into_rgba8()
    }

    #[tokio::test]
    async fn each_type_of_picture_gets_one_that_fits_on_white_ground() {
        let blobs = Blobs::in_memory();
        let (red, size) = ([200, 0, 0, 255], (THUMBNAIL_PIXELS, THUMBNAIL_PIXELS / 2));
        for (media, picture, size, colour) in [
            (Media::Png, file(1200, 600, red, ImageFormat::Png), size, red),
            (Media::Jpeg, file(1200, 600, red, ImageFormat::Jpeg), size, red),
            (Media::Webp, file(1200, 600, red, ImageFormat::WebP), size, red),
            (Media::Gif, file(1200, 600, red, ImageFormat::Gif), size, red),
            (Media::Png, file(3, 2, [0; 4], ImageFormat::Png), (3, 2), [255; 4]),
        ] {
            let name = stored(&blobs, media, picture).await;
            let small = thumbnail(&blobs, &name).await;
            assert_eq!(small.dimensions(), size, "{media:?}");
            let at = small.get_pixel(1, 1).0;
            assert!(at.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 20), "{media:?} {at:?}");
        }
    }

    #[tokio::test]
    async fn it_is_made_once_and_has_no_name_of_an_asset() {
        let blobs = Blobs::in_memory();
        let of = async |name| blobs.thumbnail::<Cause>(&name, CLIENT).await.unwrap();
        let picture = file(9, 9, [1, 2, 3, 255], ImageFormat::Png);
        let name = stored(&blobs, Media::Png, picture).await;
        let small = of(name).await.unwrap();
        assert_eq!(of(name).await, Some(small));
        assert!(small.path().starts_with("thumbnails/"));
        // Otherwise thumbnails of thumbnails could fill the store.
        let as_asset = AssetName::parse(&small.to_string()).unwrap();
        assert_eq!(blobs.size_of(&as_asset).await.unwrap(), None);
        assert_eq!(of(as_asset).await, Some(small));
        for media in [Media::Mp4, Media::Webm, Media::Avif] {
            assert_eq!(of(stored(&blobs, media, b"video".to_vec()).await).await, None);
        }
        assert_eq!(of(AssetName::random(Media::Png)).await, None);
    }

    /// The head of a PNG of this size, and the beginning of its pixels.
    fn bomb(width: u32, height: u32) -> Vec<u8> {
        let mut file = file(1, 1, [0; 4], ImageFormat::Png);
        file[16..20].copy_from_slice(&width.to_be_bytes());
        file[20..24].copy_from_slice(&height.to_be_bytes());
        let mut crc = flate2::Crc::new();
        crc.update(&file[12..29]);
        file[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        file
    }

    #[tokio::test]
    async fn a_decompression_bomb_and_a_broken_file_become_a_plain_picture() {
        let blobs = Blobs::in_memory();
        for (what, file) in [
            ("a bomb", bomb(60_000, 60_000)),
            ("a wide bomb", bomb(u32::MAX >> 1, 1)),
            ("a small bomb", bomb(8_000, 8_000)),
            ("the head of a PNG", b"\x89PNG\r\n\x1a\n".to_vec()),
            ("text", b"not a picture".to_vec()),
            ("a large file", vec![0; THUMBNAIL_SOURCE_BYTES_MAX as usize + 1]),
        ] {
            let began = std::time::Instant::now();
            assert!(draw(&file).is_err(), "{what}");
            assert!(began.elapsed() < Duration::from_secs(2), "{what}");
            let name = stored(&blobs, Media::Png, file).await;
            assert_eq!(thumbnail(&blobs, &name).await.dimensions(), (4, 3), "{what}");
        }
    }
}
