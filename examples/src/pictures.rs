//! Images of the examples: one to upload, and a folder for those that are generated.

use std::error::Error;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{ImageFormat, Rgb, RgbImage};
use promptarium::{Client, PromptImage};

/// The image model: `PROMPTARIUM_IMAGE_MODEL`, or that of the reference server.
pub fn image_model() -> String {
    std::env::var("PROMPTARIUM_IMAGE_MODEL").unwrap_or_else(|_| "local/plasma".to_owned())
}

/// An image of a low sun, as PNG.
///
/// # Errors
/// If the image cannot be encoded.
pub fn small_png() -> Result<Vec<u8>, Box<dyn Error>> {
    const TOP: [f32; 3] = [38.0, 44.0, 92.0];
    const BOTTOM: [f32; 3] = [226.0, 124.0, 92.0];
    const SUN: [f32; 3] = [255.0, 226.0, 160.0];
    let (width, height) = (640, 360);
    let picture = RgbImage::from_fn(width, height, |x, y| {
        let low = y as f32 / height as f32;
        let distance = (x as f32 - 440.0).hypot(y as f32 - 120.0);
        let light = (-distance / 110.0).exp();
        Rgb(std::array::from_fn(|at| {
            let sky = TOP[at] + (BOTTOM[at] - TOP[at]) * low * low;
            (sky + (SUN[at] - sky) * light) as u8
        }))
    });
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// The folder for the images of an example, created if needed: in Cargo's target directory if the
/// program is there, else in the temporary directory.
///
/// # Errors
/// If it cannot be created.
pub fn folder(example: &str) -> std::io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let built = program.parent().filter(|folder| folder.ends_with("examples"));
    let target = built.and_then(|folder| folder.ancestors().nth(2)).map(Path::to_owned);
    let folder = target.unwrap_or_else(std::env::temp_dir).join("pictures").join(example);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Downloads these images into a folder as `1.png` and so on. Existing files are replaced.
///
/// # Errors
/// If an image cannot be downloaded or a file not written.
pub async fn save<'a>(
    client: &Client,
    images: impl Iterator<Item = &'a PromptImage>,
    folder: &Path,
) -> Result<Vec<PathBuf>, promptarium::Error> {
    let mut files = Vec::new();
    for (index, image) in images.enumerate() {
        let file = folder.join(file_name(index, image));
        client.assets().download(&image.url).save(&file).await?;
        files.push(file);
    }
    Ok(files)
}

/// A file name with the extension of the URL.
pub fn file_name(index: usize, image: &PromptImage) -> String {
    let path = image.url.as_str().split(['?', '#']).next().unwrap_or_default();
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    format!("{}.{}", index + 1, extension.unwrap_or("png"))
}
