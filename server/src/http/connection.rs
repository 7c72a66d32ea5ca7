//! What the requests of one connection share.

use std::net::IpAddr;

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderValue, Version};
use parking_lot::Mutex;

use crate::http::auth::ProvedKey;
use crate::http::error::ApiError;
use crate::http::headers::{Repeated, at_most_one, sole};

/// Longer values are not kept: they would take memory that nobody counts.
pub(crate) const HOST_BYTES_MAX: usize = 300;

/// A connection, as its requests see it. What one request has proved, the next one with the same
/// bytes need not prove again.
pub struct Connection {
    /// Address of the other end, which may be a proxy's.
    pub(crate) peer: IpAddr,
    pub(crate) key: ProvedKey,
    /// The value of `Host` that was checked last.
    host: Mutex<Box<[u8]>>,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Self { peer, key: ProvedKey::default(), host: Mutex::default() }
    }

    /// Runs `check`, unless the last request that passed it had the same `Host`. A request with
    /// none, several or a long one is always checked.
    pub(crate) fn check_host<E>(
        &self,
        parts: &Parts,
        check: impl Fn(&Parts) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(host) = sole(&parts.headers, &HOST).map(HeaderValue::as_bytes) else {
            return check(parts);
        };
        if host.is_empty() || host.len() > HOST_BYTES_MAX {
            return check(parts);
        }
        if **self.host.lock() != *host {
            check(parts)?;
            *self.host.lock() = host.into();
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::net::Ipv4Addr;

    use http::Request;

    use super::*;

    #[test]
    fn a_host_is_checked_again_unless_it_is_the_only_one_and_the_last_valid_one() {
        let connection = Connection::new(Ipv4Addr::LOCALHOST.into());
        let checks = |hosts: &[&str]| {
            let request =
                hosts.iter().fold(Request::builder(), |request, host| request.header(HOST, *host));
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let checked = Cell::new(false);
            let outcome = connection.check_host(&parts, |_| {
                checked.set(true);
                if hosts == ["bad"] { Err(()) } else { Ok(()) }
            });
            (checked.get(), outcome.is_ok())
        };
        for (hosts, expected) in [
            (&["a"][..], (true, true)),
            (&["a"], (false, true)),
            (&["bad"], (true, false)),
            (&["bad"], (true, false)),
            (&["a"], (false, true)),
            (&["a", "a"], (true, true)),
            (&[], (true, true)),
            (&["b"], (true, true)),
            (&["a"], (true, true)),
        ] {
            assert_eq!(checks(hosts), expected, "{hosts:?}");
        }
    }
}
