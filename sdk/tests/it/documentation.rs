//! Documents that name parts of the source name what exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of all functions in a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if let Ok(text) = fs::read_to_string(path) {
            let lines = text.lines().filter_map(|line| line.split_once("fn "));
            let names = lines.filter_map(|(_, rest)| rest.split(['(', '<']).next());
            found.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn the_comparison_names_tests_that_exist() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut existing = BTreeSet::new();
    functions(&sdk.join("src"), &mut existing);
    functions(&sdk.join("tests"), &mut existing);
    let page = fs::read_to_string(sdk.join("../docs/reference/sdk-comparison.md")).unwrap();
    let code = page.split('`').skip(1).step_by(2);
    let named: Vec<_> = code
        .filter_map(|code| code.rsplit_once("::"))
        .map(|(_, name)| name)
        .filter(|name| name.matches('_').count() > 2)
        .collect();
    assert!(named.len() >= 4, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !existing.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
