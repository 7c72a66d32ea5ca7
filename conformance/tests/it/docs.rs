//! The guide: what it tells a reader to type exists, and what exists is told.

use std::collections::BTreeSet;
use std::process::Command;

use jiff::civil::date;
use promptarium_conformance::environment;

use crate::keys::builder_with;
use crate::prelude::*;

const PAGE: &str = "conformance.md";

fn guide() -> String {
    text(root().join("docs").join(PAGE))
}

fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric() && one != '-');
    let flags = words.filter(|word| word.starts_with("--") && word.len() > 2);
    flags.map(str::to_owned).collect()
}

const COMMANDS: [&str; 5] = ["run", "sweep", "list", "explain", "coverage"];

async fn flags_of(command: &str) -> BTreeSet<String> {
    flags(&program(&[command, "--help"], &[]).await.ended(0, &[]).out)
}

#[tokio::test]
async fn every_flag_is_told_of() {
    let told = flags(&guide());
    for command in COMMANDS {
        let mut untold = &flags_of(command).await - &told;
        untold.retain(|flag| flag != "--help");
        assert!(untold.is_empty(), "{command}: {untold:?}");
    }
}

#[tokio::test]
async fn the_short_help_has_ten_flags_and_the_completions_and_the_manual_page_have_all() {
    let out = async |arguments: &[&str]| program(arguments, &[]).await.ended(0, &[]).out;
    // Ten, and --help.
    assert_eq!(flags(&out(&["run", "-h"]).await).len(), 11);
    let (script, page) = (out(&["completions", "bash"]).await, out(&["man"]).await);
    let all = flags_of("run").await;
    assert_eq!(&all - &flags(&script), BTreeSet::new());
    for flag in all {
        assert!(page.contains(&format!("{}\\fR", flag.replace('-', "\\-"))), "{flag}");
    }
}

#[test]
fn every_format_and_every_variable_is_told_of() {
    let guide = guide();
    for (name, _) in Format::ALL {
        assert!(guide.contains(&format!("\n| `{name}` | ")), "{name}");
    }
    let variables = [
        environment::BASE_URL,
        environment::API_KEY,
        environment::READ_ONLY_API_KEY,
        environment::OTHER_API_KEY,
        environment::REVOKED_API_KEY,
        environment::IMAGE_MODEL,
        environment::VIDEO_MODEL,
    ];
    for variable in variables {
        assert!(guide.contains(&format!("| `{variable}` |")), "{variable}");
    }
}

#[test]
fn the_list_of_known_failures_that_is_shown_is_one() {
    let suite = Suite::builtin();
    let exists = |id: &str| suite.find(id).is_some();
    for block in blocks(PAGE, "toml") {
        KnownFailures::parse("the guide", &block, date(2026, 1, 1), exists).unwrap();
    }
}

#[test]
fn every_scenario_that_is_named_exists() {
    let guide = guide();
    for rest in guide.split("--filter ").skip(1) {
        let filter = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split('\'').next().unwrap(),
            None => rest.split_whitespace().next().unwrap().trim_end_matches('`'),
        };
        let filters = Filters { filter: vec![filter.into()], ..Filters::default() };
        assert!(Selection::new(&Suite::builtin(), filters).is_ok(), "{filter}");
    }
}

/// Blocks that do not run here, by their beginning, and the reason.
const EXCLUDED: [(&str, &str); 3] = [
    ("cargo install", "builds; `script/package` builds the package"),
    ("docker ", "needs an image and Docker; `script/dist test` starts the image"),
    ("promptarium-conformance run --known-failures", "needs a target that fails"),
];

/// The server runs already. A run without a filter takes one scenario.
const PRELUDE: &str = r#"
set -Eeuo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
promptarium-server() { :; }
promptarium-conformance() {
    case "$*" in
        run*--filter* | run*--read-only*) "$PROGRAM" "$@" ;;
        run*) "$PROGRAM" "$@" --filter vaults.create.defaults ;;
        *) "$PROGRAM" "$@" ;;
    esac
}
"#;

fn is_excluded(block: &str) -> bool {
    EXCLUDED.iter().any(|(start, _)| block.starts_with(start))
}

#[tokio::test]
async fn every_command_runs() {
    let blocks = blocks(PAGE, "sh");
    assert_eq!(blocks.iter().filter(|block| is_excluded(block)).count(), EXCLUDED.len() + 1);
    let seeds = blocks.iter().find(|block| block.contains("--seed-key")).unwrap();
    let seeds = seeds.split("--seed-key ").skip(1).map(|rest| rest.split(' ').next().unwrap());
    let seeds = seeds.map(|seed| seed.trim().to_owned());
    let server = builder_with(seeds).start().await.unwrap();
    let root = server.base_url().strip_suffix("/api/v1").unwrap();
    let parts = blocks.into_iter().filter(|block| !is_excluded(block));
    let script = [PRELUDE.to_owned()].into_iter().chain(parts).collect::<Vec<_>>().join("\n");
    let script = script.replace("http://127.0.0.1:8080", root);
    let folder = folder("commands-of-the-guide");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    shell.env("PROGRAM", env!("CARGO_BIN_EXE_promptarium-conformance"));
    Ran::of(shell).await.ended(0, &[]);
}
