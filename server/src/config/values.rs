//! Value parsers of the flags and variables.
//!
//! clap's own errors repeat a wrong value and name the flag even if the value came from the
//! variable, so every value goes through [`quoted`] or [`secret`].

use std::ffi::OsStr;
use std::fmt::Display;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, Command};
use promptarium::Scope;
use tracing_subscriber::filter::Targets;

use super::LogFormat;
use super::seed_key::{is_account_name, parse_scopes};
use crate::domain::{ModelNamespace, Scopes, SigningKey, Vendor};
use crate::store::postgres::{DatabaseUrl, Migration};

/// The value of `--provider`.
#[derive(Clone, Copy)]
pub(super) enum ProviderKind {
    Local,
    Queue,
}

/// Parses a value that may appear in an error. The error of `parse` continues a sentence that
/// begins with the value.
pub(super) fn quoted<T: Clone + Send + Sync + 'static, E: Display + 'static>(
    parse: fn(&str) -> Result<T, E>,
) -> impl TypedValueParser<Value = T> {
    ValueParser(move |text: &str| {
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
    ValueParser(move |text: &str| parse(text).map_err(|problem| format!("the value {problem}")))
}

#[derive(Clone)]
struct ValueParser<F>(F);

impl<F, T> TypedValueParser for ValueParser<F>
where
    F: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    type Value = T;

    /// The error has the id of the argument, and the problem with the flag or variable.
    fn parse_ref_(
        &self,
        _: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<T, clap::Error> {
        let parsed = value.to_str().ok_or_else(|| "the value is not UTF-8 text".to_owned());
        parsed.and_then(&self.0).map_err(|problem| {
            let flag = arg.map(ToString::to_string).unwrap_or_default();
            let flag = flag.split([' ', '[']).next().unwrap_or_default();
            let variable = arg.and_then(Arg::get_env).and_then(OsStr::to_str);
            let variable = variable.filter(|_| source == ValueSource::EnvVariable);
            let problem = format!("{}: {problem}", variable.unwrap_or(flag));
            let id = arg.map(|arg| arg.get_id().to_string()).unwrap_or_default();
            let mut error = clap::Error::new(ErrorKind::ValueValidation);
            error.insert(ContextKind::InvalidArg, ContextValue::String(id));
            error.insert(ContextKind::InvalidValue, ContextValue::String(problem));
            error
        })
    }

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        self.parse_ref_(command, arg, value, ValueSource::CommandLine)
    }
}

/// HOST:PORT. Whether the host exists turns out when the address is bound.
pub(super) fn address(text: &str) -> Result<String, &'static str> {
    let (host, port) = text.rsplit_once(':').unwrap_or_default();
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let host_is_valid = !host.is_empty() && (bracketed || !host.contains(':'));
    let valid = host_is_valid && port.parse::<u16>().is_ok();
    valid.then(|| text.to_owned()).ok_or("is not an address; use HOST:PORT")
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

pub(super) fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    DatabaseUrl::parse(text).map_err(|error| format!("is not a database URL: {error}"))
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

pub(super) fn account_name(text: &str) -> Result<String, &'static str> {
    let valid = is_account_name(text).then(|| text.to_owned());
    valid.ok_or("is not an account name; use 1 to 200 characters without spaces, `:`, `,` and `=`")
}

pub(super) fn scopes(text: &str) -> Result<Scopes, String> {
    parse_scopes(text).ok_or_else(|| {
        let known: Vec<_> = Scope::KNOWN.iter().map(Scope::as_str).collect();
        format!("is not one of: {}, none", known.join(", "))
    })
}

/// May be a whole key by mistake.
pub(super) fn public_id(text: &str) -> Result<String, &'static str> {
    let valid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let problem = "is not a public id; use the part of the key between `_live_` and the last `_`";
    valid.then(|| text.to_owned()).ok_or(problem)
}
