//! What distinguishes one deployment from another: public URL, signing key, model namespace.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::Url;

/// Prefix of every path of the API (VE-01).
pub const BASE_PATH: &str = "/api/v1";

/// A URL at which clients reach the service, such as a load balancer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Url);

impl PublicUrl {
    /// Parses a URL. A path in it is the prefix that a proxy strips. The error is what it must be,
    /// without the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const NO_URL: &str = "must be a URL that begins with http:// or https://";
        let url = Url::parse(text).map_err(|_| NO_URL)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(NO_URL);
        }
        let credentials = !url.username().is_empty() || url.password().is_some();
        if credentials || url.query().is_some() || url.fragment().is_some() {
            return Err("must have no user, query or fragment");
        }
        if url.path().trim_end_matches('/').ends_with(BASE_PATH) {
            return Err("must not end in /api/v1; the server appends it");
        }
        Ok(Self(url))
    }

    /// The URL of the listener itself; the default.
    pub fn of_listener(mut local: SocketAddr) -> Self {
        // Clients cannot call the unspecified address (`0.0.0.0`, `::`).
        if local.ip().is_unspecified() {
            let v4 = local.is_ipv4();
            local.set_ip(if v4 { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        let url = Url::parse(&format!("http://{local}"));
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

/// A secret that signs what the service hands out. `Debug` hides it.
#[derive(Clone)]
pub struct SigningKey(Box<[u8]>);

impl SigningKey {
    pub const BYTES_MIN: usize = 32;

    /// `None` if the secret is shorter than [`SigningKey::BYTES_MIN`].
    pub fn new(secret: &[u8]) -> Option<Self> {
        (secret.len() >= Self::BYTES_MIN).then(|| Self(secret.into()))
    }

    #[cfg(test)]
    pub fn random() -> Self {
        Self(Box::new(rand::random::<[u8; Self::BYTES_MIN]>()))
    }

    /// HMAC-SHA-256 with this key. A signature made for one `context` never verifies in another.
    pub fn mac(&self, context: &'static str) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC accepts a key of any length")]
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0).expect("any key length");
        mac.update(context.as_bytes());
        mac.update(b"\0");
        mac
    }
}

debug_only! { SigningKey {} }

/// The namespace of a provider's models. A model id is `<namespace>/<model>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNamespace(Box<str>);

impl Default for ModelNamespace {
    fn default() -> Self {
        Self("local".into())
    }
}

impl ModelNamespace {
    /// Accepts at least one letter, digit, `.`, `_` or `-`. The error does not repeat the text.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let prefix = (!text.is_empty() && text.chars().all(allowed)).then(|| Self(text.into()));
        prefix.ok_or("is not a prefix; use letters, digits, `.`, `_` and `-`")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
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
        for (local, base) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080/api/v1"),
            ("[::]:8080", "http://[::1]:8080/api/v1"),
            ("127.0.0.1:80", "http://127.0.0.1/api/v1"),
        ] {
            assert_eq!(PublicUrl::of_listener(local.parse().unwrap()).base_url(), base);
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for (given, fault) in [
            ("", "must be a URL"),
            ("example.com", "must be a URL"),
            ("localhost:8080", "must be a URL"),
            ("ftp://example.com", "must be a URL"),
            ("https://user:pw@example.com", "must have no user"),
            ("https://example.com/?a=b", "must have no user"),
            ("https://example.com/#a", "must have no user"),
            ("https://example.com/api/v1/", "must not end in /api/v1"),
        ] {
            assert!(PublicUrl::parse(given).unwrap_err().starts_with(fault), "{given}");
        }
    }
}
