//! clap's errors in one line, without the values that may be secret.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::NoConfig;

/// What an error of clap's means for the operator.
pub(super) fn usage(error: &clap::Error) -> NoConfig {
    let text = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return NoConfig::Asked(error.render().to_string());
        }
        ErrorKind::UnknownArgument => format!("there is no argument {}", given(error)),
        ErrorKind::InvalidSubcommand => format!("there is no command {}", given(error)),
        ErrorKind::ArgumentConflict => format!("{} is given more than once", given(error)),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "this command needs a further word, such as list".to_owned()
        }
        ErrorKind::MissingRequiredArgument => format!("{} is missing", missing(error)),
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8 text".to_owned(),
        ErrorKind::NoEquals => format!("{} takes its value after `=`", given(error)),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            format!("{} needs a value", given(error))
        }
        kind => format!("the command line is not valid ({kind})"),
    };
    NoConfig::Fault(format!("{text}; see promptarium-server --help"))
}

/// What should have been given: names of ours only.
fn missing(error: &clap::Error) -> String {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => format!("`{}`", names.join(" ")),
        _ => "something".to_owned(),
    }
}

/// What was given, up to a `=`, unless it could be a key.
fn given(error: &clap::Error) -> String {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let given = kinds.iter().find_map(|kind| error.get(*kind));
    let Some(ContextValue::String(given)) = given else { return "of this form".to_owned() };
    let name = given.split(['=', ' ']).next().unwrap_or_default();
    let flag = name.starts_with('-');
    let plain = |c: char| c.is_ascii_lowercase() || c == '-' || (flag && c.is_ascii_digit());
    if !name.is_empty() && name.len() <= 32 && name.chars().all(plain) {
        format!("`{name}`")
    } else {
        "like the one given (not repeated here, since it may be a secret)".to_owned()
    }
}
