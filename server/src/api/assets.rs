//! `/assets`: stored files, for everybody who has the address (S-45).
//!
//! What an address names never changes, so that whoever has a file may keep it
//! for good, and its name is its tag.

pub(super) mod asked;

use std::ops::Range;

use futures::StreamExt;
use http::header::{
    ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use self::asked::{Wanted, has_it, range_of};
use super::{Api, Request};
use crate::blobs::{AssetName, Blob};
use crate::http::error::{ApiError, StorageError};
use crate::http::response::{self, Response, ResponseBody, ResponseBodyError};

/// `GET` and `HEAD` of an asset (UP-15, UP-19).
pub async fn get(api: &Api, request: Request<'_>) -> Result<Response, ApiError> {
    let name = request.file().ok_or(ApiError::NotFound)?;
    let headers = &request.parts.headers;
    let tag = format!("\"{name}\"");
    let only_the_head = request.parts.method == Method::HEAD;
    // Only a plain request is answered with one look at the store.
    let wanted = if only_the_head { Wanted::All } else { range_of(headers, &tag) };
    let reply = if only_the_head || has_it(headers, &tag) || wanted != Wanted::All {
        let size = api.blobs.size_of(&name).await?.ok_or(ApiError::NotFound)?;
        if has_it(headers, &tag) {
            response::empty(StatusCode::NOT_MODIFIED)
        } else {
            match wanted.within(size) {
                None => return Err(StorageError::OutOfRange(size).into()),
                Some(_) if only_the_head => described(response::empty(StatusCode::OK), &name, size),
                Some(range) => part(api, &name, range, size).await?,
            }
        }
    } else {
        let blob = api.blobs.get(&name).await?.ok_or(ApiError::NotFound)?;
        let size = blob.size;
        described(Response::new(streamed(blob)), &name, size)
    };
    Ok(for_good(reply, &tag))
}

/// A part of a file.
async fn part(
    api: &Api,
    name: &AssetName,
    range: Range<u64>,
    size: u64,
) -> Result<Response, ApiError> {
    let blob = api.blobs.get_range(name, range.clone()).await?.ok_or(ApiError::NotFound)?;
    let mut reply = described(Response::new(streamed(blob)), name, range.end - range.start);
    *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
    let place = format!("bytes {}-{}/{size}", range.start, range.end - 1);
    insert_text(reply.headers_mut(), CONTENT_RANGE, &place);
    Ok(reply)
}

/// A failure on the way is logged, and cuts the connection.
fn streamed(blob: Blob) -> ResponseBody {
    ResponseBody::stream(blob.bytes.map(|piece| {
        piece.map_err(|error| {
            tracing::error!(%error, "an asset broke off while it was being sent");
            ResponseBodyError
        })
    }))
}

/// Says what the body is, or would be.
fn described(mut reply: Response, name: &AssetName, length: u64) -> Response {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(name.media().content_type()));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    reply
}

/// Says how long it may be kept, and that it is not to be taken for anything else.
fn for_good(mut reply: Response, tag: &str) -> Response {
    const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
    let headers = reply.headers_mut();
    insert_text(headers, ETAG, tag);
    headers.insert(CACHE_CONTROL, FOR_GOOD);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    reply
}

/// The text is of our making, and always fits.
fn insert_text(headers: &mut HeaderMap, name: http::HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}
