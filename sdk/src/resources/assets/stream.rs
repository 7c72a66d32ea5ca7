//! A download as a stream of its bytes.

use std::future::poll_fn;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use futures_core::future::BoxFuture;

use super::AssetToDownload;
use super::fetch::{Fetch, Piece};
use crate::call::Context;
use crate::error::Error;
use crate::macros::{debug, stream};

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
    pub(super) fn new(asset: AssetToDownload<'static>, context: Context) -> Self {
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
