//! Downloads of uploaded and generated media.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, Method, Response};
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;
use url::Url;

use super::Assets;
use crate::call::Context;
use crate::error::Error;
use crate::macros::{awaitable, options};
use crate::model::AssetUrl;
use crate::send::incoming::{Incoming, MaxSize, check_asset, is_web};
use crate::send::reply::{encoded, repeats_query};
use crate::send::request::Route;
use crate::send::timeout::{Running, until};
use crate::send::trace::Span;
use crate::transport::Body;

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
        DownloadAsset { context: self.client.context(), url: url.into(), max_size, timeout }
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
    context: Context,
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
            let mut asset =
                self.context.open_asset(self.url.as_str(), self.max_size, &span).await?;
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

impl Context {
    /// Requests the asset at this URL and receives the head of the response. Redirects are
    /// followed, since there is no key that they could leak.
    async fn open_asset(&self, url: &str, max_size: u64, span: &Span) -> Result<Incoming, Error> {
        let route = Route::new(Method::GET, Route::ASSET);
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(is_web).ok_or_else(invalid)?;
        let running = Running::idle_only(self.options.limits(&self.client.0));
        let max = MaxSize { bytes: max_size, setting: "max_size" };
        let mut redirects = 0;
        let asset = loop {
            let attempt = span.attempt(&route, &url, redirects + 1);
            let response = attempt.around(self.get_once(&url, &running)).await;
            attempt.ended(response.as_ref().map(Response::status));
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let asset = Incoming::new(route.clone(), url, response, running, max);
            match asset.redirect(|from, to| check_asset(from, to, redirects))? {
                Some(next) => url = next,
                None => break asset,
            }
            redirects += 1;
        };
        if !asset.head.status.is_success() {
            let url = asset.url.clone();
            let reply = asset.refusal().await;
            let withheld = repeats_query(&reply.body, &url);
            return Err(reply.refused_as(withheld));
        }
        if let Some(error) = encoded(asset.head.status, &asset.head.headers) {
            return Err(asset.fail(error));
        }
        asset.check_length()?;
        Ok(asset)
    }

    async fn get_once(&self, url: &Url, running: &Running) -> Result<Response<Body>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.client.0.user_agent.clone());
        self.options.add_headers(&mut headers);
        let sending = self.client.0.http_client.send(Method::GET, url, headers, Body::default());
        match running.head(sending).await {
            Ok(response) => response.map_err(|failure| Error::no_response(url, failure)),
            Err(limit) => Err(Error::timed_out(url, limit, None)),
        }
    }
}

options!([] DownloadAsset, context);
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
