//! Checks the `Host` header. The server does not use it, but a proxy in front may read a
//! request without, with two or with an invalid one otherwise, and HTTP/1.1 wants such a
//! request refused (RFC 9112, section 3.2).

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Version};

/// The request does not have exactly one valid `Host` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an HTTP/1.1 request needs exactly one valid Host header")]
pub struct HostError;

/// Checks `Host` up to HTTP/1.1. HTTP/2 has `:authority`, which hyper has checked.
pub fn check(parts: &Parts) -> Result<(), HostError> {
    let required = parts.version == Version::HTTP_11;
    if parts.version > Version::HTTP_11 { Ok(()) } else { check_headers(&parts.headers, required) }
}

fn check_headers(headers: &HeaderMap, required: bool) -> Result<(), HostError> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if !required => Ok(()),
        (Some(host), None) if is_host(host) => Ok(()),
        _ => Err(HostError),
    }
}

/// An empty value is valid where the target has no host.
fn is_host(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    bytes.is_empty() || (!bytes.contains(&b'@') && Authority::try_from(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use http::header::HOST;
    use http::{HeaderMap, HeaderValue};

    use super::{HostError, check_headers};

    fn of(values: &[&str], required: bool) -> Result<(), HostError> {
        let values = values.iter().map(|value| (HOST, HeaderValue::from_str(value).unwrap()));
        let mut headers = HeaderMap::new();
        values.for_each(|(name, value)| {
            headers.append(name, value);
        });
        check_headers(&headers, required)
    }

    #[test]
    fn one_host_is_valid_and_none_only_before_http_1_1() {
        for host in ["a.example", "127.0.0.1:8080", "[::1]:80", ""] {
            assert_eq!(of(&[host], true), Ok(()), "{host}");
        }
        assert_eq!(of(&[], false), Ok(()));
        assert_eq!(of(&[], true), Err(HostError));
    }

    #[test]
    fn two_hosts_and_an_invalid_host_are_refused() {
        assert_eq!(of(&["a", "a"], true), Err(HostError));
        assert_eq!(of(&["a", "b"], false), Err(HostError));
        for host in ["a b", "a/b", "[::1", "a@b:1", "a:b:c"] {
            assert_eq!(of(&[host], true), Err(HostError), "{host}");
        }
    }
}
