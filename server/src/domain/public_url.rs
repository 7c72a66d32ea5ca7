//! The address under which clients reach the service: the beginning of every
//! address it hands out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Url;

/// What every path of the API begins with (VE-01).
pub const BASE_PATH: &str = "/api/v1";

/// An address that clients can call, such as a balancer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Url);

/// What is wrong with a public address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlFault {
    /// It is no address of a web server.
    #[error("must be a URL that begins with http:// or https://")]
    NoUrl,
    /// It holds more than an address.
    #[error("must be a plain address, without user, query or fragment")]
    NotPlain,
    /// The base path is added by the service.
    #[error("must not end in {BASE_PATH}, which is added to it")]
    WithBasePath,
}

impl PublicUrl {
    /// Reads an address; a path is taken as the prefix a proxy strips.
    ///
    /// # Errors
    /// If it is none. The error does not repeat it: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, PublicUrlFault> {
        let url = Url::parse(text).map_err(|_| PublicUrlFault::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(PublicUrlFault::NoUrl);
        }
        let credentials = !url.username().is_empty() || url.password().is_some();
        if credentials || url.query().is_some() || url.fragment().is_some() {
            return Err(PublicUrlFault::NotPlain);
        }
        if url.path().trim_end_matches('/').ends_with(BASE_PATH) {
            return Err(PublicUrlFault::WithBasePath);
        }
        Ok(Self(url))
    }

    /// The address of a listener itself, for want of a better one.
    pub fn of_listener(local: SocketAddr) -> Self {
        let url = Url::parse(&format!("http://{}", reachable(local)));
        #[expect(clippy::expect_used, reason = "an IP address and a port are a host and a port")]
        Self(url.expect("a socket's address makes a URL"))
    }

    /// The address as it is; it may end in a slash.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The root of the API (EN-01).
    pub fn base_url(&self) -> String {
        format!("{}{BASE_PATH}", self.0.as_str().trim_end_matches('/'))
    }
}

/// "All addresses" is none that a client can call.
fn reachable(mut local: SocketAddr) -> SocketAddr {
    match local.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => local.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => local.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_path_is_added_to_the_public_address() {
        for (given, base) in [
            ("https://api.example.com", "https://api.example.com/api/v1"),
            ("https://api.example.com/", "https://api.example.com/api/v1"),
            ("http://example.com:8080/prompts/", "http://example.com:8080/prompts/api/v1"),
        ] {
            assert_eq!(PublicUrl::parse(given).unwrap().base_url(), base);
        }
    }

    #[test]
    fn without_one_it_is_the_listeners_own() {
        let base = |local: &str| PublicUrl::of_listener(local.parse().unwrap()).base_url();
        assert_eq!(base("127.0.0.1:8080"), "http://127.0.0.1:8080/api/v1");
        assert_eq!(base("0.0.0.0:8080"), "http://127.0.0.1:8080/api/v1");
        assert_eq!(base("[::]:8080"), "http://[::1]:8080/api/v1");
        assert_eq!(base("127.0.0.1:80"), "http://127.0.0.1/api/v1");
    }

    #[test]
    fn other_texts_are_refused() {
        use PublicUrlFault::{NoUrl, NotPlain, WithBasePath};
        for (given, fault) in [
            ("", NoUrl),
            ("example.com", NoUrl),
            ("localhost:8080", NoUrl),
            ("ftp://example.com", NoUrl),
            ("https://user:pw@example.com", NotPlain),
            ("https://example.com/?a=b", NotPlain),
            ("https://example.com/#a", NotPlain),
            ("https://example.com/api/v1/", WithBasePath),
        ] {
            assert_eq!(PublicUrl::parse(given), Err(fault), "{given}");
        }
    }
}
