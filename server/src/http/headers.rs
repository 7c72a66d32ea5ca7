//! Headers of requests that must not be repeated.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Version};

/// The value of a header, if there is one.
///
/// # Errors
/// There is more than one.
pub(crate) fn at_most_one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_none() { Ok(first) } else { Err(Repeated) }
}

/// The only value of a header. `None` if there is none or more than one.
pub(crate) fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    at_most_one(headers, name).ok().flatten()
}

/// A header has more than one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeated;

/// `Host` is missing, repeated or malformed.
#[derive(Debug, thiserror::Error)]
#[error("an HTTP/1.1 request needs exactly one valid Host header")]
pub struct InvalidHost;

/// Checks `Host` up to HTTP/1.1; HTTP/2 has `:authority`, which hyper has checked. The server
/// does not use it, but a proxy in front may read a request without, with two or with an
/// invalid one otherwise, and HTTP/1.1 wants such a request refused (RFC 9112, section 3.2).
pub fn check_host(parts: &Parts) -> Result<(), InvalidHost> {
    let host = at_most_one(&parts.headers, &HOST);
    let is_valid = match host.map(|host| host.map(HeaderValue::as_bytes)) {
        _ if parts.version > Version::HTTP_11 => true,
        Ok(None) => parts.version < Version::HTTP_11,
        // It is empty where the target has no host.
        Ok(Some(b"")) => true,
        Ok(Some(host)) => !host.contains(&b'@') && Authority::try_from(host).is_ok(),
        Err(Repeated) => false,
    };
    if is_valid { Ok(()) } else { Err(InvalidHost) }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn a_repeated_header_has_no_sole_value() {
        let mut headers = HeaderMap::new();
        for (name, value) in [(HOST, "a"), (ACCEPT, "b"), (ACCEPT, "c")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(at_most_one(&headers, &ACCEPT), Err(Repeated));
        assert_eq!(sole(&headers, &ACCEPT), None);
        assert_eq!(sole(&headers, &HOST).unwrap(), "a");
        headers.clear();
        assert_eq!(at_most_one(&headers, &HOST), Ok(None));
    }
}
