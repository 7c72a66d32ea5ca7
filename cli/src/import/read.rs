//! Reads prompts from Markdown, CSV and JSON files of this and other programs.

use std::fs;
use std::path::{Path, PathBuf};

use promptarium::PromptType;
use serde_json::{Map, Value, json};

use crate::app::{Failure, Result, USAGE};
use crate::document::{Document, ORIGIN};

type Read<T> = std::result::Result<T, String>;

/// The place of a prompt in the files, and the prompt, or why there is none.
pub(super) type Source = (String, Read<Document>);

/// What programs call the fields of a prompt.
const TITLE: [&str; 5] = ["title", "name", "act", "command", "label"];
const TEXT: [&str; 5] = ["content", "prompt", "text", "value", "template"];

/// Names of files, besides README, that describe the folder that they are in.
const ABOUT: [&str; 7] =
    ["AGENTS", "CHANGELOG", "CLAUDE", "CODE_OF_CONDUCT", "CONTRIBUTING", "LICENSE", "SECURITY"];

/// What is in a file or a folder. A file has an id only if it was exported from this library.
pub(super) fn sources(path: &Path, library: &str) -> Result<Vec<Source>> {
    let extension = |path: &Path| path.extension().unwrap_or_default().to_ascii_lowercase();
    let place = |path: &Path| path.display().to_string();
    let name = place(path);
    if !path.is_dir() {
        let file = || read(path).map_err(|error| Failure::new(USAGE, format!("{name}: {error}")));
        return match extension(path).to_str() {
            Some("csv" | "tsv") => csv(&name, &file()?),
            Some("json" | "jsonl") => json(&name, &file()?),
            _ => Ok(vec![(place(path), markdown(path, library, true))]),
        };
    }
    let entries = fs::read_dir(path).map_err(Failure::file(path))?.flatten();
    let shown = entries.filter(|it| !it.file_name().as_encoded_bytes().starts_with(b"."));
    let mut paths: Vec<_> = shown.map(|entry| entry.path()).collect();
    paths.sort();
    let of_entry = |path: &PathBuf| match path.is_dir() {
        // A link to a folder could lead back to this one.
        true if !path.is_symlink() => sources(path, library)
            .unwrap_or_else(|failure| vec![(place(path), Err(failure.to_string()))]),
        false if path.is_file() && extension(path) == "md" => {
            vec![(place(path), markdown(path, library, false))]
        }
        _ => Vec::new(),
    };
    Ok(paths.iter().flat_map(of_entry).collect())
}

fn read(path: &Path) -> Read<String> {
    let file = fs::read(path).map_err(|error| error.to_string())?;
    let file = String::from_utf8(file).map_err(|_| "the text is not UTF-8; save it as UTF-8")?;
    Ok(file.trim_start_matches('\u{feff}').to_owned())
}

fn markdown(path: &Path, library: &str, is_named: bool) -> Read<Document> {
    let mut document = Document::parse(&read(path)?).map_err(|failure| failure.to_string())?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if document.title.is_empty() {
        let name = stem.split('.').next().unwrap_or_default();
        if !is_named && (name.eq_ignore_ascii_case("readme") || ABOUT.contains(&name)) {
            return Err("it is about the folder; a title in front matter makes it a prompt".into());
        }
        document.title = stem.replace(['-', '_'], " ");
    }
    let origin = fs::read_to_string(path.with_file_name(ORIGIN)).unwrap_or_default();
    document.id = document.id.filter(|_| origin.trim() == library);
    Ok(document)
}

fn csv(name: &str, file: &str) -> Result<Vec<Source>> {
    // Spreadsheets of some languages write semicolons.
    let header = file.lines().next().unwrap_or_default();
    let delimiter = b"\t;,".iter().max_by_key(|it| header.bytes().filter(|c| c == *it).count());
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(*delimiter.unwrap_or(&b',')).flexible(true);
    let mut reader = reader.from_reader(file.as_bytes());
    let failed = |error| Failure::new(USAGE, format!("{name}: {error}"));
    let headers = reader.headers().map_err(failed)?.clone();
    let mut sources = Vec::new();
    for (number, row) in (1..).zip(reader.records()) {
        let row = row.map_err(failed)?;
        let (cells, columns) = (row.len(), headers.len());
        let last = row.iter().next_back().unwrap_or_default();
        let document = if row.iter().skip(columns).any(|cell| !cell.trim().is_empty()) {
            Err(format!(
                "it has {cells} cells, the header {columns}; texts with commas need quotes"
            ))
        } else if last.contains('\n') && file.ends_with(last) {
            // A text in quotes that are closed is not the end of the file.
            Err("the quotes around its last text are not closed".to_owned())
        } else {
            let cells = headers.iter().map(str::to_owned).zip(row.iter().map(Value::from));
            document(&cells.collect(), "")
        };
        sources.push((format!("{name}, row {number}"), document));
    }
    Ok(sources)
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
        let text = format!("{name}: there is no object with a text in one of: {}", TEXT.join(", "));
        return Err(Failure::new(USAGE, text));
    }
    Ok(sources)
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
        Value::Object(object) => {
            let are_texts = object.values().all(Value::is_string);
            for (key, value) in object {
                let of_title = are_texts.then(|| json!({ "text": value }));
                collect(name, key, of_title.as_ref().unwrap_or(value), sources);
            }
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
fn document(object: &Map<String, Value>, key: &str) -> Read<Document> {
    let text = |names: &[&str]| {
        let text = match member(object, names)? {
            Value::Number(number) => number.to_string(),
            other => other.as_str()?.trim().to_owned(),
        };
        Some(text).filter(|text| !text.is_empty())
    };
    let no_text = || format!("it has no text, in one of: {}", TEXT.join(", "));
    let content = text(&TEXT).ok_or_else(no_text)?;
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
