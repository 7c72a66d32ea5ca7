//! An image goes up, with a progress bar.
//!
//! ```console
//! $ cargo run --example upload                  # an image it draws itself
//! $ cargo run --example upload -- picture.jpg   # a PNG, JPEG, WebP or GIF of yours
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own, and what
//! it uploads is gone when it ends.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};

use promptarium::{UploadProgress, UploadSource};
use promptarium_examples::{Service, pictures};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The type is told by the first bytes, whatever the name says.
    let source = match std::env::args_os().nth(1) {
        Some(path) => UploadSource::path(path),
        None => UploadSource::bytes(pictures::small_png()?),
    };
    let service = Service::find().await?;
    let image = service.client.uploads().image(source).on_progress(show).await?;
    println!("{}, {} bytes, live at {}", image.content_type, image.size, image.url);

    // The address is for good, and anyone can fetch it: no key goes there.
    let asset = service.client.assets().download(&image.url).await?;
    println!("fetched again: {} bytes", asset.bytes.len());
    Ok(())
}

/// A bar that is drawn over and over on a terminal, and once where lines stay.
fn show(progress: UploadProgress) {
    const WIDTH: usize = 40;
    let done = progress.sent == progress.total;
    let terminal = std::io::stdout().is_terminal();
    if !done && !terminal {
        return;
    }
    let percent = progress.sent * 100 / progress.total;
    let full = WIDTH * percent as usize / 100;
    let again = if progress.attempt > 1 { " (again, with a fresh slot)" } else { "" };
    print!(
        "\r[{:<WIDTH$}] {percent:>3} %{again}{}",
        "#".repeat(full),
        if done { "\n" } else { "" }
    );
    // A bar that cannot be shown is no reason to stop.
    let _ = std::io::stdout().flush();
}
