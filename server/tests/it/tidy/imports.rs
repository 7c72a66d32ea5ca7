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

/// Every path of this crate that a file names, in full: `use` trees are taken apart.
fn used_paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = super::code_lines(text).collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = ["crate::", "super::", "self::"].iter().filter_map(|r| rest.find(r)).min()
    {
        let whole_word =
            !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let end = end_of_path(&rest[at..]);
        if whole_word {
            expand(&rest[at..at + end], String::new(), &mut paths);
        }
        rest = &rest[at + end..];
    }
    paths.iter().filter_map(|path| absolute(path, module)).collect()
}

/// The length of the path or `use` tree that a text begins with.
fn end_of_path(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' if text[..at].ends_with("::") || depth > 0 => depth += 1,
            '}' if depth > 0 => depth -= 1,
            c if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | ':') => continue,
            _ => return at,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

fn expand(tree: &str, prefix: String, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree).trim();
        paths.push(prefix + name);
        return;
    };
    let prefix = prefix + head.trim();
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut from) = (0_u32, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = group[from..at].trim();
                if !part.is_empty() {
                    expand(part, prefix.clone(), paths);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

fn absolute(path: &str, module: &[String]) -> Option<Vec<String>> {
    let mut full = module.to_vec();
    for (at, part) in path.split("::").filter(|part| !part.is_empty()).enumerate() {
        match part {
            "crate" if at == 0 => full.clear(),
            "self" => {}
            "super" => drop(full.pop()?),
            name => full.push(name.to_owned()),
        }
    }
    (!full.is_empty()).then_some(full)
}

/// The nodes that are on a cycle of the graph, or between two cycles.
pub(super) fn cyclic(mut graph: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
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
    let text =
        "use crate::a::{self, b::C, d::{E, F as G}};\nuse super::h::I;\nfn x() { crate::j::k() }";
    let module = ["m".to_owned(), "n".to_owned()];
    let found: Vec<_> = used_paths(text, &module).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "a::b::C", "a::d::E", "a::d::F", "m::h::I", "j::k"]);
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
