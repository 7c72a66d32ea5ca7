//! Value parsers of the flags and variables, and the keys of `--seed-key`.
//!
//! clap's own errors repeat a wrong value, so every value goes through [`quoted`] or [`secret`],
//! and only their problem is shown.

use std::fmt::Display;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use promptarium::limits::API_KEY_NAME_CHARS;
use tracing_subscriber::filter::Targets;

use crate::domain::{KeyError, ModelNamespace, NewKey, Scopes, SigningKey, Vendor, account_name};
use crate::generate::queue::fields::MODEL_FIELDS;
use crate::store::postgres::{DatabaseUrl, Migration};

/// The value of `--log-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

/// The value of `--provider`.
#[derive(Clone, Copy)]
pub(crate) enum ProviderKind {
    Local,
    Queue,
}

/// Parses a value that may appear in an error. The error of `parse` continues a sentence that
/// begins with the value.
pub(super) fn quoted<T: Clone + Send + Sync + 'static, E: Display>(
    parse: impl Fn(&str) -> Result<T, E> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    checked(move |text: &str| {
        // What could be a secret in the wrong place is not repeated.
        let suspicious = text.len() > 40 || text.contains("_live_") || text.contains('@');
        let shown = || if suspicious { "the value".to_owned() } else { format!("{text:?}") };
        parse(text).map_err(|problem| format!("{} {problem}", shown()))
    })
}

/// Parses a value that is a secret or may contain one: it appears in no error.
pub(super) fn secret<T: Clone + Send + Sync + 'static, E: Display + 'static>(
    parse: fn(&str) -> Result<T, E>,
) -> impl TypedValueParser<Value = T> {
    checked(move |text: &str| parse(text).map_err(|problem| format!("the value {problem}")))
}

/// White space around a value does not count: a file with a secret ends in a newline. The problem
/// is the source of clap's error.
fn checked<T: Clone + Send + Sync + 'static>(
    parse: impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    OsStringValueParser::new().try_map(move |value| match value.to_str() {
        Some(text) => parse(text.trim()),
        None => Err("the value is not UTF-8 text".to_owned()),
    })
}

/// Parses one of several words.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&str, T)],
) -> impl TypedValueParser<Value = T> {
    quoted(move |text| {
        let choice = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        choice.ok_or_else(|| format!("is not one of: {}", names()))
    })
}

pub(super) const BOOLEANS: [(&str, bool); 4] =
    [("true", true), ("false", false), ("1", true), ("0", false)];
pub(super) const MIGRATIONS: [(&str, Migration); 2] =
    [("auto", Migration::Auto), ("off", Migration::Off)];
pub(super) const PROVIDERS: [(&str, ProviderKind); 2] =
    [("local", ProviderKind::Local), ("queue", ProviderKind::Queue)];
pub(super) const LOG_FORMATS: [(&str, LogFormat); 2] =
    [("pretty", LogFormat::Pretty), ("json", LogFormat::Json)];

/// HOST:PORT, or a port of this machine. Whether the host exists turns out when the address is bound.
pub(super) fn address(text: &str) -> Result<String, &'static str> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let valid = port.parse::<u16>().is_ok() && (bracketed || !host.contains(':'));
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    valid.then(|| format!("{host}:{port}")).ok_or("is not an address; use HOST:PORT or PORT")
}

pub(super) fn integer<const MIN: usize, const MAX: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
    number.ok_or_else(|| format!("is not an integer from {MIN} to {MAX}"))
}

pub(super) fn seconds<const MIN: u64>(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (MIN..=3600).contains(seconds));
    let problem = || format!("is not a time; use whole seconds from {MIN} to 3600");
    seconds.map(Duration::from_secs).ok_or_else(problem)
}

/// The beginning of model ids, and the field that these models take.
pub(super) fn model_field(text: &str) -> Result<(String, String), String> {
    let (prefix, field) = text.split_once('=').unwrap_or_default();
    if !MODEL_FIELDS.contains(&field) {
        return Err(format!("is not PREFIX=FIELD with a field of: {}", MODEL_FIELDS.join(", ")));
    }
    Ok((prefix.to_owned(), field.to_owned()))
}

pub(super) fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    let known = cfg!(feature = "postgres");
    let problem = if known { "is not a database URL" } else { "cannot be used" };
    DatabaseUrl::parse(text).map_err(|error| format!("{problem}: {error}"))
}

pub(super) fn log_filter(text: &str) -> Result<Targets, &'static str> {
    text.parse().map_err(|_| {
        "is not a log filter; use off, error, warn, info, debug, trace, or a list of target=level"
    })
}

