//! What the requests of one connection share.

use std::net::IpAddr;

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderValue, Version};

use crate::http::auth::ProvedKey;
use crate::http::error::ApiError;
use crate::http::headers::{Repeated, at_most_one};

/// A connection, as its requests see it.
pub struct Connection {
    /// Address of the other end, which may be a proxy's.
    pub(crate) peer: IpAddr,
    /// What one request has proved, the next one need not prove again.
    pub(crate) key: ProvedKey,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Self { peer, key: ProvedKey::default() }
    }
}

/// Checks `Host` up to HTTP/1.1; HTTP/2 has `:authority`, which hyper has checked. The server
/// does not use it, but a proxy in front may read a request without, with two or with an
/// invalid one otherwise, and HTTP/1.1 wants such a request refused (RFC 9112, section 3.2).
pub fn check_host(parts: &Parts) -> Result<(), ApiError> {
    let host = at_most_one(&parts.headers, &HOST);
    let is_valid = match host.map(|host| host.map(HeaderValue::as_bytes)) {
        _ if parts.version > Version::HTTP_11 => true,
        Ok(None) => parts.version < Version::HTTP_11,
        // It is empty where the target has no host.
        Ok(Some(b"")) => true,
        Ok(Some(host)) => !host.contains(&b'@') && Authority::try_from(host).is_ok(),
        Err(Repeated) => false,
    };
    if is_valid { Ok(()) } else { Err(ApiError::Host) }
}
