//! Fields of a JSON body, as they stand: each is looked at only by the rule that
//! wants it, and what no endpoint knows is skipped without being built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::validate::Form;

/// One JSON value of a body, not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a>(&'a RawValue);

/// Why a body is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// There is none.
    #[error("is empty, but must be a JSON object")]
    Empty,
    /// It is not text.
    #[error("is not UTF-8 text: the byte at position {0} cannot be part of it")]
    Encoding(usize),
    /// It is not JSON.
    #[error("is not JSON: {0}")]
    Syntax(String),
    /// It is JSON of another type.
    #[error("must be a JSON object, but is {0}")]
    NoObject(&'static str),
}

/// The fields among `known` of the JSON object in `body`. A field that is there
/// twice counts as it stands last.
///
/// # Errors
/// If the body is no JSON object.
pub fn fields_of<'a>(
    body: &'a [u8],
    known: &'static [&'static str],
) -> Result<Form<Given<'a>>, Malformed> {
    let body =
        std::str::from_utf8(body).map_err(|error| Malformed::Encoding(error.valid_up_to()))?;
    if body.trim_ascii().is_empty() {
        return Err(Malformed::Empty);
    }
    if let Some(at) = half_pair(body) {
        return Err(Malformed::Syntax(format!("half a surrogate pair {}", place(body, at))));
    }
    let syntax = |error: serde_json::Error| Malformed::Syntax(error.to_string());
    let mut reader = serde_json::Deserializer::from_str(body);
    if !body.trim_ascii_start().starts_with('{') {
        let value: &RawValue = serde_json::from_str(body).map_err(syntax)?;
        return Err(Malformed::NoObject(Given(value).kind()));
    }
    let form = Known(known).deserialize(&mut reader).map_err(syntax)?;
    reader.end().map_err(syntax)?;
    Ok(form)
}

/// Where an escape stands for half a surrogate pair, which is no character. The
/// JSON reader would see it only in strings that somebody wants.
fn half_pair(body: &str) -> Option<usize> {
    let unit = |at: usize| {
        let digits = body.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(next) = body.get(at..)?.find('\\') {
        at += next;
        let low_follows = || matches!(unit(at + 6), Some(0xDC00..=0xDFFF));
        match unit(at) {
            Some(0xD800..=0xDBFF) if low_follows() => at += 12,
            Some(0xD800..=0xDFFF) => return Some(at),
            // Past the character that is escaped, which may be a backslash.
            _ => at += 1 + body[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    None
}

/// As the JSON reader says it.
fn place(body: &str, at: usize) -> String {
    let line = body[..at].matches('\n').count() + 1;
    let column = at - body[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
    format!("at line {line} column {column}")
}

impl<'a> Given<'a> {
    /// Takes a value out of a list.
    pub(super) fn new(raw: &'a RawValue) -> Self {
        Self(raw)
    }

    /// The value as it was written.
    pub fn raw(self) -> &'a str {
        self.0.get()
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// What it is, for a sentence: "but is …".
    pub(super) fn kind(self) -> &'static str {
        match self.raw().as_bytes().first() {
            Some(b'"') => "a string",
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }
}

/// Reads an object and keeps the fields of these names.
struct Known(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Known {
    type Value = Form<Given<'de>>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Known {
    type Value = Form<Given<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut form = Form::new();
        while let Some(Name(name)) = map.next_key()? {
            match self.0.iter().find(|known| **known == name) {
                Some(known) => {
                    let value = Given(map.next_value()?);
                    form.take(known);
                    form.fields.push((known, value));
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(form)
    }
}

/// The name of a field, copied only if it is written with escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
