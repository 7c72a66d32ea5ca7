//! Uploads in two steps: `POST /uploads/images` issues a slot, `PUT {uploadUrl}` takes the bytes.
//!
//! Nothing of an upload is visible before its last byte has arrived and been checked.

use http::{HeaderValue, Method, StatusCode};
use promptarium::limits;
use serde::Serialize;

use super::{Api, HandlerResult, Request};
use crate::blobs::PutError;
use crate::blobs::upload_slot::SlotError;
use crate::domain::{Caller, Media};
use crate::http::auth::bearer;
use crate::http::body::{ExactBody, content_type};
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{integer, json_fields, one_of};

pub(crate) const FIELDS: &[&str] = &["contentType", "size"];

/// The accepted types (LI-15).
pub(crate) const TYPES: &[(&str, Media)] = &[
    (Media::Png.content_type(), Media::Png),
    (Media::Jpeg.content_type(), Media::Jpeg),
    (Media::Webp.content_type(), Media::Webp),
    (Media::Gif.content_type(), Media::Gif),
];

/// A slot as JSON (UP-04 to UP-09).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SlotView<'a> {
    upload_url: &'a str,
    token: &'a str,
    url: &'a str,
    path: String,
    content_type: &'static str,
    size: u64,
    expires_in: u64,
}

/// `POST /uploads/images` (UP-01 to UP-09).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.json().await?;
    let mut form = json_fields(&body, FIELDS)?;
    let media = form.required("contentType", one_of(TYPES));
    let size = form.required("size", integer(limits::UPLOAD_SIZE_BYTES));
    let (media, size) = form.finish_with(media.zip(size))?;

    // No step of the store checks the key; the route asks for a recheck.
    let slot = api.slots.issue(caller.account, media, size);
    let view = SlotView {
        upload_url: &slot.upload_url,
        token: &slot.token,
        url: &slot.url,
        path: slot.claims.name.path(),
        content_type: media.content_type(),
        size,
        expires_in: limits::UPLOAD_SLOT_LIFETIME_SECONDS,
    };
    Ok(response::data(StatusCode::CREATED, &view)?)
}

/// `PUT {uploadUrl}` (UP-10 to UP-14). Every other method is refused here too, after the token is
/// checked (S-43).
pub(crate) async fn put(api: &Api, request: Request<'_>) -> HandlerResult {
    let parts = request.parts;
    let token = bearer(&parts.headers).map_err(|_| SlotError::NoToken)?;
    let slot = api.slots.verify(request.asset(), parts.uri.query(), token)?;
    if parts.method != Method::PUT {
        return Err(ApiError::WrongMethod(HeaderValue::from_static("PUT")));
    }
    let declared = slot.name.media().content_type();
    let given = content_type(&parts.headers);
    if !given.is_some_and(|given| given.eq_ignore_ascii_case(declared.as_bytes())) {
        return Err(ApiError::OtherType(declared));
    }
    // Spares the bytes of a repeated upload. Concurrent ones are decided by the put.
    if api.blobs.size_of(&slot.name).await?.is_some() {
        return Err(ApiError::SlotUsed);
    }
    let mut body = ExactBody::new(request.body, slot.size)?;
    let mut upload = api.blobs.upload(&slot.name, slot.size);
    while let Some(bytes) = body.next().await? {
        upload.write(&bytes).await?;
    }
    match upload.finish().await {
        Ok(()) => Ok(response::empty(StatusCode::OK)),
        Err(PutError::Taken) => Err(ApiError::SlotUsed),
        Err(PutError::Failed(error)) => Err(error.into()),
    }
}
