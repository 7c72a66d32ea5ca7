//! The public URL of the service: the prefix of every URL it returns.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Url;

/// Prefix of every path of the API (VE-01).
pub const BASE_PATH: &str = "/api/v1";

/// A URL at which clients reach the service, such as a load balancer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Url);

/// Why a text is not a public URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlError {
    /// Not an http or https URL.
    #[error("must be a URL that begins with http:// or https://")]
    NoUrl,
    /// It has a user, a query or a fragment.
    #[error("must have no user, query or fragment")]
    NotPlain,
    /// It ends in the base path, which the service appends.
    #[error("must not end in {BASE_PATH}; the server appends it")]
    WithBasePath,
}

impl PublicUrl {
    /// Parses a URL. A path in it is the prefix that a proxy strips.
    ///
    /// # Errors
    /// If it is not a public URL. The error does not repeat the text: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, PublicUrlError> {
        let url = Url::parse(text).map_err(|_| PublicUrlError::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(PublicUrlError::NoUrl);
        }
        let credentials = !url.username().is_empty() || url.password().is_some();
        if credentials || url.query().is_some() || url.fragment().is_some() {
            return Err(PublicUrlError::NotPlain);
        }
        if url.path().trim_end_matches('/').ends_with(BASE_PATH) {
            return Err(PublicUrlError::WithBasePath);
        }
        Ok(Self(url))
    }

    /// The URL of the listener itself; the default.
    pub fn of_listener(local: SocketAddr) -> Self {
        let url = Url::parse(&format!("http://{}", reachable(local)));
        #[expect(clippy::expect_used, reason = "an IP address and a port are a host and a port")]
        Self(url.expect("a socket's address makes a URL"))
    }

    /// The URL as given; it may end in a slash.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The root of the API (EN-01).
    pub fn base_url(&self) -> String {
        format!("{}{BASE_PATH}", self.0.as_str().trim_end_matches('/'))
    }
}

/// Replaces the unspecified address (`0.0.0.0`, `::`), which clients cannot call, by loopback.
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
    fn the_base_path_is_appended_to_the_public_url() {
        for (given, base) in [
            ("https://api.example.com", "https://api.example.com/api/v1"),
            ("https://api.example.com/", "https://api.example.com/api/v1"),
            ("http://example.com:8080/prompts/", "http://example.com:8080/prompts/api/v1"),
        ] {
            assert_eq!(PublicUrl::parse(given).unwrap().base_url(), base);
        }
    }

    #[test]
    fn the_default_is_the_listeners_address() {
        let base = |local: &str| PublicUrl::of_listener(local.parse().unwrap()).base_url();
        assert_eq!(base("127.0.0.1:8080"), "http://127.0.0.1:8080/api/v1");
        assert_eq!(base("0.0.0.0:8080"), "http://127.0.0.1:8080/api/v1");
        assert_eq!(base("[::]:8080"), "http://[::1]:8080/api/v1");
        assert_eq!(base("127.0.0.1:80"), "http://127.0.0.1/api/v1");
    }

    #[test]
    fn other_texts_are_rejected() {
        use PublicUrlError::{NoUrl, NotPlain, WithBasePath};
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
