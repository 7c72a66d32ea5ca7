//! Comparisons that belong to no single answer.

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Result};
use crate::trace;

/// The two are equal.
pub fn equal<T: PartialEq + Serialize + ?Sized>(what: &str, got: &T, expected: &T) -> Result {
    ensure(got == expected, &format!("{what} to be {}", json_text(expected)), json_text(got))
}

/// A value as messages show it, which readers of every language know: as JSON.
pub fn json_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Two lists, a line for each place, with a mark where they differ.
pub(crate) fn side_by_side<T: PartialEq + Serialize>(got: &[T], expected: &[T]) -> String {
    if got == expected {
        return String::new();
    }
    let mut text = json_text(got);
    let entry = |list: &[T], at: usize| list.get(at).map_or_else(|| "-".to_owned(), json_text);
    for at in 0..got.len().max(expected.len()) {
        let [expected, got] = [entry(expected, at), entry(got, at)];
        let mark = if expected == got { ' ' } else { '≠' };
        text.push_str(&format!("\n{mark} {expected:<12} {got}"));
    }
    text
}

/// No two of these are equal.
pub fn distinct<T: Ord + Serialize>(what: &str, values: impl IntoIterator<Item = T>) -> Result {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable();
    let differ = values.is_sorted_by(|one, next| one < next);
    ensure(differ, &format!("{what}, of which no two are equal"), json_text(&values))
}

/// It holds.
pub fn ensure(holds: bool, expected: &str, got: impl Into<String>) -> Result {
    trace::checked(None, &expected, holds);
    if holds { Ok(()) } else { Err(Failure::failed(expected, got)) }
}

/// The moment an ISO 8601 text names; without an offset it is taken as UTC. Dates alone, a space
/// for the `T`, and names of zones are other forms, which the parser would take.
pub fn timestamp(text: &str) -> Option<jiff::Timestamp> {
    let in_utc = || {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    let is_whole = text.contains('T') && !text.contains(['[', ' ']);
    is_whole.then(|| text.parse().ok().or_else(in_utc)).flatten()
}

/// The fields of a prompt or a vault that only calls on it change, so that two reads can be compared:
/// those of the specification without those that a server may change by itself (S-04, S-13, S-14,
/// S-15), and `vaultIds` in one order (S-07). Of a list, the fields of each entry.
pub fn stable_fields(value: &Value) -> Value {
    const FIELDS: &str = "id title prompt promptType platform vaultIds vaultPromptId isPinned name \
        description slug visibility isSystem promptCount createdAt updatedAt images";
    let object = match value {
        Value::Array(entries) => return entries.iter().map(stable_fields).collect(),
        Value::Object(object) => object,
        other => return other.clone(),
    };
    let kept = FIELDS.split(' ').filter_map(|field| {
        let mut value = object.get(field)?.clone();
        match (field, value.as_array_mut()) {
            ("vaultIds", Some(ids)) => ids.sort_by_key(Value::as_i64),
            // Their addresses may be signed anew for every answer (S-77).
            ("images", Some(images)) => {
                let images = images.iter_mut().filter_map(Value::as_object_mut);
                images.for_each(|image| drop(image.remove("url")));
            }
            _ => {}
        }
        Some((field.to_owned(), value))
    });
    Value::Object(kept.collect::<Map<_, _>>())
}

/// Says in a failure which round of a loop it was, such as the field and its value.
pub fn with_context<T>(what: impl Display, result: Result<T>) -> Result<T> {
    result
        .map_err(|failure| Failure { expected: format!("{what}: {}", failure.expected), ..failure })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::stable_fields;

    #[test]
    fn fields_that_a_server_may_change_by_itself_are_left_out() {
        let one = json!([{ "id": 7, "status": "active", "vaultIds": [2, 1], "views": 3,
            "coverImageUrl": "https://a.example/?1", "images": [{ "url": "https://a.example/?1" }] }]);
        let other = json!([{ "id": 7, "status": "draft", "vaultIds": [1, 2],
            "coverImageUrl": null, "images": [{ "url": "https://a.example/?2" }] }]);
        assert_eq!(stable_fields(&one), stable_fields(&other));
    }

    #[test]
    fn fields_that_only_calls_change_are_compared() {
        let prompt =
            json!({ "id": 7, "title": "a", "vaultIds": [1], "images": [], "isPinned": false });
        for (field, value) in [
            ("id", json!(8)),
            ("title", json!("b")),
            ("vaultIds", json!([1, 2])),
            ("vaultIds", json!([2])),
            ("images", json!([{}])),
            ("isPinned", json!(true)),
            ("updatedAt", json!("2025-03-01T09:30:00Z")),
        ] {
            let mut changed = prompt.clone();
            changed[field] = value;
            assert_ne!(stable_fields(&changed), stable_fields(&prompt), "{field}");
        }
    }
}
