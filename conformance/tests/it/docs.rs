//! The guide: what it tells a reader to type exists, and what exists is told.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::date;
use promptarium_conformance::report::Format;
use promptarium_conformance::selection::Filters;
use promptarium_conformance::{KnownFailures, Profile, Selection, Suite, environment};

use crate::cli::{program, stdout};

fn guide() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    std::fs::read_to_string(file).unwrap()
}

/// The blocks of code in this language.
fn blocks(language: &str) -> Vec<String> {
    let (guide, start) = (guide(), format!("```{language}\n"));
    let blocks: Vec<_> = guide.split(&start).skip(1).collect();
    assert!(!blocks.is_empty(), "no block of {language}");
    blocks.iter().map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric() && one != '-');
    let flags = words.filter(|word| word.starts_with("--") && word.len() > 2);
    flags.map(str::to_owned).collect()
}

const COMMANDS: [&str; 5] = ["run", "sweep", "list", "explain", "coverage"];

async fn flags_of(command: &str) -> BTreeSet<String> {
    let output = program(&[command, "--help"], &[]).await;
    assert!(output.status.success(), "{command}");
    flags(&stdout(&output))
}

#[tokio::test]
async fn every_command_that_is_shown_exists_with_its_flags() {
    let mut shown = 0;
    for block in blocks("sh") {
        for line in block.replace("\\\n", " ").lines() {
            let Some(line) = line.trim().strip_prefix("promptarium-conformance ") else { continue };
            let command = line.split(' ').next().unwrap();
            assert!(COMMANDS.contains(&command), "{line}");
            let unknown = &flags(line) - &flags_of(command).await;
            assert!(unknown.is_empty(), "{line}: {unknown:?}");
            shown += 1;
        }
    }
    assert!(shown > 8);
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
        environment::SIGN_IN_URL,
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
    for block in blocks("toml") {
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
        let filters = Filters { filter: vec![filter.into()], ..Filters::profiles(&Profile::ALL) };
        assert!(Selection::new(&Suite::builtin(), filters).is_ok(), "{filter}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let guide = guide();
    let anchor = |heading: &str| heading.to_lowercase().replace(' ', "-");
    let headings: Vec<_> =
        guide.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for link in guide.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        match link.split_once('#') {
            Some(("", place)) => assert!(headings.iter().any(|one| one == place), "{link}"),
            other => {
                let file = other.map_or(link, |(file, _)| file);
                assert!(folder.join(file).exists(), "{link}");
            }
        }
    }
}
