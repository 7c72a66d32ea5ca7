//! The arguments and variables that the program was started with, and clap's errors in one line.
//!
//! A variable becomes a flag in front of the arguments, so clap checks both and suggests a name for a
//! misspelt one. `env` of clap does not do: it takes an empty variable as given, removes no newline,
//! does not split at white space, and reads the process also for an embedded server.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches};

use super::ConfigError;
use super::args::command;

const PREFIX: &str = "PROMPTARIUM_";

/// Variables with our prefix that are not settings of the server: of the SDK and the conformance
/// suite, of the tests and scripts of this repository, and those that Kubernetes sets for a service
/// of this name. One that ends in `_` stands for all that begin with it.
const FOREIGN: &str = "API_KEY BASE_URL BENCH_ BUGS CA_FILE CRASH_ DIFFERENTIAL_ HISTORY_ HOSTILE_ \
                       IMAGE_MODEL KILL_ OTHER_API_KEY PEERS PORT PORT_ PROXY \
                       READ_ONLY_API_KEY REVOKED_API_KEY SCHEMATHESIS_ SERVICE_ SIGN_IN_URL SKIP_ \
                       TEST_ TRANSCRIPTS VIDEO_MODEL";

pub(super) struct Input {
    arguments: Vec<OsString>,
    /// The variables as flags with their values.
    flags: Vec<OsString>,
    /// The flags among them.
    variables: BTreeSet<String>,
}

impl Input {
    /// A variable without a value is absent, and white space around one does not count: a file with
    /// a secret ends in a newline. Variables are ignored where help is asked for.
    pub(super) fn new(
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let mut input = Self { arguments, flags: Vec::new(), variables: BTreeSet::new() };
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
            let flag = flag(&rest.to_ascii_lowercase());
            if value.is_empty() || FOREIGN.split(' ').any(is_foreign) || input.times(&flag) > 0 {
                continue;
            }
            let is_name = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
            if !rest.starts_with(|c: char| c.is_ascii_uppercase()) || !rest.bytes().all(is_name) {
                return Err(format!("{name:?}: unknown variable"));
            }
            let text =
                value.to_str().ok_or_else(|| format!("{name}: the value is not UTF-8 text"))?;
            let values = match repeatable().contains(&flag) {
                true => text.split_whitespace().collect(),
                false => vec![text.trim()],
            };
            for value in values.into_iter().filter(|value| !value.is_empty()) {
                input.flags.push(format!("{flag}={value}").into());
                input.variables.insert(flag.clone());
            }
        }
        Ok(input)
    }

    fn line(&self) -> Vec<OsString> {
        let (name, rest) = self.arguments.split_at(self.arguments.len().min(1));
        [name, &self.flags, rest].concat()
    }

    pub(super) fn command_line(&self) -> Vec<String> {
        self.line().iter().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    pub(super) fn matches(&self) -> Result<ArgMatches, ConfigError> {
        let matches = command().try_get_matches_from(self.line()).map_err(|e| self.invalid(&e))?;
        // clap drops the values before the command if there are others after it.
        for flag in repeatable() {
            if self.times(&flag) > matches.get_raw(&id(&flag)).map_or(0, Iterator::count) {
                let problem = "given before and after the command; use one place";
                return Err(ConfigError::Invalid(format!("{flag}: {problem}")));
            }
        }
        Ok(matches)
    }

    /// The flag or variable that a setting came from; the flag if it has its default.
    pub(super) fn source(&self, id: &str) -> String {
        let flag = flag(id);
        if self.variables.contains(&flag) { variable(&flag) } else { flag }
    }

    /// How often a flag is among the arguments, with or without a value.
    fn times(&self, flag: &str) -> usize {
        let is_flag = |text: &&OsString| text.to_string_lossy().split('=').next() == Some(flag);
        self.arguments.iter().filter(is_flag).count()
    }

    /// An error of clap in one line. It repeats no value: any may be a secret in the wrong place.
    pub(super) fn invalid(&self, error: &clap::Error) -> ConfigError {
        let text = |kind| error.get(kind).map(ToString::to_string);
        let name = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
        let name = name.unwrap_or_default();
        let name = name.split(['=', ' ', '[', ',']).next().unwrap_or_default();
        let is_variable = self.variables.contains(name);
        let shown = |name: &str| if is_variable { variable(name) } else { name.to_owned() };
        let subject = match name {
            "" => String::new(),
            name if is_variable || may_be_shown(name) => shown(name) + ": ",
            _ => "an argument (not shown): ".to_owned(),
        };
        let is_given = text(ContextKind::InvalidValue).is_some_and(|value| !value.is_empty());
        let valid = text(ContextKind::ValidValue).filter(|_| is_given);
        let problem = match (error.kind(), error.source(), valid) {
            (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, ..) => {
                return ConfigError::Help(error.render().to_string());
            }
            (ErrorKind::ValueValidation, Some(problem), _) => {
                return ConfigError::Invalid(format!("{subject}the value {problem}"));
            }
            (ErrorKind::InvalidValue, _, Some(all)) => {
                return ConfigError::Invalid(format!("{subject}the value is not one of: {all}"));
            }
            (ErrorKind::InvalidValue, ..) => "a value is missing",
            (ErrorKind::InvalidUtf8, ..) => "is not UTF-8 text",
            (ErrorKind::UnknownArgument | ErrorKind::TooManyValues, ..) => "unknown",
            (ErrorKind::InvalidSubcommand, ..) => "unknown command",
            (ErrorKind::MissingRequiredArgument, ..) => "missing",
            (ErrorKind::ArgumentConflict, ..) => "given more than once",
            (kind, ..) => kind.as_str().unwrap_or("a subcommand is missing"),
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

fn flag(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

fn id(flag: &str) -> String {
    flag.trim_start_matches('-').replace('-', "_")
}

fn variable(flag: &str) -> String {
    format!("{PREFIX}{}", id(flag).to_ascii_uppercase())
}

/// The flags of which there may be several. White space separates them in the variable.
fn repeatable() -> Vec<String> {
    let command = command();
    let repeatable = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Append);
    command.get_arguments().filter(repeatable).map(|arg| flag(arg.get_id().as_str())).collect()
}

/// Whether an argument that is not known looks like a flag or a command, and not like a secret that has
/// slipped into its place.
fn may_be_shown(name: &str) -> bool {
    name.len() < 32 && name.chars().all(|c| c.is_ascii_alphabetic() || "-<>_".contains(c))
}
