//! Downloads of uploaded and generated media.

mod fetch;
#[cfg(not(target_arch = "wasm32"))]
mod save;

use std::future::poll_fn;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};

use self::fetch::{Fetch, Piece};
#[cfg(not(target_arch = "wasm32"))]
pub use self::save::SaveAsset;
use super::Assets;
use crate::call::{Call, Context, Run};
use crate::error::Error;
use crate::macros::{debug, settings, stream};
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
    settings! {
        /// The largest asset in bytes; 64 MiB by default.
        max_size(bytes: u64) => builder.max_size;
        /// Starts at this byte, counted from 0, to append the rest to a partial file. The server
        /// checks whether the asset is still the same if its `ETag` is the [`header`](Call::header)
        /// `If-Range`.
        ///
        /// There are no bytes if the asset ends there. Fails with [`Error::is_other_status`] if the
        /// server does not support ranges, and with the status 416 if the asset is shorter.
        start_at(byte: u64) => builder.first;
    }

    /// Calls this with the progress: when an attempt receives the head of the response or a chunk.
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

impl<'a> Run<Asset> for AssetToDownload<'a> {
    type Future = BoxFuture<'a, Result<Asset, Error>>;

    fn run(self, context: Context) -> Self::Future {
        Box::pin(async {
            let (mut fetch, mut whole) = (Fetch::new(self, context)?, Vec::new());
            while let Some(piece) = fetch.next().await? {
                match piece {
                    Piece::Begin => whole.clear(),
                    Piece::Bytes(bytes) => whole.extend_from_slice(&bytes),
                }
            }
            Ok(Asset { content_type: fetch.content_type, bytes: whole.into() })
        })
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
    /// The usual file extension of this type, without a dot; `None` for uncommon types.
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

type Step = BoxFuture<'static, Result<Option<(Box<Fetch<'static>>, Piece)>, Error>>;

/// The bytes of an asset as they are received; returned by
/// [`DownloadAsset::stream`](crate::request::DownloadAsset::stream).
///
/// Nothing is requested until it is polled, and it requests no more than is taken from it. There is
/// no task: dropping it cancels the download. Once bytes were returned, an error ends the stream:
/// [`start_at`](crate::request::DownloadAsset::start_at) [`received`](Self::received) gets the rest.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let mut asset = client.assets().download("https://cdn.example/clip.mp4").stream();
/// asset.ready().await?;
/// println!("{:?}, {:?} bytes", asset.content_type(), asset.size());
/// while let Some(bytes) = asset.try_next().await? {
///     println!("{} bytes more", bytes.len());
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream requests the asset only when it is polled"]
pub struct AssetStream {
    /// `None` when the stream has ended.
    step: Option<Step>,
    content_type: Option<String>,
    size: Option<u64>,
    received: u64,
    is_ready: bool,
}

impl AssetStream {
    fn new(asset: AssetToDownload<'static>, context: Context) -> Self {
        let received = asset.first;
        let step = async move {
            let mut fetch = Box::new(Fetch::new(asset, context)?);
            fetch.can_restart = false;
            next(fetch).await
        };
        Self {
            step: Some(Box::pin(step)),
            content_type: None,
            size: None,
            received,
            is_ready: false,
        }
    }

    /// Waits for the head of the response, after which [`content_type`](Self::content_type) and
    /// [`size`](Self::size) are known. Cancel safe. A stream works without it.
    pub async fn ready(&mut self) -> Result<(), Error> {
        while !self.is_ready && poll_fn(|cx| self.poll_piece(cx)).await?.is_some() {}
        Ok(())
    }

    /// The `Content-Type`; `None` before the head of the response was received.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The size of the whole asset in bytes; `None` until it is known.
    pub const fn size(&self) -> Option<u64> {
        self.size
    }

    /// The offset of the next byte.
    pub const fn received(&self) -> u64 {
        self.received
    }

    fn poll_bytes(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match ready!(self.poll_piece(cx)) {
                Ok(Some(Piece::Bytes(bytes))) => return Poll::Ready(Some(Ok(bytes))),
                Ok(Some(Piece::Begin)) => {}
                Ok(None) => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<Option<Piece>, Error>> {
        let Some(step) = &mut self.step else { return Poll::Ready(Ok(None)) };
        let outcome = ready!(step.as_mut().poll(cx));
        self.step = None;
        let Some((fetch, piece)) = outcome? else { return Poll::Ready(Ok(None)) };
        self.received = fetch.position;
        if matches!(piece, Piece::Begin) {
            self.is_ready = true;
            self.content_type = fetch.content_type.clone();
            self.size = fetch.size;
        }
        self.step = Some(Box::pin(next(fetch)));
        Poll::Ready(Ok(Some(piece)))
    }
}

async fn next(
    mut fetch: Box<Fetch<'static>>,
) -> Result<Option<(Box<Fetch<'static>>, Piece)>, Error> {
    Ok(fetch.next().await?.map(|piece| (fetch, piece)))
}

stream!([] AssetStream => Bytes, Error, poll_bytes);

debug!(AssetStream, |it| content_type = it.content_type, size = it.size, received = it.received);
