//! Whatever can be awaited can be blocked on: held against the source, so that a method
//! that is new here has to be new there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What has another name when it blocks: a list is no stream then, and an iterator's
/// `last` takes it to its end.
const RENAMED: [(&str, &str, &str); 2] =
    [("Call<E>", "stream", "items"), ("Watch", "last", "last_status")];

/// A type, with its arguments but without its mode, and the methods found on it.
type Methods = BTreeMap<String, BTreeSet<String>>;

#[derive(Default)]
struct Found {
    /// Types that have a mode.
    moded: BTreeSet<String>,
    /// Types that the folder `blocking` has of its own.
    twins: BTreeSet<String>,
    /// What is written outside that folder and names no mode.
    awaited: Methods,
    blocking: Methods,
}

impl Found {
    fn read(&mut self, folder: &Path, blocks: bool) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let blocks = blocks || path.file_stem().unwrap() == "blocking";
            if path.is_dir() {
                self.read(&path, blocks);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.read_text(&fs::read_to_string(path).unwrap(), blocks);
            }
        }
    }

    fn read_text(&mut self, text: &str, blocks: bool) {
        let mut block: Option<Impl> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub struct ") {
                let name = until(rest, "<({ ;").to_owned();
                if blocks {
                    self.twins.insert(name);
                } else if line.contains("M = Async>") {
                    self.moded.insert(name);
                }
            } else if line.starts_with("impl") {
                block = Some(Impl::of(line));
            } else if line == "}" {
                block = None;
            } else if let Some(Impl { of_trait, of, mode }) = &block {
                let methods = match mode.as_deref() {
                    Some("M") => continue,
                    Some(_) => &mut self.blocking,
                    None if blocks => &mut self.blocking,
                    None => &mut self.awaited,
                };
                methods.entry(of.clone()).or_default().extend(method(line, of_trait.as_deref()));
            }
        }
    }
}

/// The head of an `impl` block.
struct Impl {
    of_trait: Option<String>,
    of: String,
    mode: Option<String>,
}

impl Impl {
    fn of(line: &str) -> Self {
        let head = line.strip_prefix("impl").unwrap().trim_end_matches(['{', ' ', '}']);
        let mut depth = 0;
        let end = head.find(|letter| {
            depth += i32::from(letter == '<') - i32::from(letter == '>');
            depth == 0
        });
        let head = if head.starts_with('<') { &head[end.unwrap() + 1..] } else { head };
        let (of_trait, of) = match head.split_once(" for ") {
            Some((of_trait, of)) => (Some(of_trait.trim().to_owned()), of),
            None => (None, head),
        };
        let (name, arguments) =
            of.trim().trim_end_matches('>').split_once('<').unwrap_or((of.trim(), ""));
        let mut arguments: Vec<_> = arguments.split(", ").filter(|one| !one.is_empty()).collect();
        let last = arguments.pop_if(|last| matches!(*last, "M" | "Async" | "Blocking"));
        let mode = last.filter(|mode| *mode != "Async").map(str::to_owned);
        let of = if arguments.is_empty() {
            name.to_owned()
        } else {
            format!("{name}<{}>", arguments.join(", "))
        };
        Self { of_trait, of, mode }
    }
}

/// What stands for it in a comparison: the public methods of a type, and of its traits
/// those that do the waiting.
fn method(line: &str, of_trait: Option<&str>) -> Option<String> {
    let line = match of_trait {
        None => line.strip_prefix("    pub ")?,
        Some("IntoFuture" | "Stream" | "Iterator") => line.strip_prefix("    ")?,
        Some(_) => return None,
    };
    let line = line.strip_prefix("const ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    Some(match until(line.strip_prefix("fn ")?, "(<") {
        "into_future" => "send".to_owned(),
        "poll_next" => "next".to_owned(),
        name => name.to_owned(),
    })
}

fn until<'a>(text: &'a str, ends: &str) -> &'a str {
    text.split(|letter| ends.contains(letter)).next().unwrap()
}

/// What can be awaited and has no twin that blocks.
fn missing(found: &Found) -> Vec<String> {
    let mut missing = Vec::new();
    for (of, methods) in &found.awaited {
        let name = until(of, "<").to_owned();
        if !found.moded.contains(&name) && !found.twins.contains(&name) {
            continue;
        }
        let twins = found.blocking.get(of).cloned().unwrap_or_default();
        for method in methods {
            let renamed = RENAMED.iter().find(|(on, old, _)| on == of && old == method);
            if !twins.contains(renamed.map_or(method.as_str(), |(_, _, new)| new)) {
                missing.push(format!("{of}::{method}"));
            }
        }
    }
    missing
}

#[test]
fn whatever_can_be_awaited_can_be_blocked_on() {
    let mut found = Found::default();
    found.read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), false);
    assert_eq!(missing(&found), Vec::<String>::new());

    // It looked where it says.
    for of in ["Call", "Generations", "GetAsset", "JobHandle", "Prompts", "UploadImage", "Wait"] {
        assert!(found.moded.contains(of), "{of}");
    }
    for (of, method) in [
        ("Client", "prompts"),
        ("Client", "patch"),
        ("Call<E>", "send"),
        ("Call<E>", "send_with_meta"),
        ("Call<E>", "stream"),
        ("GetAsset", "send"),
        ("Items<T>", "next"),
        ("Pages<T>", "cursor"),
        ("UploadImage", "send"),
        ("Wait", "send"),
        ("Watch", "deadline"),
    ] {
        assert!(found.awaited[of].contains(method), "{of}::{method}");
    }
}

#[test]
fn a_method_without_a_twin_is_named() {
    let mut found = Found::default();
    let text = "pub struct Call<E, M = Async> {\n}\nimpl<E: Endpoint, M> Call<E, M> {\n    pub fn both(self) {}\n}\n\
                impl<E: Endpoint> Call<E> {\n    pub async fn send(self) {}\n    pub async fn new(self) {}\n}\n\
                impl Call<List> {\n    pub fn stream(self) {}\n}\nimpl IntoFuture for Wait {\n    fn into_future(self) {}\n}\n";
    found.read_text(text, false);
    found.read_text("pub struct Wait<M = Async> {\n}\n", false);
    found.read_text("impl<E: Endpoint> Call<E, Blocking> {\n    pub fn send(self) {}\n}\n", true);
    assert_eq!(missing(&found), ["Call<E>::new", "Call<List>::stream", "Wait::send"]);
}
