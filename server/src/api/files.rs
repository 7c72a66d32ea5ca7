//! Stored files: slots for uploads, the uploads to them, and the assets at their URLs.
//!
//! Nothing of an upload is visible before it is complete and checked. Assets are public to everyone
//! who has the URL (S-45). The file at a URL never changes, so its name is its ETag.

use std::ops::Range;
use std::pin::pin;

use futures::TryStreamExt;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use http::{HeaderMap, Method, StatusCode};
use promptarium::limits;
use serde_json::json;

use super::{Api, HandlerResult, Request};
use crate::blobs::urls::SlotError;
use crate::domain::{AssetName, Caller, Media};
use crate::http::auth::{AuthError, bearer};
use crate::http::body::{BodyReadError, check_encoding, content_type, exact};
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::sole;
use crate::http::validate::{integer, one_of};
use crate::limits::UPLOAD_BUFFER_BYTES;

pub(crate) const FIELDS: &[&str] = &["contentType", "size"];

/// The accepted types (LI-15).
pub(crate) const TYPES: &[(&str, Media)] = &[
    (Media::Png.content_type(), Media::Png),
    (Media::Jpeg.content_type(), Media::Jpeg),
    (Media::Webp.content_type(), Media::Webp),
    (Media::Gif.content_type(), Media::Gif),
];

/// Stands for the declared type in a `PUT`: generated clients send it with all bytes (S-43).
pub(crate) const BYTES_TYPE: &str = "application/octet-stream";

/// `POST /uploads/images` (UP-01 to UP-09).
pub(crate) async fn slot(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let fields = request.json(FIELDS, |form| {
        let media = form.required("contentType", one_of(TYPES));
        media.zip(form.required("size", integer(limits::UPLOAD_SIZE_BYTES)))
    });
    let (media, size) = fields.await?;
    // No other step asks the store, so the key may have been found in the cache only.
    api.store.confirm_key(caller).await.map_err(AuthError::from)?;
    let (name, upload_url, token) = api.slots.issue(caller.account, media, size);
    let view = json!({
        "uploadUrl": upload_url,
        "token": token,
        "url": api.assets.url_of(&name),
        "path": name.path(),
        "contentType": media.content_type(),
        "size": size,
        "expiresIn": limits::UPLOAD_SLOT_LIFETIME_SECONDS,
    });
    Ok(response::data(StatusCode::CREATED, &view))
}

/// `PUT {uploadUrl}` (UP-10 to UP-14), and the refusal of other methods after the token (S-43).
pub(crate) async fn upload(api: &Api, request: Request<'_>) -> HandlerResult {
    let parts = request.parts;
    let token = bearer(&parts.headers).map_err(|_| SlotError::NoToken)?;
    let (name, size, account) = api.slots.verify(request.asset(), parts.uri.query(), token)?;
    if parts.method != Method::PUT {
        return Err(ApiError::WrongMethod("PUT, OPTIONS".to_owned()));
    }
    let declared = name.media().content_type();
    let given = content_type(&parts.headers);
    let is_one_of = |given: &[u8]| {
        [declared, BYTES_TYPE].iter().any(|one| given.eq_ignore_ascii_case(one.as_bytes()))
    };
    if !given.is_some_and(is_one_of) {
        return Err(BodyReadError::OtherType(declared).into());
    }
    check_encoding(&parts.headers)?;
    // Spares the bytes of a repeated upload. Concurrent ones are decided by the put.
    if api.blobs.size_of(&name).await?.is_some() {
        return Err(ApiError::SlotUsed);
    }
    let mut body = pin!(exact(request.body, size)?);
    let buffered = UPLOAD_BUFFER_BYTES.min(usize::try_from(size).unwrap_or(usize::MAX));
    let _reservation = api.memory.of(account).reserve(buffered)?;
    let mut upload = api.blobs.upload();
    while let Some(bytes) = body.try_next().await? {
        upload.write(&bytes).await?;
    }
    match upload.finish(&name).await? {
        true => Ok(Response::new(response::no_body())),
        false => Err(ApiError::SlotUsed),
    }
}

/// `GET` and `HEAD` of an asset (UP-15, UP-19).
pub(crate) async fn asset(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.asset().ok_or(ApiError::NotFound)?;
    send(api, request, name).await
}

