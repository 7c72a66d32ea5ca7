//! Files to upload. A browser has none.

use std::io;
use std::path::Path;

#[cfg(not(target_arch = "wasm32"))]
pub(super) use tokio::fs::File;

use crate::error::Error;

#[cfg(target_arch = "wasm32")]
pub(super) type File = io::Cursor<bytes::Bytes>;

/// What shows that a file was written to: its size, and when it was modified, which is `None` where
/// the operating system does not tell.
pub(super) type Version = (u64, Option<std::time::SystemTime>);

#[cfg(feature = "durable")]
pub(super) async fn size(path: &Path) -> Option<u64> {
    Some(tokio::fs::metadata(path).await.ok()?.len())
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) async fn open(path: &Path) -> Result<(File, Version), Error> {
    let unreadable = |source| Error::file(path.display(), "read", source);
    // Before it is opened, since to open a pipe waits for its writer.
    let found = tokio::fs::metadata(path).await.map_err(unreadable)?;
    if let Some(problem) = not_a_file(&found) {
        return Err(Error::input(format!("{} {problem}", path.display())));
    }
    let file = File::open(path).await.map_err(unreadable)?;
    let version = version(&file).await.map_err(unreadable)?;
    Ok((file, version))
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) async fn version(file: &File) -> io::Result<Version> {
    let found = file.metadata().await?;
    Ok((found.len(), found.modified().ok()))
}

#[cfg(not(target_arch = "wasm32"))]
fn not_a_file(found: &std::fs::Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type()) {
        return Some("is a pipe; use `UploadSource::reader` with a size");
    }
    if found.is_dir() {
        return Some("is a directory, not an image");
    }
    let other = "is not a regular file; use `UploadSource::reader` with a size";
    (!found.is_file()).then_some(other)
}

#[cfg(target_arch = "wasm32")]
pub(super) async fn open(path: &Path) -> Result<(File, Version), Error> {
    let text = "there are no files here; upload bytes";
    Err(Error::file(path.display(), "read", io::Error::new(io::ErrorKind::Unsupported, text)))
}

#[cfg(target_arch = "wasm32")]
pub(super) async fn version(_: &File) -> io::Result<Version> {
    Ok((0, None))
}
