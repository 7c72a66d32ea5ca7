//! Downloads of uploaded and generated media.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;

use super::methods::awaitable;
use super::timeout::until;
use super::trace::Span;
use super::{Assets, Client, Error};
use crate::model::AssetUrl;

impl Assets {
    /// Downloads an asset into memory, or with [`save`](DownloadAsset::save) to a file.
    ///
    /// The API key is not sent: assets are public, and their URL may be of any host. Redirects
    /// are followed.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let prompt = client.prompts().get(PromptId::new(7)).await?;
    /// for (number, image) in prompt.images.iter().enumerate() {
    ///     client.assets().download(&image.url).save(format!("{number}.png")).await?;
    /// }
    /// # Ok(()) }
    /// ```
    pub fn download(&self, url: impl Into<AssetUrl>) -> DownloadAsset {
        let (max_size, timeout) = (64 * 1024 * 1024, Duration::MAX);
        DownloadAsset { client: self.client.clone(), url: url.into(), max_size, timeout }
    }
}

/// Downloads one asset; returned by [`Assets::download`]. Nothing is sent until it is awaited.
///
/// The client's [`idle_timeout`](crate::ClientBuilder::idle_timeout) applies to every step; the
/// whole has no time limit unless [`timeout`](Self::timeout) is set.
///
/// # Errors
///
/// [`Error::is_too_large`], [`Error::is_not_found`], [`Error::is_redirect`] for a redirect that
/// cannot be followed, and errors of the connection.
#[derive(Debug, Clone)]
#[must_use = "an asset is downloaded only when this is awaited, or by `send`"]
pub struct DownloadAsset {
    client: Client,
    url: AssetUrl,
    max_size: u64,
    timeout: Duration,
}

impl DownloadAsset {
    /// The largest asset in bytes; 64 MiB by default.
    pub const fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// How long the whole may take; no limit by default. After it the download fails with
    /// [`Error::is_timeout`].
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Writes the asset to this file in place of keeping it in memory. Returns its size in bytes.
    ///
    /// An existing file is replaced, after the last byte was received; a download that fails
    /// leaves it as it was.
    pub fn save(self, path: impl Into<PathBuf>) -> SaveAsset {
        SaveAsset { download: self, path: path.into() }
    }

    async fn run(self) -> Result<Asset, Error> {
        let mut bytes = Vec::new();
        let content_type = self.receive(&mut bytes, Path::new("")).await?;
        Ok(Asset { content_type, bytes: bytes.into() })
    }

    async fn run_to_file(&self, path: &Path) -> Result<u64, Error> {
        let unwritable = |source| Error::file(path.display(), "written", source);
        let mut partial = PartialFile::create(path).await.map_err(unwritable)?;
        self.receive(&mut partial.file, path).await?;
        partial.finish(path).await.map_err(unwritable)
    }

    /// Writes the asset to `target`, the file at `path` if it is one, and returns its type.
    async fn receive(
        &self,
        target: &mut (impl AsyncWrite + Unpin + Send),
        path: &Path,
    ) -> Result<Option<String>, Error> {
        let span = Span::asset();
        let work = async {
            let mut asset = self.client.open_asset(self.url.as_str(), self.max_size, &span).await?;
            while let Some(chunk) = asset.chunk().await? {
                let written = target.write_all(&chunk).await;
                written.map_err(|source| Error::file(path.display(), "written", source))?;
            }
            Ok(asset.content_type())
        };
        let end = Instant::now().checked_add(self.timeout);
        let late = |_| Err(Error::call_timed_out(self.url.as_str(), self.timeout));
        let outcome = until(end, span.around(work)).await.unwrap_or_else(late);
        outcome.inspect_err(|error| span.failed(error))
    }
}

awaitable!([] DownloadAsset, 'static -> Asset, DownloadAsset::run);

/// Downloads one asset to a file; returned by [`DownloadAsset::save`]. Nothing is sent until it is
/// awaited.
///
/// # Errors
///
/// As [`DownloadAsset`], and [`Error::is_input`] if the file cannot be written.
#[derive(Debug, Clone)]
#[must_use = "an asset is downloaded only when this is awaited, or by `send_blocking`"]
pub struct SaveAsset {
    download: DownloadAsset,
    path: PathBuf,
}

awaitable!([] SaveAsset, 'static -> u64, async |call: SaveAsset| call.download.run_to_file(&call.path).await);

/// A file beside the target that becomes it when it is complete. Dropped earlier, it is deleted.
struct PartialFile {
    file: File,
    path: Option<PathBuf>,
}

impl PartialFile {
    async fn create(target: &Path) -> io::Result<Self> {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", uuid::Uuid::new_v4()));
        let path = target.with_file_name(name);
        Ok(Self { file: File::create_new(&path).await?, path: Some(path) })
    }

    async fn finish(mut self, target: &Path) -> io::Result<u64> {
        self.file.flush().await?;
        let size = self.file.metadata().await?.len();
        if let Some(path) = &self.path {
            tokio::fs::rename(path, target).await?;
        }
        self.path = None;
        Ok(size)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // There is nobody to tell if this fails.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The bytes of an asset.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let asset = client.assets().download("https://cdn.example/images/1.png").await?;
/// assert_eq!(asset.extension(), Some("png"));
/// println!("{} bytes", asset.bytes.len());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asset {
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// The bytes.
    pub bytes: Bytes,
}

impl Asset {
    /// The usual file extension of this type, without a dot; `None` for other types than common
    /// images and videos.
    #[must_use]
    pub fn extension(&self) -> Option<&'static str> {
        let essence = self.content_type.as_deref()?.split(';').next()?.trim();
        match essence.to_ascii_lowercase().as_str() {
            "image/png" => Some("png"),
            "image/jpeg" => Some("jpg"),
            "image/webp" => Some("webp"),
            "image/gif" => Some("gif"),
            "video/mp4" => Some("mp4"),
            "video/webm" => Some("webm"),
            _ => None,
        }
    }
}
