//! Rules for strings. Lengths count Unicode scalar values.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use promptarium::limits;
use url::Url;

use crate::http::validate::{Given, Refusal};

/// A string of so many characters, without U+0000, which some stores cannot hold.
pub fn text(
    length: RangeInclusive<usize>,
) -> impl for<'a> Fn(Given<'a>) -> Result<Arc<str>, Refusal> {
    move |given| {
        let text = string(given)?;
        let count = text.chars().count();
        if length.contains(&count) {
            Ok(Arc::from(text))
        } else {
            Err(format!("must be {}, but has {count}", span(&length, "characters")))
        }
    }
}

/// A string of any length, without U+0000.
///
/// # Errors
/// If the value is none.
pub fn any_text(given: Given<'_>) -> Result<Arc<str>, Refusal> {
    string(given).map(Arc::from)
}

/// A string of at least one character, without U+0000.
///
/// # Errors
/// If the value is none.
pub fn some_text(given: Given<'_>) -> Result<Arc<str>, Refusal> {
    let text = string(given)?;
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(Arc::from(text)) }
}

/// An absolute URL or URI: it has a scheme, parses, and holds no spaces.
///
/// # Errors
/// If the value is none.
pub fn absolute_url(given: Given<'_>) -> Result<Arc<str>, Refusal> {
    let text = at_most(limits::URL_CHARS_MAX, string(given)?)?;
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
pub fn model_id(
    namespace: &str,
) -> impl for<'a> Fn(Given<'a>) -> Result<Arc<str>, Refusal> + use<'_> {
    move |given| {
        let text = at_most(limits::MODEL_ID_CHARS_MAX, string(given)?)?;
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

fn at_most(max: usize, text: Cow<'_, str>) -> Result<Cow<'_, str>, Refusal> {
    match text.chars().count() {
        count if count > max => Err(format!("must be at most {max} characters, but has {count}")),
        _ => Ok(text),
    }
}

/// The string in a value.
pub(super) fn string(given: Given<'_>) -> Result<Cow<'_, str>, Refusal> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    if !given.raw().starts_with('"') {
        return Err(format!("must be a string, but is {}", given.kind()));
    }
    let Text(text) = serde_json::from_str(given.raw())
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

/// A value as it was given, cut off where it would fill the answer.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 24;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
