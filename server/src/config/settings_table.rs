//! The settings that the repository names are those of the program.
//!
//! `UPDATE_EXPECT=1` writes the table in `docs/configure.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Arg;

use super::Config;
use super::args::command;

const START: &str = "<!-- settings -->\n";
const END: &str = "<!-- end of settings -->\n";

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
    let [value, default, meaning] = [value, &default, meaning].map(|cell| cell.replace('|', "\\|"));
    format!("| `--{flag}` `{value}`<br>`{variable}` | {default} | {meaning} |\n")
}

fn table() -> String {
    let (mut table, mut group) = (String::new(), None);
    for arg in command().get_arguments() {
        if group.as_deref() != arg.get_help_heading() {
            group = arg.get_help_heading().map(ToOwned::to_owned);
            let title = group.as_deref().unwrap();
            table += &format!("\n### {title}\n\n| Setting | Default | Meaning |\n|---|---|---|\n");
        }
        table += &row(arg);
    }
    table + "\n"
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

/// All settings, as variables.
pub(super) fn settings() -> Vec<String> {
    let command = command();
    let ids = command.get_arguments().map(|arg| arg.get_id().as_str().to_ascii_uppercase());
    ids.map(|id| format!("PROMPTARIUM_{id}")).collect()
}

/// The repository's own programs and scripts run beside the server, perhaps on Kubernetes.
#[test]
fn every_variable_of_other_programs_that_the_repository_names_is_known() {
    let found = Command::new("grep")
        .args(["-rohIE", "PROMPTARIUM_[A-Z0-9_]*", "--exclude-dir=target", "--exclude=tests.rs"])
        .args(["server", "sdk", "conformance", "examples", "script", "docs"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    let mut names: BTreeSet<_> = found.lines().collect();
    assert!(names.len() > 50, "{names:?}");
    names.extend(["PROMPTARIUM_PORT_8080_TCP", "PROMPTARIUM_SERVICE_HOST"]);
    for name in names.into_iter().filter(|name| !settings().contains(&(*name).to_owned())) {
        let is_example = ["PROMPTARIUM_", "PROMPTARIUM_SOME_FLAG"].contains(&name);
        let program = ["promptarium-server".into()];
        assert!(
            is_example || Config::parse(program, [(name.into(), "x".into())]).is_ok(),
            "{name}"
        );
    }
}
