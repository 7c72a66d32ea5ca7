//! The settings in `docs/configure.md` are those of the program.
//!
//! `UPDATE_EXPECT=1` writes the table.

use std::fs;
use std::path::Path;

use clap::Arg;

use super::args::{GROUPS, command};

const START: &str = "<!-- settings -->\n";
const END: &str = "<!-- end of settings -->\n";

/// Escapes what ends a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The meaning and the default. A default that depends on something is a sentence of the help.
fn meaning_and_default(arg: &Arg) -> (String, String) {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if let [value] = arg.get_default_values() {
        return (help, format!("`{}`", value.to_string_lossy()));
    }
    let Some((before, rest)) = help.split_once("Default: ") else {
        return (help, "none".to_owned());
    };
    let (default, after) = rest.split_once(". ").unwrap_or((rest, ""));
    let meaning = [before.trim(), after].join(" ");
    (meaning, default.trim_end_matches('.').to_owned())
}

fn row(arg: &Arg) -> String {
    let flag = arg.get_long().unwrap();
    let (meaning, default) = meaning_and_default(arg);
    let value = arg.get_value_names().unwrap()[0].as_str();
    let variable = format!("PROMPTARIUM_{}", flag.to_uppercase().replace('-', "_"));
    let meaning = meaning.trim().trim_end_matches('.');
    let [value, default, meaning] = [value, &default, meaning].map(cell);
    format!("| `--{flag}` `{value}`<br>`{variable}` | {default} | {meaning} |\n")
}

fn table() -> String {
    let command = command();
    let groups = GROUPS.map(|(title, ids)| {
        let args = ids
            .split_whitespace()
            .map(|id| command.get_arguments().find(|arg| arg.get_id().as_str() == id).unwrap());
        let rows: String = args.map(row).collect();
        format!("\n### {title}\n\n| Setting | Default | Meaning |\n|---|---|---|\n{rows}")
    });
    groups.concat() + "\n"
}

#[test]
fn the_table_of_settings_is_made_from_the_flags() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/configure.md");
    let page = fs::read_to_string(&file).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, [before, START, &table, END, after].concat()).unwrap();
    } else {
        assert!(written == table, "{} is out of date; UPDATE_EXPECT=1 writes it", file.display());
    }
}
