//! The modules of the library import only modules below them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// From the bottom to the top. A module may import those before it.
const LAYERS: &str = "secret exchange trace failure check run_id target ledger wire case \
    fixture scenario scenarios suite spec rules coverage selection known report probe sweep run cli";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.extend(path.extension().is_some_and(|it| it == "rs").then_some(path)),
        }
    }
}

/// Names that the root of the library re-exports, with their modules.
fn re_exports() -> BTreeMap<String, String> {
    let root = std::fs::read_to_string(source().join("lib.rs")).unwrap();
    let mut modules = BTreeMap::new();
    for item in root.split("pub use ").skip(1) {
        let (module, names) = item.split(';').next().unwrap().split_once("::").unwrap();
        for name in names.split(|sign: char| !sign.is_alphanumeric() && sign != '_') {
            modules.insert(name.to_owned(), module.to_owned());
        }
    }
    modules
}

/// The first name of each path behind `crate::`, which may be a list in braces.
fn imports(text: &str) -> Vec<String> {
    let first_name = |path: &str| {
        let is_part = |sign: &char| sign.is_alphanumeric() || *sign == '_';
        path.trim_start().chars().take_while(is_part).collect::<String>()
    };
    let mut names = Vec::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{').and_then(|list| list.split_once("};")) {
            // What stands in inner braces is no module of the root.
            Some((list, _)) => names.extend(list.split(',').map(first_name)),
            None => names.push(first_name(rest)),
        }
    }
    names
}

#[test]
fn every_module_imports_only_modules_below_it() {
    let (re_exports, mut found, mut wrong) = (re_exports(), Vec::new(), Vec::new());
    files(&source(), &mut found);
    let layer = |module: &str| LAYERS.split(' ').position(|it| it == module);
    for file in found {
        let path = file.strip_prefix(source()).unwrap();
        let module = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let own = layer(module).unwrap_or_else(|| panic!("{module} is in no layer"));
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let code: Vec<_> = text.lines().filter(|line| !line.trim().starts_with("//")).collect();
        for name in imports(&code.join("\n")) {
            let target = re_exports.get(&name).unwrap_or(&name);
            if layer(target).is_some_and(|it| it > own) {
                wrong.push(format!("{} imports {target}", path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The same among the modules of the scenarios, and among those of the report.
#[test]
fn scenarios_and_reports_have_no_circle() {
    const SCENARIOS: &str = "prelude shared endpoints fields ids access answers core stays";
    const REPORT: &str =
        "plain record causes extracts known_failures sentences text junit markdown html files";
    let mut wrong = Vec::new();
    for (folder, order) in [("scenarios", SCENARIOS), ("report", REPORT)] {
        let order: Vec<_> = order.split(' ').collect();
        let mut found = Vec::new();
        files(&source().join(folder), &mut found);
        for file in found {
            let path = file.strip_prefix(source().join(folder)).unwrap();
            let module = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
            let Some(own) = order.iter().position(|it| *it == module) else { continue };
            let text = std::fs::read_to_string(&file).unwrap();
            for later in &order[own + 1..] {
                let is_top = path.iter().count() == 1;
                let above = is_top && text.contains(&format!("use super::{later}"));
                if above || text.contains(&format!("{folder}::{later}::")) {
                    wrong.push(format!("{} imports {later}", path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
