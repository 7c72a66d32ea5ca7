//! Value parsers of the flags and variables, and the keys of `--seed-key`.
//!
//! The error of a parser continues a sentence that begins with the value.

use std::time::Duration;

use clap::ValueEnum;
use promptarium::limits::API_KEY_NAME_CHARS;
use tracing_subscriber::filter::{LevelFilter, Targets};

use crate::domain::{KeyError, ModelNamespace, NewKey, Scopes, SigningKey, Vendor, account_name};
use crate::generate::queue::fields::MODEL_FIELDS;
use crate::store::postgres::DatabaseUrl;

/// The value of `--log-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

/// The value of `--provider`.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ProviderKind {
    Local,
    Queue,
}

pub(super) fn boolean(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("is not one of: true, false, 1, 0"),
    }
}

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
    let is_directive = |one: &str| one.contains('=') || one.parse::<LevelFilter>().is_ok();
    let filter = text.parse().ok().filter(|_| text.split(',').all(|one| is_directive(one.trim())));
    filter.ok_or({
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

/// An account and one of its keys, both created at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeedKey {
    pub(crate) account: String,
    /// With a digest of its secret.
    pub(crate) key: NewKey,
}

impl SeedKey {
    /// Parses `KEY=ACCOUNT[:SCOPE,…]`; the name of the account ends at the first colon. The error
    /// continues a sentence that begins with the number of the key.
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
        let scopes = if revoked { Ok(Scopes::ALL) } else { scopes(rights) };
        let scopes = scopes.map_err(|problem| format!("has a scope that {problem}, revoked"))?;
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
