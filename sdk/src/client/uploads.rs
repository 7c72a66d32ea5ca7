//! Uploads: a slot from the service, then the bytes to the storage.

mod image;
mod media;
mod source;

use http::Method;
use serde::Serialize;

use super::Error;
use super::call::{Call, Endpoint, sealed::Sealed};
use super::mode::{Async, Bound, Mode};
use super::reply::Reply;
use super::request::Request;
use crate::model::{ImageContentType, UploadSlot};
use crate::path;
pub use image::{UploadImage, UploadProgress, UploadedImage};
pub(super) use source::Feed;
pub use source::UploadSource;

/// Images for later calls; made by [`Client::uploads`](crate::Client::uploads).
#[derive(Debug, Clone)]
pub struct Uploads<M = Async> {
    client: Bound<M>,
}

impl<M: Mode> Uploads<M> {
    pub(super) const fn new(client: Bound<M>) -> Self {
        Self { client }
    }

    /// Uploads an image, both steps in one: a slot, then the bytes (`UP-01`,
    /// `UP-10`). See [`UploadImage`] for what can be chained.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// use promptarium::UploadSource;
    ///
    /// let image = client.uploads().image(UploadSource::path("harbour.png")).await?;
    /// let job = client
    ///     .generations()
    ///     .create("local/plasma", "The same at night")
    ///     .image_input(&image.url)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run_with_files(example);
    /// ```
    pub fn image(&self, source: impl Into<UploadSource>) -> UploadImage<M> {
        UploadImage::new(self.client.clone(), source.into())
    }

    /// Asks for a slot only (`UP-01`), for bytes that another program will send, a
    /// browser say. What is sent has to have exactly this type and size (`UP-12`,
    /// `UP-13`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// use promptarium::ImageContentType;
    ///
    /// let slot = client.uploads().slot(ImageContentType::Png, 48_213).await?;
    /// println!("PUT to {} with the token", slot.upload_url);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn slot(&self, content_type: ImageContentType, size: u64) -> Call<CreateUploadSlot, M> {
        self.client.call(CreateUploadSlot { content_type, size })
    }
}

/// `POST /uploads/images`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateUploadSlot {
    content_type: ImageContentType,
    size: u64,
}

impl Sealed for CreateUploadSlot {}

impl Endpoint for CreateUploadSlot {
    type Output = UploadSlot;

    fn request(&self) -> Result<Request, Error> {
        // A slot that is not used comes to nothing.
        Request::new(Method::POST, path::UPLOADS_IMAGES, path::UPLOADS_IMAGES).harmless().json(self)
    }

    fn read(reply: Reply) -> Result<UploadSlot, Error> {
        reply.withheld().data()
    }
}
