//! Uploads in two steps: a slot from the service, then the bytes to the storage.

mod image;
mod source;

use http::Method;
use serde_json::json;

use super::Client;
use super::call::Call;
use super::request::Request;
use crate::model::{ImageContentType, UploadSlot};
use crate::path;
pub use image::{UploadImage, UploadProgress, UploadedImage};
pub(super) use source::Chunks;
pub use source::UploadSource;

/// Image uploads; returned by [`Client::uploads`].
#[derive(Debug, Clone)]
pub struct Uploads {
    pub(super) client: Client,
}

impl Uploads {
    /// Uploads an image in both steps: requests a slot and sends the bytes. Takes the path of a
    /// file, bytes, or an [`UploadSource`]; a `&str` is a path.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let image = client.uploads().image("harbour.png").await?;
    /// let job = client
    ///     .generations()
    ///     .create("local/plasma", "The same at night")
    ///     .image_input(&image.url)
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn image(&self, source: impl Into<UploadSource>) -> UploadImage {
        UploadImage::new(self.client.clone(), source.into())
    }

    /// Requests a slot only, for bytes that another program sends, for example a browser. The
    /// bytes must have exactly this type and size.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// use promptarium::ImageContentType;
    ///
    /// let slot = client.uploads().slot(ImageContentType::Png, 48_213).await?;
    /// println!("PUT to {} with the token", slot.upload_url);
    /// # Ok(()) }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "the other calls take their arguments so")]
    pub fn slot(&self, content_type: ImageContentType, size: u64) -> Call<UploadSlot> {
        let body = json!({ "contentType": content_type, "size": size });
        // Retries are safe: a slot that is not used has no effect.
        let request = Request::new(Method::POST, path::UPLOADS_IMAGES, path::UPLOADS_IMAGES);
        let request = request.idempotent().json(&body);
        self.client.call_with(request, |reply| reply.withheld().data())
    }
}
