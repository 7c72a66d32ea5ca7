//! The fields of a JSON body or a query string, not yet parsed. Unknown fields are skipped
//! without being built.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use url::form_urlencoded;

use crate::http::validate::Form;

/// One JSON value of a body, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawField<'a>(pub(super) &'a RawValue);

/// Why a body is no JSON object, for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BodyError(pub(crate) String);

/// The fields among `known` of the JSON object in `body`. Of a repeated field the last one
/// counts.
pub(crate) fn json_fields<'a>(
    body: &'a [u8],
    known: &'static [&'static str],
) -> Result<Form<RawField<'a>>, BodyError> {
    let body = std::str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to();
        BodyError(format!("is not UTF-8 text: the byte at position {at} cannot be part of it"))
    })?;
    if body.trim_ascii().is_empty() {
        return Err(BodyError("is empty, but must be a JSON object".to_owned()));
    }
    if let Some(at) = lone_surrogate(body) {
        // In the words of serde_json.
        let line = body[..at].matches('\n').count() + 1;
        let column = at - body[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
        let text = format!("is not JSON: half a surrogate pair at line {line} column {column}");
        return Err(BodyError(text));
    }
    let syntax = |error: serde_json::Error| BodyError(format!("is not JSON: {error}"));
    if !body.trim_ascii_start().starts_with('{') {
        let value: &RawValue = serde_json::from_str(body).map_err(syntax)?;
        let kind = RawField(value).kind();
        return Err(BodyError(format!("must be a JSON object, but is {kind}")));
    }
    let mut reader = serde_json::Deserializer::from_str(body);
    let form = reader.deserialize_map(KnownFields(known)).map_err(syntax)?;
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

impl<'a> RawField<'a> {
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
struct KnownFields(&'static [&'static str]);

impl<'de> Visitor<'de> for KnownFields {
    type Value = Form<RawField<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut form = Form::new();
        while let Some(FieldName(name)) = map.next_key()? {
            let Some(known) = self.0.iter().find(|known| **known == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            form.take(known);
            form.fields.push((known, RawField(map.next_value()?)));
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
