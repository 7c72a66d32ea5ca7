//! The direction of imports in the source of this crate.

use std::fs;
use std::path::Path;

// One reader of imports for the repository.
#[path = "../../../server/tests/it/tidy/imports.rs"]
mod imports;

use self::imports::{code_lines, sibling_cycles, upward};

/// Modules from top to bottom. A module imports only from rows below its own.
const LAYERS: [&[&str]; 11] = [
    &["testing", "durable", "blocking"],
    &["resources"],
    &["pages"],
    &["call"],
    &["client"],
    &["send"],
    &["transport"],
    &["error"],
    &["path"],
    &["model"],
    &["limits", "macros", "time"],
];

/// The module path and the text of each file below `folder`, without tests.
fn sources(folder: &Path, module: &[String], found: &mut Vec<(Vec<String>, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module: Vec<_> = module.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            sources(&path, &module, found);
        } else if path.extension().is_some_and(|it| it == "rs")
            && !matches!(&*name, "lib" | "tests")
        {
            let text = fs::read_to_string(path).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            found.push((module, code.to_owned()));
        }
    }
}

fn all() -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut found);
    assert!(found.len() > 50, "the source is not where this test looks");
    found
}

fn modules() -> Vec<imports::Module> {
    imports::modules(all().iter().map(|(path, text)| (path.clone(), &**text)))
}

#[test]
fn modules_import_only_from_lower_layers() {
    let upward = upward(&modules(), &LAYERS);
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn siblings_have_no_import_cycle() {
    let cycles = sibling_cycles(&modules());
    assert!(cycles.is_empty(), "{cycles:#?}");
}

/// The root exports names of every layer, so that an import from it has no direction.
#[test]
fn only_the_top_layer_imports_from_the_root() {
    for (module, text) in all().iter().filter(|(module, _)| !LAYERS[0].contains(&&*module[0])) {
        for line in code_lines(text).filter(|line| !line.contains("#[doc")) {
            let mut paths = line.split("crate::").skip(1);
            let is_root = |path: &str| path.starts_with(|c: char| c.is_uppercase() || c == '{');
            assert!(!paths.any(is_root), "{}: {line}", module.join("::"));
        }
    }
}
