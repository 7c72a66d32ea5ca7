//! The modules of the library import only modules below them.

use std::collections::BTreeMap;

use crate::prelude::*;

/// From the bottom to the top. A module may import those before it.
const LAYERS: &str = "secret exchange trace failure check run_id target ledger wire case \
    fixture scenario scenarios suite spec rules coverage selection known report probe sweep run cli";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let of = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    std::fs::read_dir(folder).unwrap().flat_map(|entry| of(entry.unwrap().path())).collect()
}

/// The files below a folder: the module in the folder that each is of, whether it is all of it, and
/// its text.
fn modules(folder: &Path) -> Vec<(String, bool, String)> {
    let module = |file: PathBuf| {
        let path = file.strip_prefix(folder).unwrap();
        let name = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        (name.to_owned(), path.iter().count() == 1, text(&file))
    };
    let is_rust = |file: &PathBuf| file.extension().is_some_and(|it| it == "rs");
    files(folder).into_iter().filter(is_rust).map(module).collect()
}

/// Names that the root of the library re-exports, with their modules.
fn re_exports() -> BTreeMap<String, String> {
    let root = text(source().join("lib.rs"));
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
    let (re_exports, mut wrong) = (re_exports(), Vec::new());
    let layer = |module: &str| LAYERS.split(' ').position(|it| it == module);
    for (module, _, text) in modules(&source()) {
        if ["lib", "main"].contains(&&*module) {
            continue;
        }
        let own = layer(&module).unwrap_or_else(|| panic!("{module} is in no layer"));
        let text = text.split("#[cfg(test)]").next().unwrap();
        let code: Vec<_> = text.lines().filter(|line| !line.trim().starts_with("//")).collect();
        for name in imports(&code.join("\n")) {
            let target = re_exports.get(&name).unwrap_or(&name);
            if layer(target).is_some_and(|it| it > own) {
                wrong.push(format!("{module} imports {target}"));
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
        for (module, is_top, text) in modules(&source().join(folder)) {
            let above = order.split(' ').skip_while(|it| *it != module).skip(1);
            let imports = |later: &&str| {
                is_top && text.contains(&format!("use super::{later}"))
                    || text.contains(&format!("{folder}::{later}::"))
            };
            wrong.extend(above.filter(imports).map(|later| format!("{module} imports {later}")));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
