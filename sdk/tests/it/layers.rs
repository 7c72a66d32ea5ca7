//! The direction of imports in the source of this crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

// One reader of imports for the repository.
#[path = "../../../server/tests/it/tidy/imports.rs"]
mod imports;

use self::imports::{Module, cyclic};

/// Modules from top to bottom. A module imports only from rows below its own.
const LAYERS: [&[&str]; 11] = [
    &["testing", "durable", "blocking"],
    &["resources"],
    &["pages"],
    &["call"],
    &["client", "response"],
    &["send"],
    &["transport"],
    &["error"],
    &["path"],
    &["model"],
    &["limits", "macros", "time"],
];

fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"))
}

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

fn modules(files: &[(Vec<String>, String)]) -> Vec<Module> {
    imports::modules(files.iter().map(|(path, text)| (path.clone(), &**text)))
}

fn row(module: &str) -> usize {
    let found = LAYERS.iter().position(|row| row.contains(&module));
    found.unwrap_or_else(|| panic!("{module} is in no layer"))
}

#[test]
fn modules_import_only_from_lower_layers() {
    let mut upward = BTreeSet::new();
    for module in modules(&all()) {
        let own = &module.path[0];
        for import in module.imports.iter().filter(|import| import[0] != *own) {
            if row(&import[0]) <= row(own) {
                upward.insert(format!("{} imports {}", module.path.join("::"), import.join("::")));
            }
        }
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn siblings_have_no_import_cycle() {
    let mut siblings = BTreeMap::<Vec<String>, BTreeMap<String, BTreeSet<String>>>::new();
    for module in modules(&all()) {
        for import in &module.imports {
            let shared = module.path.iter().zip(import).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.path.get(shared), import.get(shared)) {
                let graph = siblings.entry(import[..shared].to_vec()).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let cycles = siblings.into_iter().map(|(parent, graph)| (parent.join("::"), cyclic(graph)));
    let cycles: Vec<_> = cycles.filter(|(_, cycle)| !cycle.is_empty()).collect();
    assert!(cycles.is_empty(), "{cycles:#?}");
}

/// The root exports names of every layer, so that an import from it has no direction.
#[test]
fn only_the_top_layer_imports_from_the_root() {
    for (module, text) in all().iter().filter(|(module, _)| row(&module[0]) > 0) {
        for line in code_lines(text).filter(|line| !line.contains("#[doc")) {
            let mut paths = line.split("crate::").skip(1);
            let is_root = |path: &str| path.starts_with(|c: char| c.is_uppercase() || c == '{');
            assert!(!paths.any(is_root), "{}: {line}", module.join("::"));
        }
    }
}
