//! What lints cannot hold: the length of files, and imports that never happen.

use std::fs;
use std::path::{Path, PathBuf};

/// A file longer than this has a seam somewhere.
const LINES_MAX: usize = 300;

struct Source {
    /// From the root of the workspace, with slashes.
    path: String,
    text: String,
}

impl Source {
    /// Everything before the tests at a file's end; nothing of a file of tests.
    fn without_tests(&self) -> &str {
        let of_tests = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        if of_tests { "" } else { self.text.split("\n#[cfg(test)]\nmod tests {").next().unwrap() }
    }

    /// The files and folders of modules that only tests are built with.
    fn test_modules(&self) -> Vec<String> {
        let folder = self.path.strip_suffix(".rs").unwrap();
        let folder = folder.strip_suffix("/lib").unwrap_or(folder);
        let declared = self.text.split("#[cfg(test)]\n").skip(1);
        let lines = declared.filter_map(|rest| rest.lines().next());
        let names = lines.filter_map(|line| line.strip_suffix(';')?.split("mod ").nth(1));
        names.flat_map(|name| ["/", ".rs"].map(|end| format!("{folder}/{name}{end}"))).collect()
    }

    fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["sdk", "server", "conformance", "examples", "release"] {
        collect(&root.join(folder), &mut files);
    }
    let mut sources: Vec<_> = files
        .iter()
        .map(|file| Source {
            path: file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"),
            text: fs::read_to_string(file).unwrap(),
        })
        .collect();
    let of_tests: Vec<_> = sources.iter().flat_map(Source::test_modules).collect();
    sources.retain(|source| !of_tests.iter().any(|path| source.is_below(path)));
    assert!(sources.len() > 50, "the workspace is not where this test looks");
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn no_file_is_longer_than_its_limit() {
    let long: Vec<_> = sources()
        .iter()
        .map(|source| (source.path.clone(), source.without_tests().lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<_> = sources()
        .iter()
        .filter(|source| source.path.contains("/src/") && !source.without_tests().is_empty())
        .filter(|source| !source.text.starts_with("//!") && !source.text.starts_with("#!["))
        .map(|source| source.path.clone())
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn imports_that_never_happen_do_not_happen() {
    // Where, except where, and what must not stand there.
    let rules: [(&str, &[&str], &[&str]); 13] = [
        ("sdk/", &[], &["promptarium_server", "promptarium_conformance"]),
        ("server/", &[], &["promptarium_conformance"]),
        ("conformance/src/", &[], &["promptarium_server"]),
        (
            "server/src/store",
            &[],
            &["http::", "hyper", "crate::api", "crate::serve", "crate::http"],
        ),
        ("server/src/api", &[], &["store::memory", "MemoryStore", "crate::serve", "tokio"]),
        ("server/src/http", &[], &["crate::api", "crate::serve"]),
        ("server/src/domain", &[], &["crate::"]),
        ("server/src/http/validate", &[], &["crate::store", "crate::api", "http::", "hyper"]),
        ("server/src/serve/service", &[], &["tokio::net", "TcpStream", "MemoryStore"]),
        ("server/src/", &["server/src/serve/listener.rs"], &["hyper_util::"]),
        ("server/src/", &["server/src/outbound"], &["reqwest"]),
        (
            "server/src/",
            &["server/src/outbound", "server/src/store/postgres/connect"],
            &["rustls::"],
        ),
        ("server/src/", &["server/src/blobs"], &["object_store"]),
    ];
    let sources = sources();
    for (folder, except, words) in rules {
        let files = sources
            .iter()
            .filter(|source| source.is_below(folder))
            .filter(|source| !except.iter().any(|except| source.is_below(except)))
            .filter(|source| source.path != "server/tests/it/tidy.rs");
        for source in files {
            for line in code_of(source.without_tests()) {
                let found = words.iter().find(|word| line.contains(**word));
                assert!(found.is_none(), "{}: {line}", source.path);
            }
        }
    }
}

#[test]
fn nothing_is_left_over() {
    for source in sources().iter().filter(|source| !source.path.ends_with("tidy.rs")) {
        for word in ["TODO", "FIXME", "XXX", "HACK"] {
            assert!(!source.text.contains(word), "{}: {word}", source.path);
        }
    }
}

/// Lines that are no comments.
fn code_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"))
}