pub(crate) async fn send(api: &Api, request: Request<'_>, name: AssetName) -> HandlerResult {
    let headers = &request.parts.headers;
    let etag = format!("\"{name}\"");
    // A GET without conditions takes one call to the store, everything else needs the size first.
    let size = async || api.blobs.size_of(&name).await?.ok_or(ApiError::NotFound);
    let reply = http::Response::builder()
        .header(ETAG, &etag)
        .header(CACHE_CONTROL, "public, max-age=31536000, immutable")
        // A browser that opens the file runs nothing of it at this origin.
        .header(CONTENT_SECURITY_POLICY, "sandbox");
    if matches_etag(headers, &etag) {
        size().await?;
        return Ok(reply.status(StatusCode::NOT_MODIFIED).body(response::no_body())?);
    }
    let reply =
        reply.header(CONTENT_TYPE, name.media().content_type()).header(ACCEPT_RANGES, "bytes");
    if request.parts.method == Method::HEAD {
        return Ok(reply.header(CONTENT_LENGTH, size().await?).body(response::no_body())?);
    }
    let mut range = None;
    if let Some(text) = only_range(headers, &etag) {
        let size = size().await?;
        range = within(text, size);
        if range.as_ref().is_some_and(Range::is_empty) {
            return Err(ApiError::OutOfRange(size));
        }
    }
    let blob = api.blobs.get(&name, range.clone()).await?.ok_or(ApiError::NotFound)?;
    let reply = match range {
        None => reply.header(CONTENT_LENGTH, blob.size),
        Some(Range { start, end }) => reply
            .status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_RANGE, format!("bytes {start}-{}/{}", end - 1, blob.size))
            .header(CONTENT_LENGTH, end - start),
    };
    let reservation = api.public_memory.of(request.peer).reserve(blob.buffered)?;
    Ok(reply.body(response::file(blob.bytes, reservation))?)
}

/// The header `Range`, if there is one and its `If-Range` is `etag` (RFC 9110, 14.2).
fn only_range<'a>(headers: &'a HeaderMap, etag: &str) -> Option<&'a str> {
    let range = sole(headers, &RANGE)?;
    let applies = headers.get_all(IF_RANGE).iter().all(|condition| condition == etag);
    range.to_str().ok().filter(|_| applies)
}

/// The bytes that are asked for, which may be none. Several ranges and malformed ones are ignored.
fn within(range: &str, size: u64) -> Option<Range<u64>> {
    let (unit, range) = range.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    match range.trim().split_once('-')? {
        ("", count) => Some(size.saturating_sub(position(count)?)..size),
        (first, "") => Some(position(first)?.min(size)..size),
        (first, last) => {
            let (first, last) = (position(first)?, position(last)?);
            (first <= last).then_some(first..size.min(last.saturating_add(1)))
        }
    }
}

/// A number too large to parse is behind the end of every file.
fn position(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Whether `If-None-Match` contains this ETag, which must not contain a comma.
pub(super) fn matches_etag(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut etags = values.flat_map(|value| value.split(',')).map(str::trim);
    etags.any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == etag)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn one_byte_range_is_read_and_others_are_ignored() {
        for (text, expected) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-", 2..10),
            ("Bytes=2-4", 2..5),
            ("bytes=2-99", 2..10),
            ("bytes=-3", 7..10),
            ("bytes=-99", 0..10),
            ("bytes=-0", 10..10),
            ("bytes=10-", 10..10),
            ("bytes=99999999999999999999-", 10..10),
            ("bytes=0-99999999999999999999", 0..10),
        ] {
            assert_eq!(within(text, 10), Some(expected), "{text}");
        }
        let ignored = "|bytes|bytes=|bytes=-|bytes=a-b|bytes=3-2|bytes=+1-2|lines=0-1|\
                       bytes=0-1,3-4|bytes=1 - 2";
        for text in ignored.split('|') {
            assert_eq!(within(text, 10), None, "{text}");
        }
    }

    #[test]
    fn if_range_must_be_the_strong_etag() {
        for (condition, applies) in [
            ("\"t\"", true),
            ("W/\"t\"", false),
            ("\"u\"", false),
            ("Mon, 02 Jan 2006 15:04:05 GMT", false),
        ] {
            let headers = headers(&[(RANGE, "bytes=0-0"), (IF_RANGE, condition)]);
            assert_eq!(only_range(&headers, "\"t\"").is_some(), applies, "{condition}");
        }
    }
}
