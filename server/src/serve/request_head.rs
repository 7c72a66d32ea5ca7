//! What is read of every request's head: `Host` and `x-request-id`.

use data_encoding::HEXLOWER;
use http::header::{GetAll, HOST};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Version};

use crate::http::error::ApiError;
use crate::limits::REQUEST_ID_CHARS_MAX;

/// Checks `Host` up to HTTP/1.1; HTTP/2 has `:authority`, which hyper has checked. The server
/// does not use it, but a proxy in front may read a request without, with two or with an
/// invalid one otherwise, and HTTP/1.1 wants such a request refused (RFC 9112, section 3.2).
pub fn check_host(parts: &Parts) -> Result<(), ApiError> {
    let required = parts.version == Version::HTTP_11;
    let is_valid = parts.version > Version::HTTP_11 || has_valid_host(&parts.headers, required);
    if is_valid { Ok(()) } else { Err(ApiError::Host) }
}

fn has_valid_host(headers: &HeaderMap, required: bool) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next().map(HeaderValue::as_bytes), hosts.next()) {
        (None, _) => !required,
        // It is empty where the target has no host.
        (Some(b""), None) => true,
        (Some(host), None) => !host.contains(&b'@') && Authority::try_from(host).is_ok(),
        _ => false,
    }
}

/// The id of a request, for its response and the log: a client's own id of 1 to 128 letters,
/// digits, `.`, `_` and `-`, or a random one. Anything else could break a log line.
pub(super) fn request_id(given: &GetAll<'_, HeaderValue>) -> HeaderValue {
    let mut given = given.iter();
    match (given.next(), given.next()) {
        (Some(id), None) if is_usable(id.as_bytes()) => id.clone(),
        _ => random_id(),
    }
}

fn is_usable(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.iter().all(plain)
}

fn random_id() -> HeaderValue {
    let mut text = [0; 32];
    let encoded = HEXLOWER.encode_mut_str(&rand::random::<[u8; 16]>(), &mut text);
    HeaderValue::from_str(encoded).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn exactly_one_valid_host_is_required_by_http_1_1() {
        let is_valid =
            |values: &[&str], required| has_valid_host(&headers("host", values), required);
        for host in ["a.example", "127.0.0.1:8080", "[::1]:80", ""] {
            assert!(is_valid(&[host], true), "{host}");
        }
        for host in ["a b", "a/b", "[::1", "a@b:1", "a:b:c"] {
            assert!(!is_valid(&[host], true), "{host}");
        }
        assert_eq!([false, true].map(|required| is_valid(&[], required)), [true, false]);
        assert!(!is_valid(&["a", "a"], true) && !is_valid(&["a", "b"], false));
    }

    #[test]
    fn a_request_id_that_is_not_usable_is_replaced_by_a_random_one() {
        let id_of = |given: &[&str]| {
            let headers = headers("x-request-id", given);
            request_id(&headers.get_all("x-request-id")).to_str().unwrap().to_owned()
        };
        let (longest, too_long) = ("x".repeat(128), "x".repeat(129));
        for usable in ["a.B_c-9", &longest] {
            assert_eq!(id_of(&[usable]), usable);
        }
        for given in [&[][..], &[""], &["a b"], &["a\"b"], &[&too_long], &["a", "b"]] {
            let id = id_of(given);
            assert_eq!(id.len(), 32, "{given:?}");
            assert_ne!(id, id_of(given));
        }
    }
}
