//! What distinguishes one deployment from another: public URL, signing key, model namespace, and the
//! keys that exist from the start.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::Url;

use super::{KeyError, NewKey, Scopes, Vendor, account_name};

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

/// An account and one of its keys, both created at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedKey {
    pub account: String,
    pub key: NewKey,
}

impl SeedKey {
    /// Parses `KEY=ACCOUNT[:SCOPE,…]`. The error continues a sentence that begins with a number.
    fn parse(text: &str, vendor: &Vendor) -> Result<Self, String> {
        let (key, rest) = text
            .split_once('=')
            .ok_or("has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])")?;
        let key = vendor.read(key).map_err(|error| match error {
            KeyError::Form => {
                format!("has no key of the form {vendor}_live_<public id>_<secret> before the `=`")
            }
            KeyError::Checksum => {
                "has a key with a wrong checksum: it was cut short or mistyped".to_owned()
            }
        })?;
        let (account, rights) = rest.split_once(':').unwrap_or((rest, "prompts:write"));
        let no_account = |problem| format!("has after the `=` what {problem}");
        let account = account_name(account).map_err(no_account)?;
        let revoked = rights == "revoked";
        let scopes = if revoked { Ok(Scopes::ALL) } else { Scopes::parse(rights) };
        let scopes = scopes.map_err(|problem| format!("has a scope that {problem}, revoked"))?;
        Ok(Self { account, key: NewKey { revoked, ..NewKey::new(&key, scopes) } })
    }

    /// Parses several. The error begins with the number of the key.
    pub fn parse_all(texts: &[String], vendor: &Vendor) -> Result<Vec<Self>, String> {
        let mut seeds: Vec<Self> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let problem = |problem| format!("number {} {problem}", at + 1);
            let seed = Self::parse(text, vendor).map_err(problem)?;
            let clash = |other: &Self| other.key.public_id == seed.key.public_id && *other != seed;
            if seeds.iter().any(clash) {
                return Err(problem("has the public id of another one".to_owned()));
            }
            seeds.push(seed);
        }
        Ok(seeds)
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

    #[test]
    fn a_seed_key_has_an_account_and_rights_and_errors_do_not_contain_it() {
        let name = "has after the `=` what is not an account name";
        let scope = "has a scope that is not one of: prompts:write, none, revoked";
        let checksum = "has a key with a wrong checksum";
        let form = "has no key of the form promptarium_live_";
        for (text, expected) in [
            ("a1_s3cret=alice", Ok((true, false))),
            ("a1_s3cret=alice:prompts:write", Ok((true, false))),
            ("a1_s3cret=alice:none", Ok((false, false))),
            ("a1_s3cret=alice:revoked", Ok((true, true))),
            ("a1_s3cret", Err("has no `=`")),
            ("a1_s3cret=", Err(name)),
            ("a1_s3cret=a b", Err(name)),
            ("a1_s3cret=alice,promptarium_live_b1_s3cret=bob", Err(name)),
            ("=alice", Err(form)),
            ("p1aaaaaaaaaaaaaa_s3cret=alice", Err(checksum)),
            ("a1_s3cret=alice:prompts:read", Err(scope)),
            ("a1_x=alice:prompts:write,promptarium_live_b1_s3cret=bob", Err(scope)),
        ] {
            let vendor = Vendor::new("promptarium").unwrap();
            match (SeedKey::parse(&format!("promptarium_live_{text}"), &vendor), expected) {
                (Ok(SeedKey { account, key }), Ok((prompts_write, revoked))) => {
                    assert_eq!((&*account, &*key.public_id), ("alice", "a1"), "{text}");
                    let rights = (key.scopes.prompts_write, key.revoked);
                    assert_eq!(rights, (prompts_write, revoked), "{text}");
                }
                (Err(error), Err(expected)) => {
                    assert!(!error.contains("s3cret"), "{error}");
                    assert!(error.starts_with(expected), "{text}: {error}");
                }
                (outcome, _) => panic!("{text}: {outcome:?}"),
            }
        }
    }
}
