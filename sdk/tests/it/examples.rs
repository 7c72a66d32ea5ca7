//! Every method of a resource has an example, and examples run: held against the source,
//! so that a method that is new here needs one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders of `src/client` that are rooms of a resource.
const ROOMS: [&str; 7] =
    ["assets", "contents", "generations", "prompts", "raw", "uploads", "vaults"];

/// The examples that are only compiled, as how many of a file, and why.
const NOT_RUN: [(&str, usize, &str); 4] = [
    ("README.md", 2, "clients from the environment, one that blocks"),
    ("src/client.rs", 1, "a client from the environment"),
    ("src/client/blocking.rs", 1, "a client from the environment"),
    ("src/client/blocking/reader.rs", 1, "reads the standard input"),
];

/// A public method, as its head and docs tell of it.
#[derive(Debug)]
struct Method {
    on: String,
    name: String,
    gives: String,
    has_example: bool,
}

#[derive(Default)]
struct Found {
    /// Types with an example in their docs.
    shown: BTreeSet<String>,
    methods: Vec<Method>,
}

impl Found {
    fn read(&mut self, text: &str) {
        let (mut on, mut has_example) = (String::new(), false);
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let code = line.trim_start();
            if code.starts_with("///") {
                has_example |= code.contains("```");
                continue;
            }
            if code.starts_with("#[") {
                continue;
            }
            if line.starts_with("impl") {
                on = name_of_impl(line);
            } else if let Some(rest) = line.strip_prefix("pub struct ") {
                if has_example {
                    self.shown.insert(until(rest, "<({ ;").to_owned());
                }
            } else if let Some(name) = public_method(line) {
                let mut head = line.to_owned();
                while !head.ends_with('{') {
                    head.push_str(lines.next().unwrap());
                }
                let gives = head.rsplit_once("-> ").map_or("", |(_, gives)| until(gives, "<( {"));
                let (name, gives) = (name.to_owned(), gives.to_owned());
                self.methods.push(Method { on: on.clone(), name, gives, has_example });
            }
            has_example = false;
        }
    }

    /// A method needs an example of its own, or one of the type that it gives or belongs
    /// to. A plain setter, which gives the call it was called on, is shown where the call
    /// is made.
    fn missing(&self) -> Vec<String> {
        let missing = self.methods.iter().filter(|method| {
            let shown = |of: &str| self.shown.contains(of);
            !(method.has_example
                || method.gives == "Self"
                || shown(&method.gives)
                || shown(&method.on))
        });
        missing.map(|method| format!("{}::{}", method.on, method.name)).collect()
    }
}

/// The type that an `impl` block is for.
fn name_of_impl(line: &str) -> String {
    let head = line.trim_start_matches("impl").trim_end_matches([' ', '{', '}']);
    let head = head.split_once(" for ").map_or(head, |(_, of)| of);
    let of = if head.starts_with('<') { head.split_once("> ").unwrap().1 } else { head };
    until(of.trim_start(), "<").to_owned()
}

fn public_method(line: &str) -> Option<&str> {
    let line = line.strip_prefix("    pub ")?;
    let line = line.strip_prefix("const ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    Some(until(line.strip_prefix("fn ")?, "(<"))
}

fn until<'a>(text: &'a str, ends: &str) -> &'a str {
    text.split(|letter| ends.contains(letter)).next().unwrap()
}

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All sources in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_method_of_a_resource_has_an_example() {
    let client = crate_folder().join("src/client");
    let mut found = Found::default();
    for room in ROOMS {
        found.read(&fs::read_to_string(client.join(room).with_extension("rs")).unwrap());
        let folder = client.join(room);
        for file in if folder.is_dir() { sources(&folder) } else { Vec::new() } {
            found.read(&fs::read_to_string(file).unwrap());
        }
    }
    assert_eq!(found.missing(), Vec::<String>::new());

    // It looked where it says.
    for (on, name) in [
        ("Assets", "get"),
        ("Client", "patch"),
        ("Generations", "create"),
        ("Prompts", "save"),
        ("Uploads", "slot"),
        ("VaultContents", "move_to"),
        ("Vaults", "fork"),
        ("Watch", "next"),
    ] {
        assert!(found.methods.iter().any(|one| one.on == on && one.name == name), "{on}::{name}");
    }
}

#[test]
fn examples_run_but_for_those_that_cannot() {
    let mut files = sources(&crate_folder().join("src"));
    files.push(crate_folder().join("README.md"));
    let mut not_run = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let fences = text.lines().filter(|line| {
            let line = line.trim_start().trim_start_matches(['/', '!', ' ']);
            line.strip_prefix("```").is_some_and(|how| {
                how.split(',').any(|word| matches!(word.trim(), "no_run" | "ignore"))
            })
        });
        let count = fences.count();
        if count > 0 {
            let name = file.strip_prefix(crate_folder()).unwrap().to_str().unwrap();
            not_run.push((name.replace('\\', "/"), count));
        }
    }
    not_run.sort();
    assert_eq!(not_run, NOT_RUN.map(|(name, count, _)| (name.to_owned(), count)));
}

#[test]
fn a_method_without_an_example_is_named() {
    let mut found = Found::default();
    found.read(
        "/// ```\n/// ```\npub struct Wait<M = Async> {\n}\n\
         impl<M: Mode> Jobs<M> {\n    /// Text.\n    pub fn plain(&self) -> Call<Get, M> {\n    }\n\
         /// ```\n/// ```\n    #[must_use]\n    pub fn shown(&self) -> Call<Get, M> {\n    }\n    \
         pub fn wait(\n        &self,\n    ) -> Wait<M> {\n    }\n    \
         pub const fn size(mut self) -> Self {\n    }\n    fn own(&self) -> Job {\n    }\n}\n\
         impl Wait {\n    pub async fn next(&mut self) -> Option<Job> {\n    }\n}\n",
    );
    assert_eq!(found.missing(), ["Jobs::plain"]);
}
