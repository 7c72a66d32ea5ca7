//! The plan tests cover every statement in the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::statements;

/// Modules that may send SQL that is not a `Statement`, with the reason.
const EXCEPTIONS: [(&str, &str); 6] = [
    ("notify.rs", "it listens"),
    ("connect.rs", "it sets up sessions"),
    ("open.rs", "it checks for a pooler"),
    ("stream.rs", "it sends the statements of all modules in a transaction"),
    ("migrate", "its table has one row per migration"),
    ("scratch", "it creates databases for tests"),
];

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The sources except tests, without white space, with their paths.
fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/postgres");
    let mut files = Vec::new();
    collect(&folder, &mut files);
    let named = files.iter().map(|file| {
        let path = file.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        (path, code.split_whitespace().collect::<String>())
    });
    let of_tests = |path: &str| path.contains("tests/") || path.ends_with("tests.rs");
    named.filter(|(path, _)| !of_tests(path)).collect()
}

/// The names of the statements in a source.
fn names_in(code: &str) -> Vec<String> {
    let makers = ["read_only", "idempotent", "non_idempotent"]
        .map(|declared| format!("Statement::{declared}(\""));
    let declared = makers.iter().flat_map(|maker| code.split(maker.as_str()).skip(1));
    declared.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn every_statement_is_explained_and_has_its_own_name() {
    let declared: Vec<_> = sources().iter().flat_map(|(_, code)| names_in(code)).collect();
    let names: BTreeSet<_> = declared.iter().map(String::as_str).collect();
    assert_eq!(names.len(), declared.len(), "two statements have one name");
    let looked_at: BTreeSet<_> = statements().map(|statement| statement.name).collect();
    let missed: Vec<_> = names.symmetric_difference(&looked_at).collect();
    assert!(missed.is_empty(), "in no module's ALL, or in no source: {missed:?}");
}

#[test]
fn every_statement_is_declared_in_the_form_that_this_test_finds() {
    for (path, code) in sources() {
        let declared = code.matches(":Statement=").count();
        assert_eq!(declared, names_in(&code).len(), "{path} declares statements in another form");
    }
}

#[test]
fn only_declared_statements_are_sent() {
    let sending = [".query(\"", ".query_one(\"", ".query_opt(\"", ".execute(\"", "batch_execute("];
    for (path, code) in sources() {
        let apart = EXCEPTIONS.iter().any(|(start, _)| path.starts_with(start));
        let found = sending.iter().find(|call| code.contains(**call));
        assert!(apart || found.is_none(), "{path}: {found:?}");
    }
}
