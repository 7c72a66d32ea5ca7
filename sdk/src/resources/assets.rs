//! Downloads of uploaded and generated media.

mod fetch;
#[cfg(not(target_arch = "wasm32"))]
mod file;
#[cfg(not(target_arch = "wasm32"))]
mod save;
mod stream;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};

use self::fetch::{Fetch, Piece};
#[cfg(not(target_arch = "wasm32"))]
pub use self::save::SaveAsset;
pub use self::stream::AssetStream;
use super::Assets;
use crate::call::{Call, Context, Run};
use crate::error::Error;
use crate::macros::debug;
use crate::model::AssetUrl;

impl Assets {
    /// Downloads an asset of any host into memory, or with [`save`](DownloadAsset::save) to a file.
    /// The API key is not sent. Redirects are followed.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let prompt = client.prompts().get(PromptId::new(7)).await?;
    /// client.assets().download(&prompt.images[0].url).save("image.png").await?;
    /// # Ok(()) }
    /// ```
    pub fn download(&self, url: impl Into<AssetUrl>) -> DownloadAsset<'static> {
        let asset = AssetToDownload {
            url: url.into(),
            max_size: 64 * 1024 * 1024,
            first: 0,
            on_progress: Box::new(|_| ()),
        };
        Call::of(self.client.context(), asset)
    }
}

type OnProgress<'a> = dyn FnMut(DownloadProgress) + Send + 'a;

/// Downloads one asset; returned by [`Assets::download`](crate::resources::Assets::download).
/// Nothing is sent until it is awaited.
///
/// Failed requests are retried as those of other calls; within 5 seconds after a generation of this
/// client was completed, 404 is retried too, since the host of its output may not have it yet. When the
/// connection is lost in the middle of the asset, it is downloaded anew.
///
/// The client's [`idle_timeout`](crate::ClientBuilder::idle_timeout) applies to every step; an
/// attempt has no time limit unless [`request_timeout`](Call::request_timeout) is set here, the
/// whole none unless [`timeout`](Call::timeout) is set.
pub type DownloadAsset<'a> = Call<Asset, AssetToDownload<'a>>;

/// An asset to download.
pub struct AssetToDownload<'a> {
    url: AssetUrl,
    max_size: u64,
    first: u64,
    on_progress: Box<OnProgress<'a>>,
}

impl<'a> Call<Asset, AssetToDownload<'a>> {
    /// The largest asset in bytes; 64 MiB by default.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.builder.max_size = bytes;
        self
    }

    /// Starts at this byte, counted from 0, to append the rest to a partial file. The server checks
    /// whether the asset is still the same if its `ETag` is the [`header`](Call::header) `If-Range`.
    ///
    /// There are no bytes if the asset ends there. Fails with [`Error::is_other_status`] if the server
    /// does not support ranges, and with the status 416 if the asset is shorter.
    pub fn start_at(mut self, byte: u64) -> Self {
        self.builder.first = byte;
        self
    }

    /// Calls this with the progress: when an attempt receives the head of its response, then after
    /// each chunk.
    ///
    /// It runs between two chunks, and may borrow unless the download is moved to a task or becomes a
    /// [`stream`](DownloadAsset::stream).
    pub fn on_progress<'b>(
        self,
        callback: impl FnMut(DownloadProgress) + Send + 'b,
    ) -> DownloadAsset<'b> {
        let builder = AssetToDownload { on_progress: Box::new(callback), ..self.builder };
        Call::of(self.context, builder)
    }
}

impl Call<Asset, AssetToDownload<'static>> {
    /// The asset as a stream of its bytes, for example to pass a video on without keeping all of it
    /// in memory. The time limits of the whole include the time between two polls.
    pub fn stream(self) -> AssetStream {
        AssetStream::new(self.builder, self.context)
    }
}

async fn download(asset: AssetToDownload<'_>, context: Context) -> Result<Asset, Error> {
    let (mut fetch, mut whole) = (Fetch::new(asset, context)?, Vec::new());
    while let Some(piece) = fetch.next().await? {
        match piece {
            Piece::Begin => whole.clear(),
            Piece::Bytes(bytes) => whole.extend_from_slice(&bytes),
        }
    }
    Ok(Asset { content_type: fetch.content_type, bytes: whole.into() })
}

impl<'a> Run<Asset> for AssetToDownload<'a> {
    type Future = BoxFuture<'a, Result<Asset, Error>>;

    fn run(self, context: Context) -> Self::Future {
        Box::pin(download(self, context))
    }
}

debug!(AssetToDownload<'_>, |it| url = it.url);

/// The progress of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DownloadProgress {
    /// The attempt, counting from 1.
    pub attempt: u32,
    /// Bytes of the asset that were received, with those before
    /// [`start_at`](crate::request::DownloadAsset::start_at). Each attempt begins again.
    pub received: u64,
    /// Bytes of the whole asset; `None` if the server does not tell.
    pub total: Option<u64>,
}

/// The bytes of an asset.
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
