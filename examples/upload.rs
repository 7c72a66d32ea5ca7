//! Uploads an image, with a progress bar.
//!
//! ```console
//! $ cargo run --example upload                  # an image of its own
//! $ cargo run --example upload -- picture.jpg   # a PNG, JPEG, WebP or GIF of yours
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own, in memory.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};

use promptarium::{UploadProgress, UploadSource};
use promptarium_examples::{Service, pictures};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The type is detected from the first bytes.
    let source = match std::env::args_os().nth(1) {
        Some(path) => UploadSource::path(path),
        None => UploadSource::bytes(pictures::small_png()?),
    };
    let service = Service::find().await?;
    let image = service.client.uploads().image(source).on_progress(show).await?;
    println!("{}, {} bytes, uploaded to {}", image.content_type, image.size, image.url);

    // The URL is permanent and public; the API key is not sent there.
    let asset = service.client.assets().download(&image.url).await?;
    println!("downloaded: {} bytes", asset.bytes.len());
    Ok(())
}

/// A progress bar: on a terminal it is redrawn, elsewhere it is printed once at the end.
fn show(progress: UploadProgress) {
    const WIDTH: usize = 40;
    let done = progress.sent == progress.total;
    let terminal = std::io::stdout().is_terminal();
    if !done && !terminal {
        return;
    }
    let percent = progress.sent * 100 / progress.total;
    let full = WIDTH * percent as usize / 100;
    let retry = if progress.attempt > 1 { " (retry with a new slot)" } else { "" };
    print!(
        "\r[{:<WIDTH$}] {percent:>3} %{retry}{}",
        "#".repeat(full),
        if done { "\n" } else { "" }
    );
    // An error of the terminal does not stop the upload.
    let _ = std::io::stdout().flush();
}
