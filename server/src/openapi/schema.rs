//! The words that schemas are made of. Each says what `validate` checks or what
//! `api::view` writes, in JSON Schema 2020-12.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

/// What all strings keep to (S-66).
const NO_NUL: &str = r"^[^\u0000]*$";

/// A shared schema, by its name.
pub(super) fn of(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The same schema with more said about it.
pub(super) fn with(mut schema: Value, more: Value) -> Value {
    if let (Some(schema), Value::Object(more)) = (schema.as_object_mut(), more) {
        schema.extend(more);
    }
    schema
}

/// Any string.
pub(super) fn string() -> Value {
    json!({ "type": "string", "pattern": NO_NUL })
}

/// A string of so many characters, which are Unicode scalar values.
pub(super) fn text(chars: RangeInclusive<usize>) -> Value {
    let least = match *chars.start() {
        0 => json!({}),
        least => json!({ "minLength": least }),
    };
    with(with(string(), least), json!({ "maxLength": chars.end() }))
}

/// A string that is not empty.
pub(super) fn some_text() -> Value {
    with(string(), json!({ "minLength": 1 }))
}

/// Bytes that are no text.
pub(super) fn bytes() -> Value {
    json!({ "type": "string", "format": "binary" })
}

/// An absolute address (S-11).
pub(super) fn url() -> Value {
    json!({ "type": "string", "format": "uri" })
}

/// A moment (S-63).
pub(super) fn time() -> Value {
    json!({
        "type": "string",
        "format": "date-time",
        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
    })
}

/// An integer between two bounds.
pub(super) fn integer<T: Into<u64> + Copy>(range: &RangeInclusive<T>) -> Value {
    let (least, most): (u64, u64) = ((*range.start()).into(), (*range.end()).into());
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

/// A count.
pub(super) fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

/// One of some words: those a handler takes.
pub(super) fn word<T>(words: &[(&str, T)]) -> Value {
    let words = words.iter().map(|(word, _)| *word).collect::<Vec<_>>();
    json!({ "type": "string", "enum": words })
}

/// One value and no other.
pub(super) fn only(value: impl Into<Value>) -> Value {
    json!({ "const": value.into() })
}

/// An array of any length.
pub(super) fn list(entry: &Value) -> Value {
    json!({ "type": "array", "items": entry })
}

/// An array of so many entries.
pub(super) fn list_of(entries: RangeInclusive<usize>, entry: &Value) -> Value {
    let least = match *entries.start() {
        0 => json!({}),
        least => json!({ "minItems": least }),
    };
    with(with(list(entry), least), json!({ "maxItems": entries.end() }))
}

/// The same, or `null`.
pub(super) fn or_null(schema: Value) -> Value {
    match schema.get("type").cloned() {
        Some(kind) => with(schema, json!({ "type": [kind, "null"] })),
        None => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// The schema of an object, field by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    all: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a field that is always there.
    pub(super) fn must(mut self, name: &'static str, schema: Value, means: &str) -> Self {
        self.required.push(name);
        self.may(name, schema, means)
    }

    /// Adds a field that may be left out.
    pub(super) fn may(mut self, name: &'static str, schema: Value, means: &str) -> Self {
        self.all.insert(name.to_owned(), with(schema, json!({ "description": means })));
        self
    }

    /// The schema.
    pub(super) fn object(self) -> Value {
        let required = match self.required.is_empty() {
            true => json!({}),
            false => json!({ "required": self.required }),
        };
        with(json!({ "type": "object", "properties": self.all }), required)
    }
}
