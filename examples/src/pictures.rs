//! Pictures of the examples: one to begin with, and a place for those that come.

use std::error::Error;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{ImageFormat, Rgb, RgbImage};
use promptarium::{Client, PromptImage};

/// The model that draws: `PROMPTARIUM_IMAGE_MODEL`, or the one that every reference
/// server has.
pub fn image_model() -> String {
    std::env::var("PROMPTARIUM_IMAGE_MODEL").unwrap_or_else(|_| "local/plasma".to_owned())
}

/// A low sun in haze, drawn here so that an example has an image of its own.
///
/// # Errors
/// If the drawing cannot be written as PNG.
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

/// The folder for the pictures of an example, made if it is not there: in Cargo's
/// target directory if the program runs from it, else among the temporary files.
///
/// # Errors
/// If it cannot be made.
pub fn folder(example: &str) -> std::io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let built = program.parent().filter(|folder| folder.ends_with("examples"));
    let target = built.and_then(|folder| folder.ancestors().nth(2)).map(Path::to_owned);
    let folder = target.unwrap_or_else(std::env::temp_dir).join("pictures").join(example);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Fetches these pictures into a folder and names the files, `1.png` and so on.
/// Files of an earlier run are written over.
///
/// # Errors
/// If a picture cannot be fetched or a file not written.
pub async fn save(
    client: &Client,
    pictures: &[PromptImage],
    folder: &Path,
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for (at, picture) in pictures.iter().enumerate() {
        let asset = client.assets().download(&picture.url).await?;
        let ending = asset.extension().unwrap_or("bin");
        let file = folder.join(format!("{}.{ending}", at + 1));
        std::fs::write(&file, &asset.bytes)?;
        files.push(file);
    }
    Ok(files)
}
