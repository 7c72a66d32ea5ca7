//! The groups of modules: the reference imports nothing of PostgreSQL and nothing of the product,
//! PostgreSQL nothing of the product.

use std::collections::BTreeMap;

use super::server_modules;

/// The rank of each module or folder that `server/groups.txt` names, from 0, the reference.
fn ranks() -> BTreeMap<&'static str, usize> {
    let (mut ranks, mut groups) = (BTreeMap::new(), 0);
    for line in include_str!("../../../groups.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix(' ') {
            Some(paths) => {
                for path in paths.split_whitespace() {
                    assert_eq!(ranks.insert(path, groups - 1), None, "{path} is named twice");
                }
            }
            None => groups += usize::from(!line.is_empty()),
        }
    }
    assert_eq!(groups, 3);
    ranks
}

/// That of the longest path that the module is or is in.
fn rank(ranks: &BTreeMap<&str, usize>, module: &[String]) -> usize {
    let paths = (1..=module.len()).rev().map(|end| module[..end].join("/"));
    let found = paths.filter_map(|path| ranks.get(&*path)).next();
    *found.unwrap_or_else(|| panic!("{module:?} has no group in server/groups.txt"))
}

#[test]
fn the_reference_imports_no_product_and_no_postgresql_and_postgresql_no_product() {
    let ranks = ranks();
    let modules = server_modules();
    let mut upward = Vec::new();
    let mut of_each = [0; 3];
    for module in &modules {
        let own = rank(&ranks, &module.path);
        of_each[own] += 1;
        for import in module.imports.iter().filter(|import| rank(&ranks, import) > own) {
            upward.push(format!("{} imports {}", module.path.join("::"), import.join("::")));
        }
    }
    assert!(upward.is_empty(), "{upward:#?}");
    assert!(of_each.iter().all(|modules| *modules > 10), "{of_each:?}");
    for path in ranks.keys().filter(|path| **path != "lib") {
        let is_below = |module: &[String]| module.join("/").starts_with(path);
        assert!(modules.iter().any(|module| is_below(&module.path)), "{path} is no module");
    }
}
