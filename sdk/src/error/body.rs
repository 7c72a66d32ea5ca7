//! Texts from outside in errors: bodies of error responses, and short parts of any text.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::model;

const EXCERPT_BYTES: usize = 200;

const BYTES_AFTER: usize = 40;

/// The beginning of a text from outside.
pub(crate) fn excerpt(text: impl AsRef<[u8]>) -> String {
    excerpt_from(text.as_ref(), 0)
}

/// The bytes around the position of an error of `serde_json`. Lines and columns count from 1,
/// columns in bytes.
pub(crate) fn excerpt_at(bytes: &[u8], line: usize, column: usize) -> String {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let end = (before + column).saturating_add(BYTES_AFTER).min(bytes.len());
    excerpt_from(bytes, end.saturating_sub(EXCERPT_BYTES))
}

/// Part of a text from outside, on one line, with `…` where it was cut.
fn excerpt_from(bytes: &[u8], from: usize) -> String {
    let to = bytes.len().min(from + EXCERPT_BYTES);
    let part = String::from_utf8_lossy(&bytes[from..to]);
    // A cut within a character leaves a replacement character.
    let part = if from > 0 { part.trim_start_matches('\u{fffd}') } else { &part };
    let part = if to < bytes.len() { part.trim_end_matches('\u{fffd}') } else { part };
    let words = part.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let cut = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(from > 0), words.join(" "), cut(to < bytes.len()))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.message.trim().is_empty() {
            write!(f, ": {}", excerpt(&self.message))?;
        }
        for (index, (field, text)) in self.field_errors().enumerate() {
            let mark = if index == 0 { " [" } else { "; " };
            write!(f, "{mark}{}: {}", excerpt(field), excerpt(&*text))?;
        }
        f.write_str(if self.field_errors().next().is_some() { "]" } else { "" })
    }
}

/// The body of an error response: a message, and details such as the invalid fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Problem {
    /// What went wrong, for people (`error` in JSON). It is also read from `error.message`.
    #[serde(rename = "error", deserialize_with = "message")]
    pub(super) message: String,
    /// An object, which may map invalid fields to what is wrong with them, or any other JSON value.
    #[serde(default)]
    details: Value,
}

impl Problem {
    /// The invalid fields of `details`, each once for each text that says what is wrong with it.
    pub(crate) fn field_errors(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let pairs = self.details.as_object().into_iter().flatten();
        pairs.flat_map(|(field, issues)| {
            let issues = match issues {
                Value::Array(list) => list.as_slice(),
                one => std::slice::from_ref(one),
            };
            issues.iter().map(move |issue| (field.as_str(), model::text(issue)))
        })
    }
}

fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    model::message(&value)
        .map(str::to_owned)
        .ok_or_else(|| D::Error::custom("an error without text"))
}
