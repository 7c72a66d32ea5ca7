//! `/uploads`: where slots are handed out. The bytes go to `storage`.

use http::StatusCode;
use promptarium::limits;

use super::view::{self, SlotView};
use super::{Api, AuthedRequest};
use crate::domain::Media;
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::validate::{integer, json_fields, one_of};

/// The body fields of the request for a slot.
pub const FIELDS: &[&str] = &["contentType", "size"];

/// The types that are taken (LI-15).
pub const TYPES: &[(&str, Media)] = &[
    (Media::Png.content_type(), Media::Png),
    (Media::Jpeg.content_type(), Media::Jpeg),
    (Media::Webp.content_type(), Media::Webp),
    (Media::Gif.content_type(), Media::Gif),
];

/// `POST /uploads/images` (UP-01 to UP-09).
pub async fn create(api: &Api, mut request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let media = form.required("contentType", one_of(TYPES));
    let size = form.required("size", integer(limits::UPLOAD_SIZE_BYTES));
    let (Some(media), Some(size)) = (media, size) else {
        return Err(form.errors().into());
    };
    form.finish()?;

    // No step of the store is involved; the route table asks for a recheck of the key.
    let handed_out = api.slots.hand_out(request.caller.account, media, size);
    Ok(response::data(StatusCode::CREATED, &SlotView::of(&handed_out), view::SMALL_BYTES)?)
}
