//! The oldest Rust we say we build with, as far as it can be told without that Rust:
//! nothing we depend on asks for a newer one. CI builds with it besides.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// `1.88` and `1.88.0` are the same.
type Version = [u64; 3];

fn version(text: &str) -> Version {
    let mut version = [0; 3];
    for (part, text) in version.iter_mut().zip(text.split('.')) {
        *part = text.parse().unwrap();
    }
    version
}

fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--all-features", "--format-version", "1"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All that is built for these packages on any platform, tests and all.
fn built_for<'a>(roots: &BTreeSet<&'a str>, metadata: &'a Value) -> BTreeSet<&'a str> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<_, _> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let mut built = BTreeSet::new();
    let mut ahead: Vec<_> = roots.iter().copied().collect();
    while let Some(id) = ahead.pop() {
        if built.insert(id) {
            let needed = nodes[id]["dependencies"].as_array().unwrap();
            ahead.extend(needed.iter().map(|id| id.as_str().unwrap()));
        }
    }
    built
}

#[test]
fn no_dependency_asks_for_a_newer_rust_than_we_do() {
    let metadata = metadata();
    let packages: BTreeMap<_, _> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package))
        .collect();
    let is_ours = |id: &&str| packages[id]["source"].is_null();
    // An empty list of registries is what `publish = false` is written as.
    let is_published = |id: &&str| packages[id]["publish"].is_null();
    let published: BTreeSet<_> =
        packages.keys().copied().filter(is_ours).filter(is_published).collect();
    assert_eq!(published.len(), 3);

    let asked = |id: &str| packages[id]["rust_version"].as_str().map(version);
    let ours = published.iter().map(|id| asked(id).unwrap()).min().unwrap();
    let built = built_for(&published, &metadata);
    assert!(built.len() > 200, "only {} packages were looked at", built.len());
    let newer: Vec<_> = built.into_iter().filter(|id| asked(id) > Some(ours)).collect();
    assert!(newer.is_empty(), "these ask for a newer Rust than {ours:?}: {newer:#?}");
}
