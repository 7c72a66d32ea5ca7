//! Uploads in two steps: a slot from the service, then the bytes to the storage.

mod file;
mod put;
mod source;

use std::time::Duration;

use futures_core::future::BoxFuture;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Uploads;
use crate::call::{Call, Context, Run, require_runtime};
use crate::error::{AttemptFailure, Error, Route};
use crate::macros::debug;
use crate::model::{AssetUrl, ImageContentType, UploadSlot};
use crate::path;
use crate::send::request::Request;
use crate::send::retry::Attempts;
use crate::send::timeout::until;
use crate::send::trace::Span;
use crate::time::{Instant, sleep};
pub use source::UploadSource;
use source::{Opened, content_type, type_of_name};

impl Uploads {
    /// Uploads an image: the path of a file, bytes, or an [`UploadSource`].
    ///
    /// A `&str` is a path: do not pass text from another person, for example a field of a web form,
    /// who would choose which file of this machine is uploaded. So a `String` is not taken.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let upload = client.uploads().image("harbour.png");
    /// let image = upload.on_progress(|it| println!("{} of {} bytes", it.sent, it.total)).await?;
    /// let create = client.generations().create("local/plasma", "The same at night");
    /// let job = create.image_input(&image.url).await?;
    /// # Ok(()) }
    /// ```
    pub fn image(&self, source: impl Into<UploadSource>) -> UploadImage<'static> {
        let on_progress = Box::new(|_| ());
        let source = source.into();
        let image = ImageToUpload { source, content_type: None, on_progress };
        Call::of(self.client.context(), image)
    }

    /// Requests a slot only, for bytes of exactly this type and size that, say, a browser sends.
    #[expect(clippy::needless_pass_by_value, reason = "the other calls take their arguments so")]
    pub fn slot(&self, content_type: ImageContentType, size: u64) -> Call<UploadSlot> {
        let body = json!({ "contentType": content_type, "size": size });
        // Retries are safe: a slot that is not used has no effect.
        let request = Request::new(Method::POST, path::UPLOADS_IMAGES, path::UPLOADS_IMAGES);
        let request = request.idempotent().json(&body);
        Call::new(self.client.context(), request, |reply| reply.withheld().data())
    }
}

/// Before it sends the bytes again, an attempt gives the storage this long to refuse them.
const HOLD: Duration = Duration::from_secs(1);

type OnProgress<'a> = dyn FnMut(UploadProgress) + Send + 'a;

/// Uploads one image; returned by [`Uploads::image`](crate::resources::Uploads::image). Nothing is
/// read or sent until it is awaited.
///
/// The bytes go to the storage with the token of the slot, without the API key; the token is not
/// sent to another host. A redirect of the storage is followed if its status is 307 or 308. The
/// [guide](crate::guide#uploads) says when all of it is retried with a new slot.
///
/// The client's [`idle_timeout`](crate::ClientBuilder::idle_timeout) applies to every step, and
/// longer while the storage may still [read](crate::guide#timeouts) bytes that were sent; on Linux
/// the client's own HTTP client ends a connection whose bytes are not received for that long. Sending
/// has no time limit unless [`request_timeout`](Call::request_timeout) is set here, the whole none
/// unless [`timeout`](Call::timeout) is set.
///
/// # Errors
///
/// [`Error::is_input`] for an image that cannot be uploaded as it is, and for a file that changes
/// before its last byte was read, which is not retried. [`Error::is_not_replayable`] when a reader
/// would have to be read twice.
pub type UploadImage<'a> = Call<UploadedImage, ImageToUpload<'a>>;

/// An image to upload.
pub struct ImageToUpload<'a> {
    source: UploadSource,
    content_type: Option<ImageContentType>,
    on_progress: Box<OnProgress<'a>>,
}

impl<'a> Call<UploadedImage, ImageToUpload<'a>> {
    /// The type of the image, in place of the one that the name of the file suggests. If the
    /// first bytes are of another type the upload fails with [`Error::is_input`].
    pub fn content_type(mut self, content_type: ImageContentType) -> Self {
        self.builder.content_type = Some(content_type);
        self
    }

