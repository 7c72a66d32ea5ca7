//! One setting as clap hands it over: its value or what is wrong with it, and the flag
//! or variable it came from.
//!
//! Parsing never fails inside clap. So all wrong settings are reported together, and clap
//! has no error message in which it could repeat a secret.

use std::ffi::OsStr;
use std::fmt::Display;

use clap::builder::TypedValueParser;
use clap::parser::ValueSource;
use clap::{Arg, Command};

/// A parsed setting.
#[derive(Clone)]
pub(super) struct Setting<T> {
    /// The flag or variable, such as `--listen` or `PROMPTARIUM_LISTEN`.
    pub(super) source: String,
    /// The value, or a message that begins with the source.
    pub(super) value: Result<T, String>,
}

/// Parses a setting whose value may appear in an error. The error of `parse` continues
/// a sentence that begins with the value.
pub(super) fn quoted<T: Clone + Send + Sync + 'static, E: Display + 'static>(
    parse: fn(&str) -> Result<T, E>,
) -> impl TypedValueParser<Value = Setting<T>> {
    SettingParser(move |text: &str| parse(text).map_err(|e| format!("{} {e}", quote(text))))
}

/// Parses a setting that is a secret or may contain one: the value appears in no error.
pub(super) fn secret<T: Clone + Send + Sync + 'static, E: Display + 'static>(
    parse: fn(&str) -> Result<T, E>,
) -> impl TypedValueParser<Value = Setting<T>> {
    SettingParser(move |text: &str| parse(text).map_err(|e| format!("the value {e}")))
}

/// A value in quotes. What could be a secret in the wrong place is not repeated.
pub(super) fn quote(text: &str) -> String {
    let suspicious = text.len() > 40 || text.contains("_live_") || text.contains('@');
    if suspicious { "the value".to_owned() } else { format!("{text:?}") }
}

/// The value of an optional setting.
pub(super) fn optional<T>(setting: Option<Setting<T>>) -> Result<Option<T>, String> {
    setting.map(|setting| setting.value).transpose()
}

/// What can be wrong.
pub(super) trait Checked {
    /// What is wrong, if anything is.
    fn problem(&self) -> Option<&str>;
}

/// Reports the problems of all settings in one line, each once.
pub(super) fn check(settings: &[&dyn Checked]) -> Result<(), String> {
    let mut problems = Vec::new();
    for problem in settings.iter().filter_map(|setting| setting.problem()) {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

impl<T> Checked for Result<T, String> {
    fn problem(&self) -> Option<&str> {
        self.as_ref().err().map(String::as_str)
    }
}

impl<T> Checked for Setting<T> {
    fn problem(&self) -> Option<&str> {
        self.value.problem()
    }
}

impl<T> Checked for Option<Setting<T>> {
    fn problem(&self) -> Option<&str> {
        self.as_ref().and_then(Checked::problem)
    }
}

#[derive(Clone)]
struct SettingParser<F>(F);

impl<F, T> TypedValueParser for SettingParser<F>
where
    F: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    type Value = Setting<T>;

    fn parse_ref_(
        &self,
        _: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<Setting<T>, clap::Error> {
        let variable = arg.and_then(Arg::get_env).filter(|_| source == ValueSource::EnvVariable);
        let flag = || format!("--{}", arg.and_then(Arg::get_long).unwrap_or_default());
        let source = variable.map_or_else(flag, |name| name.to_string_lossy().into_owned());
        let parsed = value.to_str().ok_or_else(|| "the value is not UTF-8 text".to_owned());
        let value = parsed.and_then(&self.0).map_err(|problem| format!("{source}: {problem}"));
        Ok(Setting { source, value })
    }

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Setting<T>, clap::Error> {
        self.parse_ref_(command, arg, value, ValueSource::CommandLine)
    }
}
