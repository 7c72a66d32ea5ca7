//! The pages for people: links, size, lines that the program prints, and commands.

mod commands;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::files;

/// Words of the pages for people, without those for maintainers.
const WORDS_MAX: usize = 34_000;

/// The folders with pages.
const FOLDERS: [&str; 3] = ["docs", "docs/reference", "docs/internals"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn markdown(folder: &str) -> Vec<String> {
    let names = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    names
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"))
        .map(|name| prefix.clone() + &name)
        .collect()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// Without the blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The part of a link behind `#` that leads to this heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.chars().filter(kept).collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let folders = [&FOLDERS[..], &["", "sdk", "server", "conformance"]].concat();
    let pages: Vec<_> = folders.into_iter().flat_map(markdown).collect();
    let mut links = 0;
    // `conformance/api.md` is a link to the page below `docs`.
    for page in pages.iter().filter(|page| *page != "conformance/api.md") {
        let text = prose(&read(page));
        let without_code: String = text.split('`').step_by(2).collect();
        for link in without_code.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let from: PathBuf = root().join(page);
            let target = if file.is_empty() { from } else { from.with_file_name("").join(file) };
            assert!(target.exists(), "{page}: {link}");
            if !heading.is_empty() {
                let text = prose(&fs::read_to_string(target).unwrap());
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches(['#', ' '])));
                assert!(anchors.any(|anchor| anchor == heading), "{page}: {link}");
            }
            links += 1;
        }
    }
    assert!(links > 200, "{links}");
}

#[test]
fn every_page_is_in_the_list_of_pages() {
    let list = read("docs/README.md");
    for page in FOLDERS.map(markdown).concat() {
        let link = format!("]({})", page.strip_prefix("docs/").unwrap());
        assert!(page == "docs/README.md" || list.contains(&link), "{page}");
    }
}

#[test]
fn the_pages_are_short() {
    let pages = ["docs", "docs/reference"].map(markdown).concat();
    let pages = pages.iter().map(String::as_str).chain(["README.md"]);
    let words: usize = pages.map(|page| read(page).split_whitespace().count()).sum();
    assert!(words <= WORDS_MAX, "{words}");
}

#[test]
fn every_line_that_the_page_on_trouble_explains_is_in_the_program() {
    // With strings of several lines on one.
    let mut program = String::new();
    for file in files(&root().join("server/src")) {
        let text = fs::read_to_string(file).unwrap().replace("\\\"", "\"");
        program.extend(text.split("\\\n").map(str::trim_start));
    }
    let page = read("docs/troubleshoot.md");
    let lines = page.lines().filter_map(|line| line.strip_prefix("| `")?.split("` |").next());
    let lines: BTreeSet<_> = lines.collect();
    assert!(lines.len() > 20, "{lines:?}");
    for part in lines.iter().flat_map(|line| line.split('…')).map(str::trim) {
        assert!(program.contains(part), "{part}");
    }
}
