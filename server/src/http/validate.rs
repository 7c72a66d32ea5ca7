//! Validation of a request that reports every failing field at once.
//!
//! A [`Form`] holds the fields of a body or a query. A handler takes each field with a rule and
//! gets a valid value or nothing; the form collects the errors, and [`Form::finish`] returns
//! them. Rules know nothing of endpoints, and endpoints nothing of JSON. Unknown fields are
//! skipped without being built.

mod rules;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::value::RawValue;
use url::form_urlencoded;

pub(crate) use self::rules::{
    absolute_url, id, id_from_1, id_in_query, integer, integer_in_query, list, model_id, object,
    one_of, one_of_in_query, text,
};

/// What is wrong with one field, for a person: "must be …, but is …".
pub(crate) type FieldError = String;

/// The fields of one request that its endpoint knows, and their errors.
#[derive(Debug)]
pub(crate) struct Form<V> {
    fields: Vec<(&'static str, V)>,
    errors: FieldErrors,
}

/// Every failing field of one request with its error (ER-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldErrors(BTreeMap<&'static str, FieldError>);

impl<V> Form<V> {
    fn new() -> Self {
        Self { fields: Vec::new(), errors: FieldErrors::default() }
    }

    /// The value of a field, or `None` if it is absent, which is no error.
    fn take(&mut self, name: &'static str) -> Option<V> {
        let at = self.fields.iter().position(|(field, _)| *field == name)?;
        Some(self.fields.swap_remove(at).1)
    }

    fn check<T>(
        &mut self,
        name: &'static str,
        value: V,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        rule(value).map_err(|error| self.reject(name, error)).ok()
    }

    /// Takes a required field.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        let Some(value) = self.take(name) else {
            self.reject(name, "is required".to_owned());
            return None;
        };
        self.check(name, value, rule)
    }

    /// Takes an optional field.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.check(name, value, rule)
    }

    /// Adds an error of a field. The first error of a field stays.
    pub(crate) fn reject(&mut self, name: &'static str, error: FieldError) {
        self.errors.0.entry(name).or_insert(error);
    }

    /// Whether there is no error so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.errors.0.is_empty()
    }

    /// Ends the validation.
    pub(crate) fn finish(self) -> Result<(), FieldErrors> {
        self.finish_with(Some(()))
    }

    /// Ends the validation of a request whose required fields are in `value`, which is `None`
    /// only after an error.
    pub(crate) fn finish_with<T>(self, value: Option<T>) -> Result<T, FieldErrors> {
        value.filter(|_| self.is_clean()).ok_or(self.errors)
    }
}

impl<'a> Form<RawField<'a>> {
    /// Takes an optional field that may be `null`, which is `Some(None)`.
    pub(crate) fn nullable<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(RawField<'a>) -> Result<T, FieldError>,
    ) -> Option<Option<T>> {
        let value = self.take(name)?;
        if value.is_null() { Some(None) } else { self.check(name, value, rule).map(Some) }
    }
}

impl FieldErrors {
    /// The error of one field.
    pub(crate) fn of(name: &'static str, error: impl Into<FieldError>) -> Self {
        Self(BTreeMap::from([(name, error.into())]))
    }

    /// Field and error, in the order of the fields' names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, error)| (*name, error.as_str()))
    }
}

/// A summary for a person: the fields, and the error if there is only one.
impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.iter();
        match (all.next(), all.next()) {
            (Some((name, error)), None) => write!(f, "{name} {error}"),
            _ => {
                let names = self.0.keys().copied().collect::<Vec<_>>().join(", ");
                write!(f, "{} fields are not valid: {names}; details says why", self.0.len())
            }
        }
    }
}

impl std::error::Error for FieldErrors {}

/// One JSON value of a body, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawField<'a>(&'a RawValue);

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
    fn kind(self) -> &'static str {
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

#[cfg(test)]
mod tests;
