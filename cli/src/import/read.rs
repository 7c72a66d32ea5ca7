//! Reads prompts from Markdown, CSV and JSON files of this and other programs.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use promptarium::PromptType;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::export::ORIGIN;
use crate::failure::{FAILED, Failure, Result, USAGE};

/// The place of a prompt in the files, and the prompt, or why there is none.
pub(super) type Source = (String, Result<Document>);

/// What programs call the fields of a prompt.
const TITLE: [&str; 5] = ["title", "name", "act", "command", "label"];
const TEXT: [&str; 5] = ["content", "prompt", "text", "value", "template"];

/// Names of files that describe a repository, besides README.
const ABOUT: [&str; 7] =
    ["AGENTS", "CHANGELOG", "CLAUDE", "CODE_OF_CONDUCT", "CONTRIBUTING", "LICENSE", "SECURITY"];

/// Whether a file in a folder is about the folder, by its name, and has no front matter.
fn is_about_folder(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.split('.').next().unwrap_or_default();
    (name.eq_ignore_ascii_case("readme") || ABOUT.contains(&name))
        && fs::read_to_string(path)
            .is_ok_and(|it| !it.trim_start_matches('\u{feff}').starts_with("---"))
}

/// What is in a file or a folder. A file has an id only if it was exported from this library.
pub(super) fn sources(path: &Path, library: &str) -> Result<Vec<Source>> {
    if path.is_dir() {
        let entries = fs::read_dir(path).map_err(Failure::file(path))?.flatten();
        let is_visible = |entry: &DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
        let mut entries: Vec<_> = entries.filter(is_visible).map(|entry| entry.path()).collect();
        // A link to a folder could lead back to this one.
        entries.retain(|it| match it.is_dir() {
            true => !it.is_symlink(),
            false => it.is_file() && it.extension().is_some_and(|it| it.eq_ignore_ascii_case("md")),
        });
        entries.sort();
        let unread = |failure| vec![("not read".to_owned(), Err(failure))];
        let of_entry = |path: &PathBuf| match is_about_folder(path) {
            true => {
                let text = "it is about the folder; with front matter it is a prompt";
                vec![(path.display().to_string(), Err(Failure::new(FAILED, text)))]
            }
            false => sources(path, library).unwrap_or_else(unread),
        };
        return Ok(entries.iter().flat_map(of_entry).collect());
    }
    let name = path.display().to_string();
    let file = fs::read(path).map_err(Failure::file(path))?;
    let file = String::from_utf8(file).map_err(|_| {
        let failure = Failure::new(USAGE, format!("{name}: the text is not UTF-8"));
        failure.hint("save the file as UTF-8; spreadsheets ask for the encoding")
    })?;
    let file = file.trim_start_matches('\u{feff}');
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("csv" | "tsv") => csv(&name, file),
        Some("json" | "jsonl") => json(&name, file),
        _ => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let origin = fs::read_to_string(path.with_file_name(ORIGIN)).unwrap_or_default();
            let document = Document::parse(file).map(|mut document| {
                document.id = document.id.filter(|_| origin.trim() == library);
                if document.title.is_empty() {
                    document.title = stem.replace(['-', '_'], " ");
                }
                document
            });
            Ok(vec![(name, document)])
        }
    }
}

