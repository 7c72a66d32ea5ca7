//! Headers of requests that must not be repeated.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Version};

/// The only value of a header. `None` if there is none or more than one.
pub(crate) fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// `Host` is missing, repeated or malformed.
#[derive(Debug, thiserror::Error)]
#[error("an HTTP/1.1 request needs exactly one valid Host header")]
pub struct InvalidHost;

/// Checks `Host` up to HTTP/1.1; HTTP/2 has `:authority`, which hyper has checked. The server
/// does not use it, but a proxy in front may read a request without, with two or with an
/// invalid one otherwise, and HTTP/1.1 wants such a request refused (RFC 9112, section 3.2).
pub fn check_host(parts: &Parts) -> Result<(), InvalidHost> {
    let is_valid = match sole(&parts.headers, &HOST).map(HeaderValue::as_bytes) {
        _ if parts.version > Version::HTTP_11 => true,
        // It is empty where the target has no host.
        Some(host) => host.is_empty() || !host.contains(&b'@') && Authority::try_from(host).is_ok(),
        None => parts.version < Version::HTTP_11 && !parts.headers.contains_key(HOST),
    };
    if is_valid { Ok(()) } else { Err(InvalidHost) }
}
