//! Validation of a request that reports every failing field at once.
//!
//! A [`Form`] holds the fields of a body or a query. A handler takes each field with a rule and
//! gets a valid value or nothing; the form collects the errors. Rules know nothing of endpoints,
//! and endpoints nothing of JSON. Unknown fields are skipped without being built.

mod rules;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::value::RawValue;
use url::form_urlencoded;

pub(crate) use self::rules::{
    absolute_url, extent, id, id_from_1, integer, list, model_id, object, one_of, text,
};

/// What is wrong with one field, for a person: "must be …, but is …".
pub(crate) type FieldError = String;

pub(crate) type Checked<T> = Result<T, FieldError>;

/// The fields of one request that its endpoint knows, and their errors.
#[derive(Debug, Default)]
pub(crate) struct Form<'a> {
    fields: BTreeMap<&'static str, Field<'a>>,
    errors: FieldErrors,
}

/// The value of one field, not yet parsed.
#[derive(Debug)]
pub(crate) enum Field<'a> {
    Json(&'a RawValue),
    /// A parameter of a query or a field of a form, decoded.
    Text(Cow<'a, str>),
}

/// Every failing field of one request with its error (ER-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}", summary(.0))]
pub struct FieldErrors(pub(crate) BTreeMap<&'static str, FieldError>);

impl<'a> Form<'a> {
    pub(crate) fn require(&mut self, name: &'static str) {
        if !self.has(name) {
            self.reject(name, "is required".to_owned());
        }
    }

    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(&Field<'a>) -> Checked<T>,
    ) -> Option<T> {
        self.require(name);
        self.optional(name, rule)
    }

    /// Takes an optional field: `None` if it is absent, or not valid.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(&Field<'a>) -> Checked<T>,
    ) -> Option<T> {
        let field = self.fields.remove(name)?;
        rule(&field).map_err(|error| self.reject(name, error)).ok()
    }

    /// Takes an optional field that may be `null`, which is `Some(None)`.
    pub(crate) fn nullable<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(&Field<'a>) -> Checked<T>,
    ) -> Option<Option<T>> {
        self.optional(name, |field| match field.raw() {
            "null" => Ok(None),
            _ => rule(field).map(Some),
        })
    }

    pub(crate) fn set(&mut self, name: &'static str, text: impl Into<Cow<'a, str>>) {
        self.fields.insert(name, Field::Text(text.into()));
    }

    /// Adds an error of a field. The first error of a field stays.
    pub(crate) fn reject(&mut self, name: &'static str, error: FieldError) {
        self.errors.0.entry(name).or_insert(error);
    }

    /// Whether a field is given and was not taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Makes of each field that is `null` an absent one.
    pub(crate) fn without_nulls(mut self) -> Self {
        self.fields.retain(|_, field| field.raw() != "null");
        self
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.errors.0.is_empty()
    }

    pub(crate) fn finish(self) -> Result<(), FieldErrors> {
        self.finish_with(Some(()))
    }

    /// What `read` takes from the fields, which is `None` only after an error.
    pub(crate) fn read<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<T, FieldErrors> {
        let value = read(&mut self);
        self.finish_with(value)
    }

    /// Ends the validation. Required fields are in `value`, which is `None` only after an error.
    pub(crate) fn finish_with<T>(self, value: Option<T>) -> Result<T, FieldErrors> {
        value.filter(|_| self.is_clean()).ok_or(self.errors)
    }
}

impl Field<'_> {
    pub(crate) fn raw(&self) -> &str {
        match self {
            Self::Json(value) => value.get(),
            Self::Text(text) => text,
        }
    }

    fn kind(&self) -> &'static str {
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

impl FieldErrors {
    pub(crate) fn of(name: &'static str, error: impl Into<FieldError>) -> Self {
        Self(BTreeMap::from([(name, error.into())]))
    }
}

/// For a person: the fields, and the error if there is only one.
fn summary(errors: &BTreeMap<&'static str, FieldError>) -> String {
    match errors.first_key_value() {
        Some((name, error)) if errors.len() == 1 => format!("{name} {error}"),
        _ => {
            let names = errors.keys().copied().collect::<Vec<_>>().join(", ");
            format!("{} fields are not valid: {names}; details says why", errors.len())
        }
    }
}

/// The fields among `known` of the JSON object in `body`, the last of repeated ones.
pub(crate) fn json_fields<'a>(
    body: &'a [u8],
    known: &'static [&'static str],
) -> Result<Form<'a>, FieldErrors> {
    let of_body = |error: String| FieldErrors::of("body", error);
    let syntax = |error: serde_json::Error| of_body(format!("is not JSON: {error}"));
    let body = std::str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to();
        of_body(format!("is not UTF-8 text: the byte at position {at} cannot be part of it"))
    })?;
    if body.trim_ascii().is_empty() {
        return Err(of_body("is empty, but must be a JSON object".to_owned()));
    }
    if let Some(half) = lone_surrogate(body) {
        return Err(of_body(format!("is not JSON: \\u{half:04x} is half a surrogate pair")));
    }
    if !body.trim_ascii_start().starts_with('{') {
        let kind = Field::Json(serde_json::from_str(body).map_err(syntax)?).kind();
        return Err(of_body(format!("must be a JSON object, but is {kind}")));
    }
    let mut reader = serde_json::Deserializer::from_str(body);
    let form = reader.deserialize_map(KnownFields(known)).map_err(syntax)?;
    reader.end().map_err(syntax)?;
    Ok(form)
}

