//! `/assets`: stored files, public to everyone who has the URL (S-45).
//!
//! The file at a URL never changes, so clients may cache it forever, and its name is its ETag.

use std::ops::Range;

use http::header::{
    ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::{Api, HandlerResult, Request};
use crate::blobs::AssetName;
use crate::http::error::ApiError;
use crate::http::response::{self, Response};

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The requested part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    /// From the first position to the last one, inclusive, or to the end.
    From(u64, Option<u64>),
    /// The last bytes.
    Last(u64),
}

/// `GET` and `HEAD` of an asset (UP-15, UP-19).
pub(crate) async fn get(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.asset().ok_or(ApiError::NotFound)?;
    let headers = &request.parts.headers;
    let etag = format!("\"{name}\"");
    let size = async || api.blobs.size_of(&name).await?.ok_or(ApiError::NotFound);
    let read = async |range| api.blobs.get(&name, range).await?.ok_or(ApiError::NotFound);
    // A plain GET takes one call to the store, everything else needs the size first.
    let mut reply = if matches_etag(headers, &etag) {
        size().await?;
        response::empty(StatusCode::NOT_MODIFIED)
    } else if request.parts.method == Method::HEAD {
        describe(response::empty(StatusCode::OK), &name, size().await?)
    } else if let Some(requested) = requested_range(headers, &etag) {
        let size = size().await?;
        let range = requested.within(size).ok_or(ApiError::OutOfRange(size))?;
        let blob = read(Some(range.clone())).await?;
        let body = Response::new(response::stream(blob.bytes));
        let mut reply = describe(body, &name, range.end - range.start);
        *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
        let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        insert_text(reply.headers_mut(), CONTENT_RANGE, &content_range);
        reply
    } else {
        let blob = read(None).await?;
        describe(Response::new(response::stream(blob.bytes)), &name, blob.size)
    };
    let headers = reply.headers_mut();
    insert_text(headers, ETAG, &etag);
    headers.insert(CACHE_CONTROL, IMMUTABLE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(reply)
}

/// Adds the headers that describe the body, also where HEAD leaves it out.
fn describe(mut reply: Response, name: &AssetName, length: u64) -> Response {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(name.media().content_type()));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    reply
}

/// The texts are always valid header values.
fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}

impl RequestedRange {
    /// The range in a file of this size; `None` if it contains no byte of it.
    fn within(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From(first, None) => first..size,
            Self::From(first, Some(last)) => first..size.min(last.saturating_add(1)),
            Self::Last(count) => size.saturating_sub(count)..size,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// The range that is asked for. Several ranges, other units and malformed ones are ignored, as
/// is a range whose `If-Range` is not `etag` (RFC 9110, 14.2).
fn requested_range(headers: &HeaderMap, etag: &str) -> Option<RequestedRange> {
    let mut ranges = headers.get_all(RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else {
        return None;
    };
    if headers.get_all(IF_RANGE).iter().any(|condition| condition != etag) {
        return None;
    }
    let (unit, range) = range.to_str().ok()?.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    match range.trim().split_once('-')? {
        ("", count) => position(count).map(RequestedRange::Last),
        (first, "") => position(first).map(|first| RequestedRange::From(first, None)),
        (first, last) => {
            let (first, last) = (position(first)?, position(last)?);
            (first <= last).then_some(RequestedRange::From(first, Some(last)))
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
    use super::*;

    fn headers(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn one_byte_range_is_parsed() {
        for (text, range, within) in [
            ("bytes=0-0", RequestedRange::From(0, Some(0)), Some(0..1)),
            ("bytes=2-", RequestedRange::From(2, None), Some(2..10)),
            ("Bytes=2-4", RequestedRange::From(2, Some(4)), Some(2..5)),
            ("bytes=2-99", RequestedRange::From(2, Some(99)), Some(2..10)),
            ("bytes=-3", RequestedRange::Last(3), Some(7..10)),
            ("bytes=-99", RequestedRange::Last(99), Some(0..10)),
            ("bytes=-0", RequestedRange::Last(0), None),
            ("bytes=10-", RequestedRange::From(10, None), None),
            ("bytes=99999999999999999999-", RequestedRange::From(u64::MAX, None), None),
            ("bytes=0-99999999999999999999", RequestedRange::From(0, Some(u64::MAX)), Some(0..10)),
        ] {
            let requested = requested_range(&headers(&[(RANGE, text)]), "\"t\"");
            assert_eq!(requested, Some(range), "{text}");
            assert_eq!(range.within(10), within, "{text}");
        }
    }

    #[test]
    fn other_ranges_are_ignored() {
        let ignored = "|bytes|bytes=|bytes=-|bytes=a-b|bytes=3-2|bytes=+1-2|lines=0-1|\
                       bytes=0-1,3-4|bytes=1 - 2";
        for text in ignored.split('|') {
            assert_eq!(requested_range(&headers(&[(RANGE, text)]), "\"t\""), None, "{text}");
        }
        assert_eq!(requested_range(&HeaderMap::new(), "\"t\""), None);
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
            let requested = requested_range(&headers, "\"t\"");
            assert_eq!(requested.is_some(), applies, "{condition}");
        }
    }

    #[test]
    fn if_none_match_is_compared_weakly() {
        for (text, has) in [
            ("\"t\"", true),
            ("W/\"t\"", true),
            ("*", true),
            ("\"a\", \"t\"", true),
            ("\"a\"", false),
            ("t", false),
            ("", false),
        ] {
            assert_eq!(matches_etag(&headers(&[(IF_NONE_MATCH, text)]), "\"t\""), has, "{text}");
        }
    }
}
