//! The fields of a JSON body or a query string, not yet parsed. Unknown fields are skipped
//! without being built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use url::form_urlencoded;

use crate::http::validate::Form;

/// One JSON value of a body, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawField<'a>(&'a RawValue);

/// Why a body is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is empty.
    #[error("is empty, but must be a JSON object")]
    Empty,
    /// It is not UTF-8.
    #[error("is not UTF-8 text: the byte at position {0} cannot be part of it")]
    Encoding(usize),
    /// It is not JSON.
    #[error("is not JSON: {0}")]
    Syntax(String),
    /// It is JSON of another type.
    #[error("must be a JSON object, but is {0}")]
    NoObject(&'static str),
}

/// The fields among `known` of the JSON object in `body`. Of a repeated field the last one
/// counts.
pub(crate) fn json_fields<'a>(
    body: &'a [u8],
    known: &'static [&'static str],
) -> Result<Form<RawField<'a>>, BodyError> {
    let body =
        std::str::from_utf8(body).map_err(|error| BodyError::Encoding(error.valid_up_to()))?;
    if body.trim_ascii().is_empty() {
        return Err(BodyError::Empty);
    }
    if let Some(at) = lone_surrogate(body) {
        return Err(BodyError::Syntax(format!("half a surrogate pair {}", position(body, at))));
    }
    let syntax = |error: serde_json::Error| BodyError::Syntax(error.to_string());
    let mut reader = serde_json::Deserializer::from_str(body);
    if !body.trim_ascii_start().starts_with('{') {
        let value: &RawValue = serde_json::from_str(body).map_err(syntax)?;
        return Err(BodyError::NoObject(RawField(value).kind()));
    }
    let form = FieldSet(known).deserialize(&mut reader).map_err(syntax)?;
    reader.end().map_err(syntax)?;
    Ok(form)
}

/// Where an escape is half a surrogate pair, which is no character. serde_json would notice
/// only in strings that a rule reads.
fn lone_surrogate(body: &str) -> Option<usize> {
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
            // Skip the escaped character, which may be a backslash.
            _ => at += 1 + body[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    None
}

/// In the words of serde_json.
fn position(body: &str, at: usize) -> String {
    let line = body[..at].matches('\n').count() + 1;
    let column = at - body[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
    format!("at line {line} column {column}")
}

impl<'a> RawField<'a> {
    /// An entry of a list.
    pub(super) fn new(raw: &'a RawValue) -> Self {
        Self(raw)
    }

    /// The value as it was sent.
    pub(crate) fn raw(self) -> &'a str {
        self.0.get()
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// Its type, for "but is …".
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

/// Reads an object and keeps the fields with these names.
struct FieldSet(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for FieldSet {
    type Value = Form<RawField<'de>>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldSet {
    type Value = Form<RawField<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut form = Form::new();
        while let Some(FieldName(name)) = map.next_key()? {
            match self.0.iter().find(|known| **known == name) {
                Some(known) => {
                    let value = RawField(map.next_value()?);
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

/// The name of a field, copied only if it has escapes.
#[derive(serde::Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The parameters among `known` of a query string. A known parameter that is repeated or empty
/// is an error.
pub(crate) fn query_fields<'a>(
    query: Option<&'a str>,
    known: &'static [&'static str],
) -> Form<Cow<'a, str>> {
    let mut form = Form::new();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let Some(known) = known.iter().find(|known| **known == name) else {
            continue;
        };
        if form.fields.iter().any(|(field, _)| field == known) {
            form.reject(known, "must be given once, but is given more than once".to_owned());
        } else if value.is_empty() {
            form.reject(known, "must not be empty; leave it out instead".to_owned());
        } else {
            form.fields.push((known, value));
        }
    }
    form
}
