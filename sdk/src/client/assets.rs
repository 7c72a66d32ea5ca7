//! Assets: the bytes behind a permanent address.

use std::time::Duration;

use bytes::Bytes;
use futures_core::future::BoxFuture;

use super::Error;
use super::mode::{Async, Bound, Mode};
use super::trace::Span;
use crate::model::AssetUrl;

/// Uploaded and generated media; made by [`Client::assets`](crate::Client::assets).
#[derive(Debug, Clone)]
pub struct Assets<M = Async> {
    client: Bound<M>,
}

impl<M: Mode> Assets<M> {
    pub(super) const fn new(client: Bound<M>) -> Self {
        Self { client }
    }

    /// Fetches an asset (`UP-15`), of at most [`GetAsset::DEFAULT_MAX_SIZE`] bytes
    /// unless told.
    ///
    /// The API key does not go there: an asset needs none, and its address may be
    /// anywhere. Redirects are followed.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// # use promptarium::PromptId;
    /// let prompt = client.prompts().get(PromptId::new(7)).await?;
    /// for image in &prompt.images {
    ///     let asset = client.assets().get(&image.url).await?;
    ///     std::fs::write(format!("picture.{}", asset.extension().unwrap_or("bin")), &asset.bytes)?;
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn get(&self, url: impl Into<AssetUrl>) -> GetAsset<M> {
        let (max_size, timeout) = (GetAsset::DEFAULT_MAX_SIZE, Duration::MAX);
        GetAsset { client: self.client.clone(), url: url.into(), max_size, timeout }
    }
}

/// Fetches one asset. Nothing is sent until it is awaited.
///
/// No step may stand still for longer than the client's
/// [`idle_timeout`](crate::ClientBuilder::idle_timeout); together they may take as long
/// as they need, unless a [`timeout`](Self::timeout) is set.
///
/// # Errors
///
/// [`Error::is_too_large`], [`Error::is_not_found`], [`Error::is_redirect`] for one
/// that leads nowhere, and whatever can go wrong on the way.
#[derive(Debug, Clone)]
#[must_use = "an asset is fetched only when this is awaited, or by `send`"]
pub struct GetAsset<M = Async> {
    pub(super) client: Bound<M>,
    url: AssetUrl,
    max_size: u64,
    timeout: Duration,
}

impl GetAsset {
    /// Bytes of an asset unless told otherwise: 64 MiB.
    pub const DEFAULT_MAX_SIZE: u64 = 64 * 1024 * 1024;
}

impl<M> GetAsset<M> {
    /// Bytes the asset may have. They are held in memory.
    pub const fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// How long the whole may take; as long as it needs unless told. Running out of it
    /// is [`Error::is_timeout`].
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) async fn run(self) -> Result<Asset, Error> {
        let time = &self.client.0.time;
        let span = Span::asset();
        let fetching = span.around(self.client.fetch(self.url.as_str(), self.max_size, &span));
        let fetched = time.until(time.after(self.timeout), fetching).await;
        let late = |_| Err(Error::call_timed_out(self.url.as_str(), self.timeout));
        let fetched = fetched.unwrap_or_else(late).inspect_err(|error| span.failed(error));
        fetched.map(|(content_type, bytes)| Asset { content_type, bytes })
    }
}

impl IntoFuture for GetAsset {
    type Output = Result<Asset, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// The bytes of an asset.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let asset = client.assets().get("https://cdn.example/images/1.png").await?;
/// assert_eq!(asset.extension(), Some("png"));
/// println!("{} bytes", asset.bytes.len());
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asset {
    /// What it is, as its `Content-Type` says.
    pub content_type: Option<String>,
    /// The whole of it.
    pub bytes: Bytes,
}

impl Asset {
    /// The usual ending of a file of this type, without a dot; `None` for a type that
    /// is no common image or video.
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
