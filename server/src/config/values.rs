//! Parsers of values. An error continues a sentence that begins with the value.

use std::convert::Infallible;
use std::time::Duration;

use promptarium::Scope;
use tracing_subscriber::filter::Targets;

use super::LogFormat;
use super::seed_key::{is_account_name, parse_scopes};
use super::setting::quote;
use crate::domain::{ModelNamespace, Scopes, SigningKey, Vendor};
use crate::store::postgres::{DatabaseUrl, Migration};

/// The value of `--provider`.
#[derive(Clone, Copy)]
pub(super) enum ProviderKind {
    Local,
    Queue,
}

pub(super) fn text(text: &str) -> Result<String, Infallible> {
    Ok(text.to_owned())
}

/// HOST:PORT. Whether the host exists turns out when the address is bound.
pub(super) fn address(text: &str) -> Result<String, &'static str> {
    let (host, port) = text.rsplit_once(':').unwrap_or_default();
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let host_is_valid = !host.is_empty() && (bracketed || !host.contains(':'));
    (host_is_valid && port.parse::<u16>().is_ok())
        .then(|| text.to_owned())
        .ok_or("is not an address; use HOST:PORT")
}

pub(super) fn integer<const MIN: usize, const MAX: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
    number.ok_or_else(|| format!("is not an integer from {MIN} to {MAX}"))
}

pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0..=3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or("is not a time; use whole seconds from 0 to 3600")
}

pub(super) fn boolean(text: &str) -> Result<bool, String> {
    one_of(text, &[("true", true), ("false", false), ("1", true), ("0", false)])
}

pub(super) fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    DatabaseUrl::parse(text).map_err(|error| format!("is not a database URL: {error}"))
}

pub(super) fn migration(text: &str) -> Result<Migration, String> {
    one_of(text, &[("auto", Migration::Auto), ("off", Migration::Off)])
}

pub(super) fn provider(text: &str) -> Result<ProviderKind, String> {
    one_of(text, &[("local", ProviderKind::Local), ("queue", ProviderKind::Queue)])
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    one_of(text, &[("pretty", LogFormat::Pretty), ("json", LogFormat::Json)])
}

fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let choice = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    choice.ok_or_else(|| format!("is not one of: {}", names()))
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

// The arguments below have no variable. Their errors are whole sentences.

pub(super) fn account_name(text: &str) -> Result<String, String> {
    let valid = is_account_name(text).then(|| text.to_owned());
    let rule = "use 1 to 200 characters without spaces, `:`, `,` and `=`";
    valid.ok_or_else(|| format!("{} is not an account name; {rule}", quote(text)))
}

pub(super) fn scopes(text: &str) -> Result<Scopes, String> {
    parse_scopes(text).ok_or_else(|| {
        let known: Vec<_> = Scope::KNOWN.iter().map(Scope::as_str).collect();
        format!("{} is not one of: {}, none", quote(text), known.join(", "))
    })
}

/// The error does not repeat the value: it may be a whole key.
pub(super) fn public_id(text: &str) -> Result<String, &'static str> {
    let valid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    valid.then(|| text.to_owned()).ok_or(
        "the value is not a public id; use the part of the key between `_live_` and the last `_`",
    )
}
