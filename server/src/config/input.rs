//! The arguments and variables that the program was started with, and clap's errors in one line.
//!
//! Variables become flags in front of the arguments, so clap checks both, and suggests a name for a
//! wrong one.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};

use clap::ArgMatches;
use clap::error::{ContextKind, ErrorKind};

use super::ConfigError;
use super::args::command;

const PREFIX: &str = "PROMPTARIUM_";
const NO_TEXT: &str = "is not UTF-8 text";

/// Variables with our prefix that are not settings of the server: of the SDK and the conformance
/// suite, of the tests and scripts of this repository, and those that Kubernetes sets for a service
/// of this name. One that ends in `_` stands for all that begin with it.
const FOREIGN: &str = "API_KEY BASE_URL BENCH_ CA_FILE CRASH_ DIFFERENTIAL_ HISTORY_ HOSTILE_ \
                       IMAGE_MODEL KILL_ OTHER_API_KEY PEERS PORT PORT_ PROOF PROOF_ PROXY \
                       READ_ONLY_API_KEY REVOKED_API_KEY SCHEMATHESIS_ SERVICE_ SIGN_IN_URL SKIP_ \
                       TEST_ TRANSCRIPTS VIDEO_MODEL";

/// Settings of which there may be several. White space separates them in the variable.
const REPEATABLE: [&str; 4] = ["seed_key", "rate_limit", "cors_origin", "model_field"];

/// Settings whose values may be or contain a secret, so that no error repeats them.
const SECRET: [&str; 4] = ["public_url", "database_url", "blob_store", "signing_key"];

/// What the program was started with: its name and arguments, and by their id the settings that
/// only a variable has.
pub(super) struct Input {
    arguments: Vec<OsString>,
    variables: BTreeMap<String, String>,
}

impl Input {
    /// A variable without a value is absent, and white space around one does not count: a file with
    /// a secret ends in a newline. Those of a request for help are not looked at.
    pub(super) fn new(
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let mut input =
            Self { arguments: arguments.into_iter().collect(), variables: BTreeMap::new() };
        let is_help = |text: &OsString| text == "--help" || text == "-h";
        if input.arguments.iter().any(is_help)
            || input.arguments.get(1).is_some_and(|a| a == "help")
        {
            return Ok(input);
        }
        for (name, value) in variables {
            let name = name.to_string_lossy();
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let is_foreign =
                |known: &str| rest == known || (known.ends_with('_') && rest.starts_with(known));
            let id = rest.to_ascii_lowercase();
            if value.is_empty() || FOREIGN.split(' ').any(is_foreign) || input.has_flag(&id) {
                continue;
            }
            let is_name = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
            if !rest.starts_with(|c: char| c.is_ascii_uppercase()) || !rest.bytes().all(is_name) {
                return Err(format!("{name:?}: unknown variable"));
            }
            let text = value.to_str().ok_or_else(|| format!("{name}: the value {NO_TEXT}"))?;
            if !text.trim().is_empty() {
                input.variables.insert(id, text.trim().to_owned());
            }
        }
        Ok(input)
    }

    /// Matches the variables and the arguments.
    pub(super) fn matches(&self) -> Result<ArgMatches, ConfigError> {
        let (name, rest) = self.arguments.split_at(self.arguments.len().min(1));
        let mut line = name.to_vec();
        for (id, text) in &self.variables {
            let values = match REPEATABLE.contains(&&**id) {
                true => text.split_whitespace().collect(),
                false => vec![&**text],
            };
            line.extend(values.iter().map(|value| format!("{}={value}", flag(id)).into()));
        }
        line.extend_from_slice(rest);
        let matches = command().try_get_matches_from(line).map_err(|e| self.invalid(&e))?;
        // clap drops the values before the command if there are others after it.
        for id in REPEATABLE {
            let given = self.arguments.iter().filter(|argument| is_flag(argument, id)).count();
            if given > matches.get_raw(id).map_or(0, Iterator::count) {
                let problem = "given before and after the command; use one place";
                return Err(ConfigError::Invalid(format!("{}: {problem}", flag(id))));
            }
        }
        Ok(matches)
    }