    /// Calls this with the progress: with 0 bytes when an attempt begins, then after each chunk,
    /// and last with all bytes.
    ///
    /// It runs between two chunks, and may borrow unless the upload is moved to a task.
    pub fn on_progress<'b>(
        self,
        callback: impl FnMut(UploadProgress) + Send + 'b,
    ) -> UploadImage<'b> {
        let builder = ImageToUpload { on_progress: Box::new(callback), ..self.builder };
        Call::of(self.context, builder)
    }

    /// The size of the image, if it can be told without opening it.
    #[cfg(feature = "durable")]
    pub(crate) async fn size(&mut self) -> Option<u64> {
        self.builder.source.size().await
    }
}

impl ImageToUpload<'_> {
    async fn upload(
        mut self,
        context: &Context,
        span: &Span,
        end: Option<Instant>,
    ) -> Result<UploadedImage, Error> {
        let mut opened = Opened::open(self.source).await?;
        let name = opened.path.as_deref().and_then(type_of_name);
        let content_type = content_type(&opened.head, name, self.content_type)
            .map_err(|problem| Error::input(format!("{} {problem}", opened.name)))?;
        let (config, options) = (&context.client.0, &context.options);
        let mut attempts = Attempts::of_file(options.policy(config), &config.budget);
        let (total, mut hold) = (opened.size, Duration::ZERO);
        loop {
            attempts.begin();
            let attempt = attempts.history.attempts;
            let asked = Instant::now();
            let slot = context.client.uploads().slot(content_type.clone(), total);
            let mut slot = slot.with(options).await?;
            // However the service writes it.
            slot.content_type = content_type.clone();
            let (url, path) = (slot.url.clone(), slot.path.clone());
            let image =
                UploadedImage { url, path, content_type: content_type.clone(), size: total };
            let mut on_sent = |sent| (self.on_progress)(UploadProgress { attempt, sent, total });
            let route = Route::new(Method::PUT, Route::UPLOAD);
            let put = span.attempt(&route, slot.upload_url.expose(), attempt, Some(total));
            let sending = context.put_bytes(&slot, &mut opened, hold, &mut on_sent);
            let outcome = put.around(sending).await;
            put.ended(outcome.as_ref().copied());
            let Err(error) = outcome else { return Ok(image) };
            // Storages differ in how they refuse a slot that has expired.
            let has_expired = asked.elapsed() >= Duration::from_secs(slot.expires_in_seconds);
            let is_refused = error.is_slot_refused()
                || has_expired && error.status().is_some_and(|status| status.is_client_error());
            // The storage did not process the request.
            let failure =
                if is_refused { Some(AttemptFailure::NotSent) } else { error.attempt_failure() };
            let delay =
                failure.and_then(|failure| attempts.next(failure, error.retry_after_header(), end));
            let error = error.of_call(attempts.history, None);
            let Some(delay) = delay else { return Err(error) };
            if !opened.is_replayable() {
                return Err(Error::not_replayable(error));
            }
            let delay = if is_refused { Duration::ZERO } else { delay };
            hold = if error.is_timeout() { Duration::ZERO } else { HOLD };
            span.again(attempt + 1, delay, Err(&error));
            sleep(delay).await;
        }
    }
}

impl<'a> Run<UploadedImage> for ImageToUpload<'a> {
    type Future = BoxFuture<'a, Result<UploadedImage, Error>>;

    fn run(self, mut context: Context) -> Self::Future {
        Box::pin(async move {
            require_runtime()?;
            let timeout = context.options.timeout.take().unwrap_or(Duration::MAX);
            let (span, end) = (Span::upload(), Instant::now().checked_add(timeout));
            let outcome = until(end, span.around(self.upload(&context, &span, end))).await;
            let late = |_| Err(Error::call_timed_out(context.client.base_url(), timeout));
            outcome.unwrap_or_else(late).inspect_err(|error| span.failed(error))
        })
    }
}

debug!(ImageToUpload<'_>, |it| source = it.source);

/// The progress of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UploadProgress {
    /// The attempt, counting from 1. Each starts from the first byte with a new slot.
    pub attempt: u32,
    /// Bytes handed to the connection.
    pub sent: u64,
    /// Bytes of the image; at least 1.
    pub total: u64,
}

/// An uploaded image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UploadedImage {
    /// Its permanent URL, for later calls.
    pub url: AssetUrl,
    /// Its path in the storage.
    pub path: String,
    /// Its type.
    pub content_type: ImageContentType,
    /// Its size in bytes.
    pub size: u64,
}
