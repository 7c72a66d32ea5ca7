//! `/storage`: the signed addresses that take the bytes of uploads.
//!
//! Whoever comes without the token of the slot gets 401, whatever they want
//! (S-43). Nothing is visible before the last byte is there and checked.

use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, Method, StatusCode};

use super::{Api, Request};
use crate::blobs::PutError;
use crate::blobs::upload_slot::SlotRefusal;
use crate::http::auth::bearer;
use crate::http::error::{ApiError, StorageError};
use crate::http::path::RouteError;
use crate::http::response::{self, Response};

/// `PUT {upload_url}` (UP-10 to UP-14), and the refusal of everything else there.
pub async fn put(api: &Api, request: Request<'_>) -> Result<Response, ApiError> {
    let parts = request.parts;
    let token = bearer(&parts.headers).map_err(|_| SlotRefusal::NoToken)?;
    let slot = api.slots.admit(request.file(), parts.uri.query(), token)?;
    if parts.method != Method::PUT {
        return Err(RouteError::WrongMethod { allow: HeaderValue::from_static("PUT") }.into());
    }
    let declared = slot.name.media().content_type();
    if !announces(&parts.headers, declared) {
        return Err(StorageError::OtherType(declared).into());
    }
    // The bytes of a second upload need not come in; that there is no second one
    // is seen to by the last step.
    if api.blobs.size_of(&slot.name).await?.is_some() {
        return Err(StorageError::Used.into());
    }
    let body = request.body.read_exactly(&parts.headers, slot.size, &api.budget).await?;
    match api.blobs.put_new_of(&slot.name, body.pieces).await {
        Ok(()) => Ok(response::empty(StatusCode::OK)),
        Err(PutError::Taken) => Err(StorageError::Used.into()),
        Err(PutError::Failed(error)) => Err(error.into()),
    }
}

/// Whether exactly this type is announced, once.
fn announces(headers: &HeaderMap, content_type: &str) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    value.as_bytes().trim_ascii().eq_ignore_ascii_case(content_type.as_bytes())
}
