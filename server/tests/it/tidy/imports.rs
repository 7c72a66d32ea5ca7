//! Imports between the modules of a crate, read from their `use` lines and paths.

use std::collections::{BTreeMap, BTreeSet};

/// One file, as a module path, and the modules that it imports from.
pub(super) struct Module {
    pub(super) path: Vec<String>,
    pub(super) imports: BTreeSet<Vec<String>>,
}

/// The modules of a crate, from the path and the text of each file.
pub(super) fn modules<'a>(files: impl Iterator<Item = (Vec<String>, &'a str)>) -> Vec<Module> {
    let files: BTreeMap<_, _> = files.collect();
    let known: BTreeSet<_> = files.keys().cloned().collect();
    let mut reexports = BTreeMap::new();
    for (path, text) in &files {
        for import in used_paths(text, path).into_iter().filter(|used| used.starts_with(path)) {
            if let Some(name) = import.last() {
                let alias: Vec<_> = path.iter().chain([name]).cloned().collect();
                reexports.entry(alias).or_insert(import);
            }
        }
    }
    files
        .iter()
        .map(|(path, text)| {
            let resolve = |used: Vec<String>| {
                let used = reexports.get(&used).cloned().unwrap_or(used);
                (1..=used.len()).rev().map(|end| used[..end].to_vec()).find(|m| known.contains(m))
            };
            let imports = used_paths(text, path).into_iter().filter_map(resolve);
            let imports = imports.filter(|import| import != path).collect();
            Module { path: path.clone(), imports }
        })
        .collect()
}

/// The imports from a layer that is not below that of their module; the first layer is the top.
///
/// # Panics
/// If a module is in no layer.
pub(super) fn upward(modules: &[Module], layers: &[&[&str]]) -> BTreeSet<String> {
    let layer = |name: &str| {
        let found = layers.iter().position(|layer| layer.contains(&name));
        found.unwrap_or_else(|| panic!("{name} has no layer"))
    };
    let mut upward = BTreeSet::new();
    for Module { path, imports } in modules {
        let own = &path[0];
        for import in imports.iter().filter(|import| import[0] != *own) {
            if layer(&import[0]) <= layer(own) {
                upward.insert(format!("{} imports {}", path.join("::"), import.join("::")));
            }
        }
    }
    upward
}

/// The siblings that import one another in a cycle, by their parent.
pub(super) fn sibling_cycles(modules: &[Module]) -> Vec<(String, Vec<String>)> {
    let mut siblings = BTreeMap::<Vec<String>, BTreeMap<String, BTreeSet<String>>>::new();
    for Module { path, imports } in modules {
        for import in imports {
            let shared = path.iter().zip(import).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (path.get(shared), import.get(shared)) {
                let graph = siblings.entry(import[..shared].to_vec()).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let cycles = siblings.into_iter().map(|(parent, graph)| (parent.join("::"), cyclic(graph)));
    cycles.filter(|(_, cycle)| !cycle.is_empty()).collect()
}

/// Lines that are not comments.
pub(super) fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"))
}

/// Every path of this crate that a file names, in full; of a `use` with braces one for each name.
fn used_paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = code_lines(text).collect::<Vec<_>>().join(" ");
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let mut paths = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root).filter(|(at, _)| !code[..*at].ends_with(is_path)) {
            let rest = &code[at..];
            let (path, rest) = rest.split_at(rest.find(|c| !is_path(c)).unwrap_or(rest.len()));
            let names = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
            let names = names.filter(|_| path.ends_with("::")).unwrap_or_default();
            paths.extend(names.split(',').map(|name| format!("{path}{}", name.trim())));
        }
    }
    paths.iter().filter_map(|path| absolute(path, module)).collect()
}

fn absolute(path: &str, module: &[String]) -> Option<Vec<String>> {
    let mut full = module.to_vec();
    for (at, part) in path.split("::").filter(|part| !part.is_empty()).enumerate() {
        match part {
            "crate" if at == 0 => full.clear(),
            "self" => {}
            "super" => drop(full.pop()?),
            // Without `as` and what follows.
            name => full.extend(name.split([' ', '{']).next().map(str::to_owned)),
        }
    }
    (!full.is_empty()).then_some(full)
}

/// The nodes that are on a cycle of the graph, or between two cycles.
fn cyclic(mut graph: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let (before, sources) = (graph.len(), graph.keys().cloned().collect::<BTreeSet<_>>());
        let targets: BTreeSet<_> = graph.values().flatten().cloned().collect();
        graph.retain(|node, next| {
            next.retain(|target| sources.contains(target));
            !next.is_empty() && targets.contains(node)
        });
        if graph.len() == before {
            return graph.into_keys().collect();
        }
    }
}

#[test]
fn imports_are_read_from_trees_and_inline_paths() {
    let text = "use crate::a::{self, b::C, F as G};\nuse super::h::I;\nfn x() { crate::j::k() }";
    let module = ["m".to_owned(), "n".to_owned()];
    let found: Vec<_> = used_paths(text, &module).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "a::b::C", "a::F", "j::k", "m::h::I"]);
}

#[test]
fn a_cycle_is_found_and_a_tree_has_none() {
    let nodes_on_cycles = |edges: &[(&str, &str)]| {
        let mut graph = BTreeMap::<String, BTreeSet<String>>::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        cyclic(graph)
    };
    assert!(nodes_on_cycles(&[("a", "b"), ("a", "c"), ("b", "c")]).is_empty());
    assert_eq!(nodes_on_cycles(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), ["b", "c"]);
}
