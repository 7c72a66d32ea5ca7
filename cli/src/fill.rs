//! Texts and values from the command line, from files and from standard input.

use std::collections::BTreeMap;
use std::{fs, io};

use promptarium::Prompt;

use crate::failure::{Failure, Result, USAGE};
use crate::output::{ask, can_ask};

/// The text of an argument: itself, `@FILE`, or `-` for standard input.
pub(crate) fn text(argument: &str) -> Result<String> {
    match argument.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(Failure::file(path)),
        None if argument == "-" => Ok(io::read_to_string(io::stdin())?),
        None => Ok(argument.to_owned()),
    }
}

/// The value of `--set name=value`.
fn value(pair: &String) -> Result<(String, String)> {
    let Some((name, value)) = pair.split_once('=') else {
        return Err(Failure::new(USAGE, format!("--set: \"{pair}\" has no \"=\"; use NAME=VALUE")));
    };
    // A file ends with a line break that nobody means.
    Ok((name.trim().to_owned(), text(value)?.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The text of a prompt with its variables replaced. What no value is given for is asked on a
/// terminal.
pub(crate) fn filled(prompt: &Prompt, set: &[String]) -> Result<String> {
    if set.iter().filter(|pair| pair.ends_with("=-")).count() > 1 {
        return Err(Failure::new(USAGE, "--set: standard input can be one value only"));
    }
    let mut values = set.iter().map(value).collect::<Result<BTreeMap<_, _>>>()?;
    let variables = prompt.variables();
    if let Some(unknown) = values.keys().find(|name| variables.iter().all(|it| it.name != **name)) {
        let names: Vec<_> = variables.iter().map(|variable| &*variable.name).collect();
        let text = format!("--set: the prompt has no variable \"{unknown}\"");
        let hint = format!("its variables: {}", names.join(", "));
        return Err(Failure::new(USAGE, text).hint(hint));
    }
    // Standard input cannot be asked if it was a value.
    let asks = can_ask() && !set.iter().any(|pair| pair.ends_with("=-"));
    for variable in variables.into_iter().filter(|_| asks) {
        if values.contains_key(&variable.name) {
            continue;
        }
        let default = variable.default.map(|it| format!(" [{it}]")).unwrap_or_default();
        let answer = ask(&format!("{}{default}: ", variable.name))?;
        if !answer.is_empty() || default.is_empty() {
            values.insert(variable.name, answer);
        }
    }
    match &*prompt.missing(|name| values.contains_key(name)) {
        [] => Ok(prompt.filled(|name| values.get(name))),
        missing => {
            let failure = Failure::new(USAGE, format!("no value for {}", missing.join(", ")));
            Err(failure.hint("add --set \"NAME=VALUE\" for each, or --raw to leave them"))
        }
    }
}
