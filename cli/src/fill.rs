//! Texts and values from the command line, from files and from standard input.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};

use promptarium::Prompt;

use crate::failure::{Failure, Result};
use crate::output::{ask, can_ask};

/// The text of an argument: itself, `@FILE`, or `-` for standard input.
pub(crate) fn text(argument: &str) -> Result<String> {
    if argument == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(Failure::file(path)),
        None => Ok(argument.to_owned()),
    }
}

/// The values of `--set name=value`.
fn values(set: &[String]) -> Result<BTreeMap<String, String>> {
    let parse = |pair: &String| {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::usage(format!("--set: \"{pair}\" has no \"=\"; use NAME=VALUE")));
        };
        let value = text(value)?;
        // A file ends with a line break that nobody means.
        Ok((name.trim().to_owned(), value.trim_end_matches(['\r', '\n']).to_owned()))
    };
    set.iter().map(parse).collect()
}

/// The text of a prompt with its variables replaced. What no value is given for is asked on a
/// terminal.
pub(crate) fn filled(prompt: &Prompt, set: &[String]) -> Result<String> {
    let (mut values, variables) = (values(set)?, prompt.variables());
    if let Some(unknown) = values.keys().find(|name| variables.iter().all(|it| it.name != **name)) {
        let names: Vec<_> = variables.iter().map(|variable| &*variable.name).collect();
        let failure = Failure::usage(format!("--set: the prompt has no variable \"{unknown}\""));
        return Err(match names.is_empty() {
            true => failure,
            false => failure.hint(format!("it has: {}", names.join(", "))),
        });
    }
    // Standard input cannot be asked if it was a value.
    let asks = can_ask() && !set.iter().any(|pair| pair.ends_with("=-"));
    let mut missing = Vec::new();
    for variable in variables {
        if values.contains_key(&variable.name) {
            continue;
        }
        match &variable.default {
            None if !asks => missing.push(variable.name),
            Some(_) if !asks => {}
            default => {
                let shown = default.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
                let answer = ask(&format!("{}{shown}: ", variable.name))?;
                if !answer.is_empty() || default.is_none() {
                    values.insert(variable.name, answer);
                }
            }
        }
    }
    if !missing.is_empty() {
        let failure = Failure::usage(format!("no value for {}", missing.join(", ")));
        let first = missing.swap_remove(0);
        return Err(failure.hint(format!("add --set \"{first}=VALUE\", or --raw to show")));
    }
    Ok(prompt.filled(|name| values.get(name)))
}
