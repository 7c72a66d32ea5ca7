//! Rules for integers, arrays and objects. In a body an integer is a JSON number, in a query
//! plain decimal digits.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;

use serde::Deserializer;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::http::validate::text::{shorten, span};
use crate::http::validate::{FieldError, RawField};

/// An id: any integer of 64 bits. The store says whether it names anything.
pub(crate) fn id<Id: From<i64>>(field: RawField<'_>) -> Result<Id, FieldError> {
    whole_number(field).map(Id::from)
}

/// An id of at least 1.
pub(crate) fn id_from_1<Id: From<i64>>(field: RawField<'_>) -> Result<Id, FieldError> {
    match whole_number(field)? {
        number @ 1.. => Ok(Id::from(number)),
        number => Err(format!("must be at least 1, but is {number}")),
    }
}

/// An integer between two bounds.
pub(crate) fn integer<T: TryFrom<i64> + PartialOrd + Display>(
    range: RangeInclusive<T>,
) -> impl for<'a> Fn(RawField<'a>) -> Result<T, FieldError> {
    move |field| {
        let number = whole_number(field)?;
        T::try_from(number)
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("must be {} to {}, but is {number}", range.start(), range.end()))
    }
}

/// An id in a query.
pub(crate) fn id_in_query<Id: From<i64>>() -> impl for<'a> Fn(Cow<'a, str>) -> Result<Id, FieldError>
{
    |field| {
        if is_decimal(&field) {
            in_64_bits(&field).map(Id::from)
        } else {
            Err("must be an integer in decimal digits".to_owned())
        }
    }
}

/// An integer of a query between two bounds.
pub(crate) fn integer_in_query(
    range: RangeInclusive<u32>,
) -> impl for<'a> Fn(Cow<'a, str>) -> Result<u32, FieldError> {
    move |field| {
        if !is_decimal(&field) {
            return Err("must be an integer in decimal digits".to_owned());
        }
        field.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            format!("must be {} to {}, but is {}", range.start(), range.end(), shorten(&field))
        })
    }
}

fn whole_number(field: RawField<'_>) -> Result<i64, FieldError> {
    match (field.kind(), field.raw()) {
        ("a number", text) if is_decimal(text) => in_64_bits(text),
        ("a number", text) => Err(format!("must be an integer, but is {}", shorten(text))),
        (kind, _) => Err(format!("must be an integer, but is {kind}")),
    }
}

/// Digits, with an optional minus sign: no point, no exponent, no plus.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn in_64_bits(text: &str) -> Result<i64, FieldError> {
    text.parse().map_err(|_| format!("must be an integer of 64 bits, but is {}", shorten(text)))
}

/// An array. The error names every entry that fails, counted from 1.
pub(crate) fn list<T>(
    length: RangeInclusive<usize>,
    entry: impl for<'a> Fn(RawField<'a>) -> Result<T, FieldError>,
) -> impl for<'a> Fn(RawField<'a>) -> Result<Vec<T>, FieldError> {
    move |field| {
        if !field.raw().starts_with('[') {
            return Err(format!("must be an array, but is {}", field.kind()));
        }
        let read = serde_json::Deserializer::from_str(field.raw())
            .deserialize_seq(AtMost(*length.end()))
            .map_err(|error| format!("must be an array, but does not parse: {error}"))?;
        if !length.contains(&read.count) {
            return Err(format!("must have {}, but has {}", span(&length, "entries"), read.count));
        }
        entries(&read.first, &entry)
    }
}

fn entries<'a, T>(
    field: &[RawField<'a>],
    entry: impl Fn(RawField<'a>) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let mut values = Vec::with_capacity(field.len());
    let mut errors = Vec::new();
    for (at, field) in field.iter().enumerate() {
        match entry(*field) {
            Ok(value) => values.push(value),
            Err(error) => errors.push(format!("entry {} {error}", at + 1)),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors.join("; ")) }
}

/// Keeps the first entries and only counts the others, so that an array of millions takes no
/// memory.
struct AtMost(usize);

struct Read<'a> {
    first: Vec<RawField<'a>>,
    count: usize,
}

impl<'de> Visitor<'de> for AtMost {
    type Value = Read<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let mut first = Vec::new();
        while first.len() < self.0 {
            match seq.next_element::<&RawValue>()? {
                Some(raw) => first.push(RawField::new(raw)),
                None => {
                    return Ok(Read { count: first.len(), first });
                }
            }
        }
        let mut count = first.len();
        while seq.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Read { first, count })
    }
}

/// A JSON object with any keys. Its strings must not hold U+0000 either.
pub(crate) fn object(field: RawField<'_>) -> Result<Map<String, Value>, FieldError> {
    if !field.raw().starts_with('{') {
        return Err(format!("must be an object, but is {}", field.kind()));
    }
    let object: Map<String, Value> = serde_json::from_str(field.raw())
        .map_err(|error| format!("must be an object, but cannot be read: {error}"))?;
    if object.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)) {
        return Err("must not hold the character U+0000".to_owned());
    }
    Ok(object)
}

/// serde_json bounds the depth of the recursion.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || holds_nul(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
