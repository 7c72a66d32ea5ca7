//! The page that says what the SDK is measured by, held to what there is.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/sdk-comparison.md");

/// Everything that is written in Rust below a folder.
fn source(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &source(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(path).unwrap();
        }
    }
    text
}

#[test]
fn every_test_that_the_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["sdk/src", "sdk/tests", "release/tests"];
    let source: String = folders.iter().map(|folder| source(&root.join(folder))).collect();
    let named = PAGE.split('`').skip(1).step_by(2).filter(|name| name.contains("::"));
    let mut looked_at = 0;
    for name in named {
        let last = name.rsplit("::").next().unwrap();
        let (what, kind) = match last {
            "*" => (name.rsplit("::").nth(1).unwrap(), "mod"),
            "Transport" => (last, "trait"),
            _ => (last, "fn"),
        };
        assert!(source.contains(&format!("{kind} {what}")), "there is no {kind} {name}");
        looked_at += 1;
    }
    assert!(looked_at > 60, "only {looked_at} names were looked at");
}

#[test]
fn all_forty_lines_are_answered_and_at_most_four_of_them_with_not_yet() {
    let lines: Vec<_> = PAGE.lines().filter(|line| line.starts_with("| ")).collect();
    for number in 1..=40 {
        let answer = lines.iter().find(|line| line.starts_with(&format!("| {number} |")));
        let answer = answer.unwrap_or_else(|| panic!("line {number} is not answered"));
        let known = ["**Holds**", "**Not yet**", "**Not for us**"];
        assert!(known.iter().any(|word| answer.contains(word)), "{answer}");
    }
    assert!(PAGE.matches("**Not yet**").count() <= 4);
}
