//! Reads prompts from Markdown, CSV and JSON files of this and other programs.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::document::Document;
use crate::failure::{Failure, Result};

/// A prompt of a file, or why there is none.
pub(super) struct Source {
    /// The file, and where in it.
    pub(super) place: String,
    pub(super) document: std::result::Result<Document, String>,
}

/// What programs call the fields of a prompt.
const TITLE: [&str; 5] = ["title", "name", "act", "command", "label"];
const TEXT: [&str; 5] = ["content", "prompt", "text", "value", "template"];

pub(super) fn sources(path: &Path) -> Result<Vec<Source>> {
    if path.is_dir() {
        let mut sources = Vec::new();
        let mut entries: Vec<_> = fs::read_dir(path)
            .map_err(Failure::file(path))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<std::result::Result<_, _>>()?;
        entries.sort();
        for entry in entries {
            let is_hidden =
                entry.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && (entry.is_dir() || entry.extension().is_some_and(|it| it == "md")) {
                sources.extend(self::sources(&entry)?);
            }
        }
        return Ok(sources);
    }
    let file = fs::read(path).map_err(Failure::file(path))?;
    let file = String::from_utf8_lossy(&file).trim_start_matches('\u{feff}').to_owned();
    let name = path.display().to_string();
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    match &*extension.to_ascii_lowercase() {
        "csv" => csv(&name, &file, b','),
        "tsv" => csv(&name, &file, b'\t'),
        "json" | "jsonl" => json(&name, &file),
        _ => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let titled = |document: Document| match &*document.title {
                "" => Document { title: stem.replace(['-', '_'], " "), ..document },
                _ => document,
            };
            let document = Document::parse(&file).map(titled);
            Ok(vec![Source { place: name, document }])
        }
    }
}

fn csv(name: &str, file: &str, delimiter: u8) -> Result<Vec<Source>> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file.as_bytes());
    let failed = |error| Failure::usage(format!("{name}: {error}"));
    let headers: Vec<_> = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
    if !headers.iter().any(|header| TEXT.contains(&&*header.trim().to_lowercase())) {
        let text = format!("{name}: the first line names no column of texts");
        return Err(Failure::usage(text).hint(format!("call it one of: {}", TEXT.join(", "))));
    }
    let source = |(number, record): (usize, std::result::Result<csv::StringRecord, csv::Error>)| {
        let document = record.map_err(|error| error.to_string()).and_then(|record| {
            let cells = headers.iter().cloned().zip(record.iter().map(Value::from));
            document(&cells.collect(), "")
        });
        Source { place: format!("{name}, row {}", number + 1), document }
    };
    Ok(reader.records().enumerate().map(source).collect())
}

/// Values of JSON one after another: lists of objects, objects, or objects by their titles, at any
/// depth.
fn json(name: &str, file: &str) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for value in serde_json::Deserializer::from_str(file).into_iter() {
        let value = value.map_err(|error| Failure::usage(format!("{name}: not JSON: {error}")))?;
        collect(name, "", &value, &mut sources);
    }
    if sources.is_empty() {
        let text = format!("{name}: there is no object with a text");
        return Err(Failure::usage(text).hint(format!("texts are in: {}", TEXT.join(", "))));
    }
    Ok(sources)
}

fn collect(name: &str, key: &str, value: &Value, sources: &mut Vec<Source>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(name, key, value, sources)),
        Value::Object(object) if member(object, &TEXT).is_some() => {
            let place = format!("{name}, prompt {}", sources.len() + 1);
            sources.push(Source { place, document: document(object, key) });
        }
        Value::Object(object) if object.values().all(Value::is_string) && !object.is_empty() => {
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
    let is_named = |name: &str, key: &str| key.trim().eq_ignore_ascii_case(name);
    let find = |name: &&str| object.iter().find(|(key, _)| is_named(name, key));
    names.iter().find_map(find).map(|(_, value)| value).filter(|value| !value.is_null())
}

/// The prompt in an object; `key` is its title if it has none.
fn document(object: &Map<String, Value>, key: &str) -> std::result::Result<Document, String> {
    let field =
        |names: &[&str]| member(object, names)?.as_str().map(str::trim).filter(|it| !it.is_empty());
    let Some(text) = field(&TEXT) else { return Err("it has no text".into()) };
    let first_line = || text.lines().next().unwrap_or_default().chars().take(60).collect();
    let title = field(&TITLE).or(Some(key).filter(|key| !key.is_empty()));
    let vault = field(&["vault", "vaults"]);
    Ok(Document {
        title: title.map_or_else(first_line, str::to_owned),
        prompt_type: field(&["type", "promptType"]).map(str::to_owned),
        platform: field(&["platform"]).map(str::to_owned),
        vaults: vault.into_iter().map(str::to_owned).collect(),
        text: text.to_owned(),
        ..Document::default()
    })
}