    /// The flag or variable that a setting came from; the flag if it has its default.
    pub(super) fn source(&self, id: &str) -> String {
        if self.variables.contains_key(id) { variable(id) } else { flag(id) }
    }

    fn has_flag(&self, id: &str) -> bool {
        self.arguments.iter().any(|argument| is_flag(argument, id))
    }

    /// An error of clap in one line.
    pub(super) fn invalid(&self, error: &clap::Error) -> ConfigError {
        let text = |kind| error.get(kind).map(ToString::to_string);
        let name = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
        let name = name.unwrap_or_default();
        let name = name.split(['=', ' ', '[', ',']).next().unwrap_or_default();
        let id = |name: &str| name.trim_start_matches('-').replace('-', "_");
        let is_variable = name.starts_with("--") && self.variables.contains_key(&id(name));
        let shown = |name: &str| if is_variable { variable(&id(name)) } else { name.to_owned() };
        let subject = match name {
            "" => String::new(),
            name if is_variable || may_be_shown(name) => shown(name) + ": ",
            _ => "an argument (not shown): ".to_owned(),
        };
        let value = text(ContextKind::InvalidValue).unwrap_or_default();
        let problem = match (error.kind(), error.source(), text(ContextKind::ValidValue)) {
            (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, ..) => {
                return ConfigError::Help(error.render().to_string());
            }
            (ErrorKind::ValueValidation, Some(problem), _) => {
                let value = quoted(&id(name), &value);
                return ConfigError::Invalid(format!("{subject}{value} {problem}"));
            }
            (ErrorKind::InvalidValue, _, Some(all)) if !value.is_empty() => {
                let value = quoted(&id(name), &value);
                return ConfigError::Invalid(format!("{subject}{value} is not one of: {all}"));
            }
            (ErrorKind::InvalidValue, ..) => "a value is missing",
            (ErrorKind::InvalidUtf8, ..) => NO_TEXT,
            (ErrorKind::UnknownArgument | ErrorKind::TooManyValues, ..) => "unknown",
            (ErrorKind::InvalidSubcommand, ..) => "unknown command",
            (ErrorKind::MissingRequiredArgument, ..) => "missing",
            (ErrorKind::ArgumentConflict, ..) => "given more than once",
            (
                ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                ..,
            ) => "a subcommand is missing",
            (kind, ..) => kind.as_str().unwrap_or("invalid command line"),
        };
        let similar = text(ContextKind::SuggestedArg);
        let similar = similar.or_else(|| text(ContextKind::SuggestedSubcommand));
        let hint = match similar {
            Some(name) => format!("; did you mean {}? See", shown(&name)),
            None => "; see".to_owned(),
        };
        ConfigError::Invalid(format!("{subject}{problem}{hint} promptarium-server --help"))
    }
}

/// A value in an error, unless it is or could be a secret, perhaps in the wrong place.
fn quoted(id: &str, value: &str) -> String {
    let suspicious = value.len() > 40 || value.contains("_live_") || value.contains('@');
    if suspicious || SECRET.contains(&id) { "the value".to_owned() } else { format!("{value:?}") }
}

fn variable(id: &str) -> String {
    format!("{PREFIX}{}", id.to_ascii_uppercase())
}

fn flag(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

/// Whether an argument is the flag of this setting, with or without a value.
fn is_flag(argument: &OsStr, id: &str) -> bool {
    argument.to_string_lossy().split('=').next() == Some(&flag(id))
}

/// Whether an argument or command that is not known looks like one: a secret may have slipped into
/// its place.
fn may_be_shown(name: &str) -> bool {
    let placeholder = name.starts_with('<') && name.ends_with('>');
    let plain = name.len() < 32 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let short_flag = name.starts_with('-') && !name.starts_with("--");
    placeholder || (plain && !short_flag) || (short_flag && name.len() == 2)
}
