//! Value parsers of the flags and variables.
//!
//! The error of a parser continues a sentence that begins with the value.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use promptarium::limits::API_KEY_NAME_CHARS;
use tracing_subscriber::filter::{LevelFilter, Targets};

use crate::domain::SigningKey;
use crate::generate::queue::fields::MODEL_FIELDS;
#[cfg(feature = "postgres")]
use crate::store::postgres::DatabaseUrl;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ProviderKind {
    Local,
    Queue,
}

/// Where a server without a database has its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataPlace {
    Memory,
    Folder(PathBuf),
}

pub(super) fn data_place(text: &str) -> Result<DataPlace, &'static str> {
    match text {
        "memory:" => Ok(DataPlace::Memory),
        "" => Err("must be a folder or memory:"),
        folder => Ok(DataPlace::Folder(folder.into())),
    }
}

pub(super) fn boolean(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("is not one of: true, false, 1, 0"),
    }
}

/// As [`address`], or unix:PATH, or a host alone.
pub(super) fn listen(text: &str) -> Result<String, &'static str> {
    let is_host = text == "localhost" || text.ends_with(']') || text.parse::<Ipv4Addr>().is_ok();
    match text.strip_prefix("unix:") {
        Some(path) if !path.is_empty() => Ok(text.to_owned()),
        _ if is_host => address(&format!("{text}:8080")),
        _ => address(text),
    }
}

/// HOST:PORT, or a port of this machine. Whether the host exists turns out when the address is bound.
pub(super) fn address(text: &str) -> Result<String, &'static str> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let valid = port.parse::<u16>().is_ok() && (bracketed || !host.contains(':'));
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    match valid {
        true => Ok(format!("{host}:{port}")),
        false if host.contains(':') => {
            Err("is not an address; put the IPv6 address in brackets, as in [::1]:8080")
        }
        false => Err("is not an address; use HOST:PORT or PORT"),
    }
}

/// Permissions of a file as in `chmod`.
pub(super) fn mode(text: &str) -> Result<u32, &'static str> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or("is not a mode; use three octal digits, such as 660")
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

pub(super) fn delay(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=864_000.0).contains(seconds));
    seconds.ok_or("is not a list of numbers of seconds, such as 0,5,300")
}

/// The beginning of model ids, and the field that these models take.
pub(super) fn model_field(text: &str) -> Result<(String, String), String> {
    let (prefix, field) = text.split_once('=').unwrap_or_default();
    if !MODEL_FIELDS.contains(&field) {
        return Err(format!("is not PREFIX=FIELD with a field of: {}", MODEL_FIELDS.join(", ")));
    }
    Ok((prefix.to_owned(), field.to_owned()))
}

#[cfg(feature = "postgres")]
pub(super) fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    DatabaseUrl::parse(text).map_err(|error| format!("is not a database URL: {error}"))
}

pub(super) fn log_filter(text: &str) -> Result<Targets, &'static str> {
    let is_directive = |one: &str| one.contains('=') || one.parse::<LevelFilter>().is_ok();
    let filter = text.parse().ok().filter(|_| text.split(',').all(|one| is_directive(one.trim())));
    filter.ok_or({
        "is not a log filter; use off, error, warn, info, debug, trace, or a list of target=level"
    })
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

/// May be a whole key by mistake.
pub(super) fn public_id(text: &str) -> Result<String, &'static str> {
    let valid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let problem = "is not a public id; use the part of the key between `_live_` and the last `_`";
    valid.then(|| text.to_owned()).ok_or(problem)
}
