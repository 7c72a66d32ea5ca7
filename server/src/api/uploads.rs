//! `/uploads`: where slots are handed out. The bytes go to `storage`.

use http::StatusCode;
use promptarium::limits;

use super::view::{self, SlotView};
use super::{Api, Call};
use crate::domain::Media;
use crate::http::error::ApiError;
use crate::http::response::{self, Reply};
use crate::http::validate::{fields_of, integer, word};

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
pub async fn create(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, FIELDS)?;
    let media = form.required("contentType", word(TYPES));
    let size = form.required("size", integer(limits::UPLOAD_SIZE_BYTES));
    let (Some(media), Some(size)) = (media, size) else {
        return Err(form.refusals().into());
    };
    form.finish()?;

    // A slot is made of nothing in the store, so that no step has looked at the key.
    api.store.confirm_key(&call.caller).await?;
    let handed_out = api.slots.hand_out(call.caller.account, media, size);
    Ok(response::data(StatusCode::CREATED, &SlotView::of(&handed_out), view::SMALL_BYTES)?)
}
