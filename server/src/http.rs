//! Reading requests and writing responses: what the listener and the handlers share, such as headers
//! that must not be repeated, and the id of a request.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod browser;
pub(crate) mod compression;
pub(crate) mod cors;
pub(crate) mod cursor;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod path;
pub(crate) mod rates;
pub(crate) mod response;
pub(crate) mod validate;

use http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The only value of a header. `None` if there is none or more than one.
pub(crate) fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// The id of a request: a client's own of 1 to 128 letters, digits, `.`, `_` and `-` (S-69), or a
/// random one. Anything else could break a log line.
pub(crate) fn request_id(headers: &HeaderMap) -> HeaderValue {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_usable =
        |id: &HeaderValue| (1..=128).contains(&id.len()) && id.as_bytes().iter().all(plain);
    match sole(headers, &REQUEST_ID) {
        Some(id) if is_usable(id) => id.clone(),
        _ => HeaderValue::try_from(format!("{:032x}", rand::random::<u128>()))
            .unwrap_or_else(|_| HeaderValue::from_static("none")),
    }
}