pub(super) fn vendor(text: &str) -> Result<Vendor, &'static str> {
    Vendor::new(text).ok_or("is not a vendor; use lower-case letters and digits")
}

pub(super) fn model_namespace(text: &str) -> Result<ModelNamespace, &'static str> {
    ModelNamespace::new(text).ok_or("is not a prefix; use letters, digits, `.`, `_` and `-`")
}

pub(super) fn signing_key(text: &str) -> Result<SigningKey, String> {
    let too_short = || format!("must have at least {} characters", SigningKey::BYTES_MIN);
    SigningKey::new(text.as_bytes()).ok_or_else(too_short)
}

pub(super) fn key_name(text: &str) -> Result<String, &'static str> {
    let valid =
        API_KEY_NAME_CHARS.contains(&text.chars().count()) && !text.contains(char::is_control);
    valid.then(|| text.to_owned()).ok_or("is not the name of a key; use 1 to 100 characters")
}

pub(super) fn scopes(text: &str) -> Result<Scopes, &'static str> {
    match text {
        "none" => Ok(Scopes::default()),
        list if list.split(',').all(|name| name == "prompts:write") => Ok(Scopes::ALL),
        _ => Err("is not one of: prompts:write, none"),
    }
}

/// May be a whole key by mistake.
pub(super) fn public_id(text: &str) -> Result<String, &'static str> {
    let valid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let problem = "is not a public id; use the part of the key between `_live_` and the last `_`";
    valid.then(|| text.to_owned()).ok_or(problem)
}

const UNKNOWN_SCOPE: &str = "has an unknown scope after the account; the scopes are: \
                             prompts:write (or `none`, or `revoked`)";

/// An account and one of its keys, both created at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeedKey {
    pub(crate) account: String,
    /// With a digest of its secret.
    pub(crate) key: NewKey,
}

impl SeedKey {
    /// Parses `KEY=ACCOUNT[:SCOPE,…]`. The name of the account ends at the first colon.
    /// Without scopes the key has all of them; `none` gives it none, `revoked` makes it a
    /// revoked key.
    /// The error is the first problem; it continues a sentence that begins with the number of the key.
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
        let mut parts = rest.splitn(2, ':');
        let account = account_name(parts.next().unwrap_or_default()).map_err(|_| {
            "needs an account name of at most 200 characters after the `=`, without spaces, `,` \
             or `=` (KEY=ACCOUNT[:SCOPE,...])"
        })?;
        let (scopes, revoked) = match parts.next() {
            None => (Scopes::ALL, false),
            Some("revoked") => (Scopes::ALL, true),
            Some(list) => (scopes(list).map_err(|_| UNKNOWN_SCOPE)?, false),
        };
        let (public_id, digest) = (key.public_id().into(), key.digest());
        Ok(Self { account, key: NewKey { public_id, name: None, digest, scopes, revoked } })
    }

    /// Parses several. The error begins with the number of the key.
    pub(crate) fn parse_all(texts: &[String], vendor: &Vendor) -> Result<Vec<Self>, String> {
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

    fn parse(text: &str) -> Result<SeedKey, String> {
        SeedKey::parse(text, &Vendor::new("promptarium").unwrap())
    }

    #[test]
    fn parses_account_scopes_and_revocation() {
        for (rest, account, prompts_write, revoked) in [
            ("alice", "alice", true, false),
            ("alice:prompts:write", "alice", true, false),
            ("alice:none", "alice", false, false),
            ("alice:revoked", "alice", true, true),
        ] {
            let seed = parse(&format!("promptarium_live_a1_s3cret={rest}")).unwrap();
            assert_eq!((seed.account.as_str(), &*seed.key.public_id), (account, "a1"), "{rest}");
            assert_eq!(seed.key.scopes, Scopes { prompts_write }, "{rest}");
            assert_eq!(seed.key.revoked, revoked, "{rest}");
        }
    }

    #[test]
    fn errors_do_not_contain_the_text() {
        let (name, form) = ("needs an account name", "has no key of the form promptarium_live_");
        let scope = "has an unknown scope";
        for (text, expected) in [
            ("promptarium_live_a1_s3cret", "has no `=`"),
            ("promptarium_live_a1_s3cret=", name),
            ("promptarium_live_a1_s3cret=a b", name),
            ("promptarium_live_a1_s3cret=alice,promptarium_live_b1_s3cret=bob", name),
            ("s3cret=alice", form),
            ("promptarium_live_p1aaaaaaaaaaaaaa_s3cret=alice", "has a key with a wrong checksum"),
            ("promptarium_live_a1_s3cret=alice:prompts:read", scope),
            ("promptarium_live_a1_x=alice:prompts:write,promptarium_live_b1_s3cret=bob", scope),
        ] {
            let error = parse(text).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
