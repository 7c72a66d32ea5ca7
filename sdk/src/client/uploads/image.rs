//! One upload from beginning to end: slot, bytes, and both again where that helps.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::media;
use super::source::{Opened, UploadSource};
use crate::client::Error;
use crate::client::backoff::Backoff;
use crate::client::mode::{Async, Bound, Mode};
use crate::client::trace::Span;
use crate::model::{AssetUrl, ImageContentType, UploadSlot};

/// How often the bytes are sent at most, each time with a slot of its own.
const ATTEMPTS_MAX: u32 = 3;

/// How long to wait before sending again when the storage had trouble.
const SEND_AGAIN_AFTER: RangeInclusive<Duration> =
    Duration::from_millis(250)..=Duration::from_secs(5);

/// A wish to be left alone for longer than this is an answer, and no delay.
const LONGEST_WISH: Duration = Duration::from_secs(60);

type OnProgress = dyn FnMut(UploadProgress) + Send;

/// Uploads one image. Nothing is read or sent until it is awaited.
///
/// Made by [`Uploads::image`](crate::call::Uploads::image). The type is told by the
/// first bytes; the size is checked (`LI-14`) before anything is sent. The bytes go
/// to the storage with the slot's token, and the API key does not (`UP-11`). No step
/// of the sending may stand still for longer than the client's
/// [`idle_timeout`](crate::ClientBuilder::idle_timeout); together they may take as long
/// as they need, unless a [`timeout`](Self::timeout) is set. Dropping the future stops the upload.
///
/// If the slot has run out, or the storage had trouble, the bytes are sent again with
/// a fresh slot, up to twice.
///
/// # Errors
///
/// [`Error::is_input`] for an image that cannot be uploaded as it is,
/// [`Error::is_one_shot`] when a reader would have to be read twice, and the errors of
/// both calls.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let image = client
///     .uploads()
///     .image(std::path::Path::new("harbour.png"))
///     .on_progress(|progress| println!("{} of {} bytes", progress.sent, progress.total))
///     .await?;
/// println!("{} for good", image.url);
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run_with_files(example);
/// ```
#[must_use = "an image is uploaded only when this is awaited, or by `send`"]
pub struct UploadImage<M = Async> {
    pub(in crate::client) client: Bound<M>,
    source: UploadSource,
    content_type: Option<ImageContentType>,
    on_progress: Box<OnProgress>,
    timeout: Duration,
}

impl<M: Mode> UploadImage<M> {
    pub(super) fn new(client: Bound<M>, source: UploadSource) -> Self {
        let (content_type, on_progress) = (None, Box::new(|_| ()));
        Self { client, source, content_type, on_progress, timeout: Duration::MAX }
    }

    /// What type the image has, whatever its name says. If its first bytes say
    /// otherwise the upload fails with [`Error::is_input`].
    pub fn content_type(mut self, content_type: ImageContentType) -> Self {
        self.content_type = Some(content_type);
        self
    }

    /// Is told how far the upload is: with 0 bytes sent when an attempt begins, then
    /// more each time, and last with all of them.
    ///
    /// It runs between two pieces, so an upload is as slow as what it is told to, and
    /// a panic in it ends the upload as dropping it would.
    pub fn on_progress(mut self, told: impl FnMut(UploadProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(told);
        self
    }

    /// How long the whole may take, with everything that is sent again; as long as it
    /// needs unless told. Running out of it is [`Error::is_timeout`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(in crate::client) async fn run_in_time(self) -> Result<UploadedImage, Error> {
        let (client, timeout) = (self.client.clone(), self.timeout);
        let time = &client.0.time;
        let span = Span::upload();
        let outcome = time.until(time.after(timeout), span.around(self.run(&span))).await;
        let late = |_| Err(Error::call_timed_out(client.base_url(), timeout));
        outcome.unwrap_or_else(late).inspect_err(|error| span.failed(error))
    }

    async fn run(mut self, span: &Span) -> Result<UploadedImage, Error> {
        let config = Arc::clone(&self.client.0);
        let mut opened = Opened::open(self.source).await?;
        let name = opened.path.as_deref().and_then(media::of_name);
        let content_type = media::decide(&opened.head, name, self.content_type)
            .map_err(|problem| Error::input(format!("{} {problem}", opened.name)))?;
        let mut backoff = Backoff::new(&SEND_AGAIN_AFTER, config.dice.clone());
        let (total, mut attempt) = (opened.size, 1);
        loop {
            let asked = config.time.now();
            let slot = self.client.uploads().slot(content_type.clone(), total).await?;
            let feed = opened.feed().await?;
            let mut progress = UploadProgress { attempt, sent: 0, total };
            (self.on_progress)(progress);
            let mut told = |sent| {
                progress.sent = sent;
                (self.on_progress)(progress);
            };
            let put = span.put(slot.upload_url.expose(), attempt, total);
            let outcome = put.around(self.client.put_bytes(&slot, feed, &mut told)).await;
            put.ended(outcome.as_ref().copied());
            let Err(error) = outcome else {
                return Ok(UploadedImage::of(slot, content_type, total));
            };
            let lifetime = Duration::from_secs(slot.expires_in_seconds);
            let ran_out = config.time.now().saturating_duration_since(asked) >= lifetime;
            let Some(delay) = again_after(&error, ran_out, &mut backoff) else {
                return Err(error);
            };
            if !opened.is_replayable() {
                return Err(Error::one_shot(error));
            }
            if attempt == ATTEMPTS_MAX {
                return Err(error);
            }
            attempt += 1;
            span.again(attempt, delay, Err(&error));
            config.time.sleep(delay).await;
        }
    }
}

/// Whether a fresh slot may help, and how long to wait before it is asked for.
fn again_after(error: &Error, ran_out: bool, backoff: &mut Backoff) -> Option<Duration> {
    // Storages have words of their own for a slot that has run out.
    let refused_late = ran_out && error.status().is_some_and(|status| status.is_client_error());
    if error.is_slot_refused() || refused_late {
        return Some(Duration::ZERO);
    }
    let asked = error.retry_after();
    (error.is_retryable() && asked.is_none_or(|asked| asked <= LONGEST_WISH))
        .then(|| backoff.delay(asked))
}

impl IntoFuture for UploadImage {
    type Output = Result<UploadedImage, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run_in_time())
    }
}

impl<M: fmt::Debug> fmt::Debug for UploadImage<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UploadImage")
            .field("client", &self.client)
            .field("source", &self.source)
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

/// How far an upload is.
///
/// ```
/// # fn shown(progress: promptarium::UploadProgress) -> String {
/// format!("{} % of attempt {}", progress.sent * 100 / progress.total, progress.attempt)
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadProgress {
    /// Which sending this is, counting from 1. A higher number means that the bytes
    /// are sent again from the beginning, with a fresh slot.
    pub attempt: u32,
    /// Bytes handed to the connection, which may have a few pieces on the way.
    pub sent: u64,
    /// Bytes of the image; at least 1.
    pub total: u64,
}

/// An image that is live (`UP-15`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadedImage {
    /// Where it is, for good (`UP-06`, `UP-19`): the address for later calls.
    pub url: AssetUrl,
    /// Its path in the storage (`UP-07`).
    pub path: String,
    /// Its type.
    pub content_type: ImageContentType,
    /// Its size in bytes.
    pub size: u64,
}

impl UploadedImage {
    fn of(slot: UploadSlot, content_type: ImageContentType, size: u64) -> Self {
        Self { url: slot.url, path: slot.path, content_type, size }
    }
}