/// An escape that is half a surrogate pair. serde_json notices only in strings that are read.
fn lone_surrogate(body: &str) -> Option<u16> {
    // Without escaped backslashes each `\u` is an escape. A zero keeps two others apart.
    let units = body.split(r"\\").flat_map(|part| {
        part.split(r"\u")
            .skip(1)
            .flat_map(|escape| {
                let unit = escape.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
                unit.into_iter().chain((escape.len() != 4).then_some(0))
            })
            .chain([0])
    });
    char::decode_utf16(units).find_map(|unit| Some(unit.err()?.unpaired_surrogate()))
}

/// Reads an object and keeps the fields with these names.
struct KnownFields(&'static [&'static str]);

impl<'de> Visitor<'de> for KnownFields {
    type Value = Form<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut form = Form::default();
        while let Some(name) = map.next_key::<String>()? {
            let Some(known) = self.0.iter().find(|known| **known == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            form.fields.insert(known, Field::Json(map.next_value()?));
        }
        Ok(form)
    }
}

/// The parameters among `known` of a query, of which none may be repeated or empty.
pub(crate) fn query_fields<'a>(query: Option<&'a str>, known: &'static [&'static str]) -> Form<'a> {
    encoded_fields(query.unwrap_or_default().as_bytes(), known, false)
}

/// The fields among `known` of a form in a page. Browsers send empty fields, which count as absent,
/// and each line break as CR LF, which becomes LF again.
pub(crate) fn form_fields<'a>(form: &'a [u8], known: &'static [&'static str]) -> Form<'a> {
    encoded_fields(form, known, true)
}

fn encoded_fields<'a>(text: &'a [u8], known: &'static [&'static str], is_form: bool) -> Form<'a> {
    let mut form = Form::default();
    for (name, value) in form_urlencoded::parse(text) {
        let Some(known) = known.iter().find(|known| **known == name) else { continue };
        if form.fields.contains_key(known) {
            form.reject(known, "must be given once, but is given more than once".to_owned());
        } else if !value.is_empty() {
            let breaks = is_form && value.contains("\r\n");
            let value = if breaks { value.replace("\r\n", "\n").into() } else { value };
            form.set(known, value);
        } else if !is_form {
            form.reject(known, "must not be empty; leave it out instead".to_owned());
        }
    }
    form
}

#[cfg(test)]
mod tests;
