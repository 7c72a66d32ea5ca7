//! Whom a request says it is for. The server does not choose by it; but a request
//! that names nobody, two or nonsense may have been read otherwise by whatever
//! stands before the server, and HTTP/1.1 wants it refused (RFC 9112, section 3.2).

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Version};

/// The request does not say in one `Host` header whom it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an HTTP/1.1 request needs exactly one valid Host header")]
pub struct HostRefusal;

/// Looks at `Host` where HTTP asks for it. HTTP/2 has a field of its own, which the
/// HTTP library has checked.
///
/// # Errors
/// If it is missing, there twice, or no host.
pub fn check(parts: &Parts) -> Result<(), HostRefusal> {
    let required = parts.version == Version::HTTP_11;
    if parts.version > Version::HTTP_11 { Ok(()) } else { among(&parts.headers, required) }
}

fn among(headers: &HeaderMap, required: bool) -> Result<(), HostRefusal> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if !required => Ok(()),
        (Some(host), None) if is_host(host) => Ok(()),
        _ => Err(HostRefusal),
    }
}

/// Empty is right where an address has no host.
fn is_host(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    bytes.is_empty() || (!bytes.contains(&b'@') && Authority::try_from(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use http::header::HOST;
    use http::{HeaderMap, HeaderValue};

    use super::{HostRefusal, among};

    fn of(values: &[&str], required: bool) -> Result<(), HostRefusal> {
        let values = values.iter().map(|value| (HOST, HeaderValue::from_str(value).unwrap()));
        let mut headers = HeaderMap::new();
        values.for_each(|(name, value)| {
            headers.append(name, value);
        });
        among(&headers, required)
    }

    #[test]
    fn one_host_is_right_and_none_only_where_it_is_not_asked_for() {
        for host in ["a.example", "127.0.0.1:8080", "[::1]:80", ""] {
            assert_eq!(of(&[host], true), Ok(()), "{host}");
        }
        assert_eq!(of(&[], false), Ok(()));
        assert_eq!(of(&[], true), Err(HostRefusal));
    }

    #[test]
    fn two_hosts_and_nonsense_are_refused() {
        assert_eq!(of(&["a", "a"], true), Err(HostRefusal));
        assert_eq!(of(&["a", "b"], false), Err(HostRefusal));
        for host in ["a b", "a/b", "[::1", "a@b:1", "a:b:c"] {
            assert_eq!(of(&[host], true), Err(HostRefusal), "{host}");
        }
    }
}
