//! The address of an image in a request.

use std::sync::Arc;

use crate::blobs::asset_url::Assets;
use crate::http::validate::{Given, Refusal, absolute_url};

/// An absolute URL that is not one of ours that takes uploads (UP-17).
pub fn image_url(
    assets: &Assets,
) -> impl for<'a> Fn(Given<'a>) -> Result<Arc<str>, Refusal> + Copy + use<'_> {
    |given| {
        let url = absolute_url(given)?;
        if assets.is_upload_url(&url) {
            // It is not repeated: it takes an upload.
            Err("is an upload address; use the slot's url".to_owned())
        } else {
            Ok(url)
        }
    }
}
