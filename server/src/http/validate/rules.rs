//! Rules for the values of fields. Lengths count Unicode scalar values. An integer is a JSON number
//! without a fraction in a body, and decimal digits in a query or form.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use promptarium::limits;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

use super::{Checked, Field};

/// A string with this many characters, without U+0000, which PostgreSQL cannot store.
pub(crate) fn text(length: RangeInclusive<usize>) -> impl Fn(&Field<'_>) -> Checked<Arc<str>> {
    move |field| {
        let text = string(field)?;
        let count = text.chars().count();
        if length.contains(&count) {
            Ok(Arc::from(text))
        } else {
            Err(format!("must be {}, but has {count}", span(&length, "characters")))
        }
    }
}

/// An absolute URL or URI: it has a scheme, parses, and holds no spaces.
pub(crate) fn absolute_url(field: &Field<'_>) -> Checked<Arc<str>> {
    let text = text(0..=limits::URL_CHARS_MAX)(field)?;
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("must be a URL, but holds spaces or control characters".to_owned());
    }
    match Url::parse(&text) {
        Ok(_) => Ok(text),
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            Err("must be an absolute URL such as https://example.com/a.png".to_owned())
        }
        Err(error) => Err(format!("must be a URL, but does not parse: {error}")),
    }
}

/// A model's id: `<namespace>/` and at least one character (PR-25).
pub(crate) fn model_id(namespace: &str) -> impl Fn(&Field<'_>) -> Checked<Arc<str>> + use<'_> {
    move |field| {
        let text = text(0..=limits::MODEL_ID_CHARS_MAX)(field)?;
        let name = text.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/'));
        // The rule is the pattern `^<namespace>/.+`, and `.` takes no line break.
        let first = name.and_then(|name| name.chars().next());
        if first.is_some_and(|c| !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')) {
            Ok(text)
        } else {
            Err(format!(
                "must be a model id that begins with {namespace}/, such as {namespace}/name"
            ))
        }
    }
}

/// One of some strings, each with the value that it means.
pub(crate) fn one_of<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&Field<'_>) -> Checked<T> {
    move |field| {
        let text = string(field)?;
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let all = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            format!("must be one of {all}, but is {:?}", shorten(&text))
        })
    }
}

fn string<'a>(field: &'a Field<'_>) -> Checked<Cow<'a, str>> {
    let text = match field {
        Field::Text(text) => Cow::Borrowed(&**text),
        Field::Json(_) => Cow::Owned(read(field, '"', "a string")?),
    };
    if text.contains('\0') {
        return Err("must not hold the character U+0000".to_owned());
    }
    Ok(text)
}

fn read<'a, T: Deserialize<'a>>(field: &'a Field<'_>, opening: char, what: &str) -> Checked<T> {
    if !field.raw().starts_with(opening) {
        return Err(format!("must be {what}, but is {}", field.kind()));
    }
    serde_json::from_str(field.raw())
        .map_err(|error| format!("must be {what}, but cannot be read: {error}"))
}

/// "1 to 120 characters", "at most 10 entries".
fn span(range: &RangeInclusive<usize>, units: &str) -> String {
    match (range.start(), range.end()) {
        (0, most) => format!("at most {most} {units}"),
        (least, most) => format!("{least} to {most} {units}"),
    }
}

/// A value as it was sent, shortened so that it does not fill the response.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(24) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// An id: any integer of 64 bits. The store says whether it names anything.
pub(crate) fn id<Id: From<i64>>(field: &Field<'_>) -> Checked<Id> {
    let text = decimal(field)?;
    let number = text.parse().map(i64::into);
    number.map_err(|_| format!("must be an integer of 64 bits, but is {}", shorten(&text)))
}

pub(crate) fn id_from_1<Id: From<i64>>(field: &Field<'_>) -> Checked<Id> {
    match id(field)? {
        number @ 1.. => Ok(Id::from(number)),
        number => Err(format!("must be at least 1, but is {number}")),
    }
}

pub(crate) fn integer<T: FromStr + PartialOrd + Display>(
    range: RangeInclusive<T>,
) -> impl Fn(&Field<'_>) -> Checked<T> {
    move |field| {
        let given = decimal(field)?;
        given.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            format!("must be {} to {}, but is {}", range.start(), range.end(), shorten(&given))
        })
    }
}

/// The text of an integer. Some clients write the numbers of JSON as floats, such as `3564.0`; in a
/// body those are accepted that are exact, below 2^53.
fn decimal<'a>(field: &'a Field<'_>) -> Checked<Cow<'a, str>> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let text = field.raw();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.into());
    }
    let Field::Json(_) = field else {
        return Err("must be an integer in decimal digits".to_owned());
    };
    match (field.kind(), text.parse::<f64>()) {
        ("a number", Ok(float)) if float.fract() == 0.0 && float.abs() < EXACT_MAX => {
            // Adding zero takes the sign of a zero.
            Ok(format!("{}", float + 0.0).into())
        }
        ("a number", _) => Err(format!("must be an integer, but is {}", shorten(text))),
        (kind, _) => Err(format!("must be an integer, but is {kind}")),
    }
}

/// An array. The error names every entry that fails, counted from 1.
pub(crate) fn list<T>(
    length: RangeInclusive<usize>,
    entry: impl Fn(&Field<'_>) -> Checked<T>,
) -> impl Fn(&Field<'_>) -> Checked<Vec<T>> {
    move |field| {
        // Of what is ignored, an array of millions takes no memory.
        let count = read::<Vec<IgnoredAny>>(field, '[', "an array")?.len();
        if !length.contains(&count) {
            return Err(format!("must have {}, but has {count}", span(&length, "entries")));
        }
        let mut values = Vec::with_capacity(count);
        let mut errors = Vec::new();
        for (at, json) in read::<Vec<&RawValue>>(field, '[', "an array")?.into_iter().enumerate() {
            match entry(&Field::Json(json)) {
                Ok(value) => values.push(value),
                Err(error) => errors.push(format!("entry {} {error}", at + 1)),
            }
        }
        if errors.is_empty() { Ok(values) } else { Err(errors.join("; ")) }
    }
}

/// A JSON object with any keys. Its strings must not hold U+0000 either.
pub(crate) fn object(field: &Field<'_>) -> Checked<Map<String, Value>> {
    let object = read(field, '{', "an object")?;
    // Without escaped backslashes each `\u` is an escape.
    if field.raw().split(r"\\").any(|part| part.contains(r"\u0000")) {
        return Err("must not hold the character U+0000".to_owned());
    }
    Ok(object)
}

/// How deep a JSON text is nested, and how many values it has with the outermost one.
pub(crate) fn extent(json: &str) -> (usize, usize) {
    let (mut level, mut depth, mut values) = (0_usize, 0, 1);
    let mut bytes = json.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let mut is_first = false;
    while let Some(byte) = bytes.next() {
        // The first entry; each further one comes after a comma.
        values += usize::from(is_first && !matches!(byte, b']' | b'}') || byte == b',');
        is_first = matches!(byte, b'[' | b'{');
        match byte {
            b'"' => {
                while bytes.find(|byte| matches!(byte, b'"' | b'\\')) == Some(b'\\') {
                    bytes.next();
                }
            }
            b'[' | b'{' => level += 1,
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        depth = depth.max(level);
    }
    (depth, values)
}
