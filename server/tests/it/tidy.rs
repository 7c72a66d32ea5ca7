//! What lints cannot check: file length, module depth and the direction of imports.

mod groups;
mod imports;

use std::fs;
use std::path::Path;

use self::imports::{Module, code_lines, sibling_cycles, upward};
use crate::support::files;

/// Lines of a file without its tests.
const LINES_MAX: usize = 300;

/// `store::postgres::jobs` is as deep as modules go.
const DEPTH_MAX: usize = 3;

/// Modules of the server from top to bottom. A module imports only from rows below its own.
const LAYERS: [&[&str]; 17] = [
    &["main"],
    &["run"],
    &["program"],
    &["embedded"],
    &["start"],
    &["config"],
    &["serve"],
    &["web"],
    &["search"],
    &["api"],
    &["http"],
    &["generate"],
    &["blobs"],
    &["outbound"],
    &["store"],
    &["clock", "error_chain", "limits", "quota"],
    &["domain"],
];

/// Folder, exceptions below it, and text that no line of code in it contains.
type Forbidden = (&'static str, &'static [&'static str], &'static [&'static str]);

const FORBIDDEN: [Forbidden; 10] = [
    ("sdk/", &[], &["promptarium_server", "promptarium_conformance"]),
    ("server/", &[], &["promptarium_conformance"]),
    ("conformance/src/", &[], &["promptarium_server"]),
    ("cli/src/", &[], &["promptarium_server", "promptarium_conformance"]),
    ("server/src/store", &[], &[" http::", "hyper"]),
    ("server/src/api", &[], &["MemoryStore", "PostgresStore", "tokio::net", "tokio::spawn"]),
    (
        "server/src/",
        &["server/src/store/postgres", "server/src/store/postgres.rs"],
        &["tokio_postgres"],
    ),
    ("server/src/", &["server/src/serve"], &["hyper_util::"]),
    ("server/src/", &["server/src/outbound"], &["reqwest"]),
    ("server/src/", &["server/src/blobs"], &["object_store"]),
];

struct Source {
    /// From the root of the workspace, with slashes.
    path: String,
    text: String,
}

impl Source {
    /// Everything before the test module at the end of the file; nothing of a file of tests.
    fn without_tests(&self) -> &str {
        let is_test = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        if is_test { "" } else { self.text.split("\n#[cfg(test)]\nmod tests {").next().unwrap() }
    }

    /// Files and folders of modules that are compiled for tests only.
    fn test_modules(&self) -> Vec<String> {
        let folder = self.path.strip_suffix(".rs").unwrap();
        let folder = folder.strip_suffix("/lib").unwrap_or(folder);
        let declared = self.text.split("#[cfg(test)]\n").skip(1);
        let lines = declared.filter_map(|rest| rest.lines().next());
        let names = lines.filter_map(|line| line.strip_suffix(';')?.split("mod ").nth(1));
        names.flat_map(|name| ["/", ".rs"].map(|end| format!("{folder}/{name}{end}"))).collect()
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates = ["sdk", "server", "conformance", "cli", "examples"];
    let files = crates.iter().flat_map(|folder| files(&root.join(folder)));
    let mut sources: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| Source {
            path: file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"),
            text: fs::read_to_string(file).unwrap(),
        })
        .collect();
    let tests: Vec<_> = sources.iter().flat_map(Source::test_modules).collect();
    sources.retain(|source| !tests.iter().any(|path| source.path.starts_with(path.as_str())));
    assert!(sources.len() > 50, "the workspace is not where this test looks");
    sources
}

/// The modules of the server, without tests.
fn server_modules() -> Vec<Module> {
    let sources = sources();
    let files = sources.iter().filter_map(|source| {
        let path = source.path.strip_prefix("server/src/")?.strip_suffix(".rs")?;
        (path != "lib" && !source.without_tests().is_empty())
            .then(|| (path.split('/').map(str::to_owned).collect(), source.without_tests()))
    });
    imports::modules(files)
}

#[test]
fn files_begin_with_their_purpose_are_short_and_hold_no_reminders() {
    let mut faults = Vec::new();
    for source in &sources() {
        let Source { path, text } = source;
        let code = source.without_tests();
        let purpose = text.starts_with("//!") || text.starts_with("#![");
        if path.contains("/src/") && !code.is_empty() && !purpose {
            faults.push(format!("{path}: does not begin with //!"));
        }
        if code.lines().count() > LINES_MAX {
            faults.push(format!("{path}: more than {LINES_MAX} lines"));
        }
        let words = ["TODO", "FIXME", "XXX", "HACK"].into_iter();
        let words = words.filter(|word| text.contains(word) && !path.ends_with("tidy.rs"));
        faults.extend(words.map(|word| format!("{path}: {word}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn server_modules_import_only_from_lower_layers_and_are_at_most_three_levels_deep() {
    let modules = server_modules();
    for module in &modules {
        assert!(module.path.len() <= DEPTH_MAX, "{:?}", module.path);
    }
    let upward = upward(&modules, &LAYERS);
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn sibling_modules_of_the_server_have_no_import_cycle() {
    let cycles = sibling_cycles(&server_modules());
    assert!(cycles.is_empty(), "{cycles:#?}");
}

#[test]
fn forbidden_imports_do_not_occur() {
    let sources = sources();
    for (folder, except, words) in FORBIDDEN {
        let files = sources
            .iter()
            .filter(|source| source.path.starts_with(folder))
            .filter(|source| !except.iter().any(|except| source.path.starts_with(except)))
            .filter(|source| !source.path.starts_with("server/tests/it/tidy"));
        for source in files {
            for line in code_lines(source.without_tests()) {
                let found = words.iter().find(|word| line.contains(**word));
                assert!(found.is_none(), "{}: {line}", source.path);
            }
        }
    }
}
