//! Rules for strings. Lengths count Unicode scalar values.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use promptarium::limits;
use url::Url;

use crate::http::validate::{FieldError, RawField};

/// A string with this many characters, without U+0000, which PostgreSQL cannot store.
pub(crate) fn text(
    length: RangeInclusive<usize>,
) -> impl for<'a> Fn(RawField<'a>) -> Result<Arc<str>, FieldError> {
    move |field| {
        let text = parse(field)?;
        let count = text.chars().count();
        if length.contains(&count) {
            Ok(Arc::from(text))
        } else {
            Err(format!("must be {}, but has {count}", span(&length, "characters")))
        }
    }
}

/// An absolute URL or URI: it has a scheme, parses, and holds no spaces.
pub(crate) fn absolute_url(field: RawField<'_>) -> Result<Arc<str>, FieldError> {
    let text = at_most(limits::URL_CHARS_MAX, parse(field)?)?;
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("must be a URL, but holds spaces or control characters".to_owned());
    }
    match Url::parse(&text) {
        Ok(_) => Ok(Arc::from(text)),
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            Err("must be an absolute URL such as https://example.com/a.png".to_owned())
        }
        Err(error) => Err(format!("must be a URL, but does not parse: {error}")),
    }
}

/// A model's id: `<namespace>/` and at least one character (PR-25).
pub(crate) fn model_id(
    namespace: &str,
) -> impl for<'a> Fn(RawField<'a>) -> Result<Arc<str>, FieldError> + use<'_> {
    move |field| {
        let text = at_most(limits::MODEL_ID_CHARS_MAX, parse(field)?)?;
        let name = text.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/'));
        // The rule is the pattern `^<namespace>/.+`, and `.` takes no line break.
        let first = name.and_then(|name| name.chars().next());
        if first.is_some_and(|c| !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')) {
            Ok(Arc::from(text))
        } else {
            Err(format!(
                "must be a model id that begins with {namespace}/, such as {namespace}/name"
            ))
        }
    }
}

fn at_most(max: usize, text: Cow<'_, str>) -> Result<Cow<'_, str>, FieldError> {
    match text.chars().count() {
        count if count > max => Err(format!("must be at most {max} characters, but has {count}")),
        _ => Ok(text),
    }
}

/// One of some strings, each with the value that it means.
pub(crate) fn one_of<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl for<'a> Fn(RawField<'a>) -> Result<T, FieldError> {
    move |field| choose(words, &parse(field)?)
}

/// The same in a query.
pub(crate) fn one_of_in_query<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl for<'a> Fn(Cow<'a, str>) -> Result<T, FieldError> {
    move |field| choose(words, &field)
}

fn choose<T: Copy>(words: &[(&'static str, T)], field: &str) -> Result<T, FieldError> {
    words.iter().find(|(word, _)| *word == field).map(|(_, value)| *value).ok_or_else(|| {
        let all = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        format!("must be one of {all}, but is {:?}", shorten(field))
    })
}

/// The string in a value.
fn parse(field: RawField<'_>) -> Result<Cow<'_, str>, FieldError> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    if !field.raw().starts_with('"') {
        return Err(format!("must be a string, but is {}", field.kind()));
    }
    let Text(text) = serde_json::from_str(field.raw())
        .map_err(|error| format!("must be a string, but does not parse: {error}"))?;
    if text.contains('\0') {
        return Err("must not hold the character U+0000".to_owned());
    }
    Ok(text)
}

/// "1 to 120 characters", "at most 10 entries".
pub(super) fn span(range: &RangeInclusive<usize>, units: &str) -> String {
    match (range.start(), range.end()) {
        (0, most) => format!("at most {most} {units}"),
        (least, most) => format!("{least} to {most} {units}"),
    }
}

/// A value as it was sent, shortened so that it does not fill the response.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 24;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