fn csv(name: &str, file: &str) -> Result<Vec<Source>> {
    let mut reader = csv::ReaderBuilder::new();
    // Spreadsheets of some languages write semicolons.
    let header = file.lines().next().unwrap_or_default();
    let delimiter = b"\t;,".iter().max_by_key(|it| header.bytes().filter(|c| c == *it).count());
    let reader = reader.delimiter(*delimiter.unwrap_or(&b',')).flexible(true);
    let mut reader = reader.from_reader(file.as_bytes());
    let failed = |error| Failure::new(USAGE, format!("{name}: {error}"));
    let headers = reader.headers().map_err(failed)?.clone();
    if !headers.iter().any(|it| TEXT.contains(&&*it.trim().to_lowercase())) {
        return Err(no_texts(name, "the first line names no column of texts"));
    }
    let row = |(number, row): (usize, std::result::Result<csv::StringRecord, csv::Error>)| {
        let document = row.map_err(|it| Failure::new(FAILED, it.to_string())).and_then(|row| {
            if row.iter().skip(headers.len()).any(|cell| !cell.trim().is_empty()) {
                let (cells, columns) = (row.len(), headers.len());
                let text = format!("it has {cells} cells, the header {columns}");
                return Err(Failure::new(FAILED, text).hint("a text with commas needs quotes"));
            }
            // A text in quotes that are closed is not the end of the file.
            let last = row.iter().next_back().unwrap_or_default();
            if last.contains('\n') && file.ends_with(last) {
                return Err(Failure::new(FAILED, "the quotes around its last text are not closed"));
            }
            let cells = headers.iter().map(str::to_owned).zip(row.iter().map(Value::from));
            document(&cells.collect(), "")
        });
        (format!("{name}, row {}", number + 1), document)
    };
    Ok(reader.records().enumerate().map(row).collect())
}

/// Values of JSON one after another: lists of objects, objects, or texts by their titles, at any
/// depth.
fn json(name: &str, file: &str) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for value in serde_json::Deserializer::from_str(file).into_iter() {
        let value = value.map_err(|it| Failure::new(USAGE, format!("{name}: not JSON: {it}")))?;
        collect(name, "", &value, &mut sources);
    }
    if sources.is_empty() {
        return Err(no_texts(name, "there is no object with a text"));
    }
    Ok(sources)
}

fn no_texts(name: &str, problem: &str) -> Failure {
    let hint = format!("texts are in one of: {}", TEXT.join(", "));
    Failure::new(USAGE, format!("{name}: {problem}")).hint(hint)
}

fn collect(name: &str, key: &str, value: &Value, sources: &mut Vec<Source>) {
    match value {
        Value::Array(values) => values.iter().for_each(|it| collect(name, key, it, sources)),
        Value::Object(object)
            if member(object, &TEXT).is_some_and(|it| !it.is_object() && !it.is_array()) =>
        {
            let place = format!("{name}, prompt {}", sources.len() + 1);
            sources.push((place, document(object, key)));
        }
        Value::Object(object) if object.values().all(Value::is_string) => {
            for (title, text) in object {
                let object = Map::from_iter([("text".to_owned(), text.clone())]);
                collect(name, title, &Value::Object(object), sources);
            }
        }
        Value::Object(object) => {
            object.iter().for_each(|(key, it)| collect(name, key, it, sources));
        }
        _ => {}
    }
}

/// The value of the first of these members that the object has, whatever its case.
fn member<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let find = |name: &&str| object.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    names.iter().find_map(find).map(|(_, value)| value).filter(|value| !value.is_null())
}

/// The prompt in an object; `key` is its title if it has none.
fn document(object: &Map<String, Value>, key: &str) -> Result<Document> {
    let text = |names: &[&str]| {
        let text = match member(object, names)? {
            Value::Number(number) => number.to_string(),
            other => other.as_str()?.trim().to_owned(),
        };
        Some(text).filter(|text| !text.is_empty())
    };
    let content = text(&TEXT).ok_or_else(|| Failure::new(FAILED, "it has no text"))?;
    let first_line = || content.lines().take(1).flat_map(str::chars).take(60).collect();
    let title = text(&TITLE).or_else(|| (!key.is_empty()).then(|| key.to_owned()));
    Ok(Document {
        title: title.unwrap_or_else(first_line),
        prompt_type: text(&["type", "promptType"]).map(|it| PromptType::from(&*it.to_lowercase())),
        model: text(&["model", "modelId"]),
        platform: text(&["platform"]),
        vaults: text(&["vault", "vaults"]).into_iter().collect(),
        text: content,
        ..Document::default()
    })
}
