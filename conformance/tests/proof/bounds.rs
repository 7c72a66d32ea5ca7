//! Faults at the limits of texts, lists and numbers, which all look alike: one
//! more is taken, or the last one is refused.

use serde_json::Value;

use crate::ask::Answer;
use crate::entries::list_of;
use crate::fault::How;
use crate::front::{asks, instead};

/// A text of `length` characters, one too many, is taken.
pub(crate) fn text_taken(routes: &'static str, field: &'static str, length: usize) -> How {
    asks(routes, move |ask| {
        ask.edit(|body| {
            let text = body[field].as_str().filter(|text| text.chars().count() == length);
            if let Some(text) = text {
                body[field] = text.chars().take(length - 1).collect::<String>().into();
            }
        });
    })
}

/// An empty text is taken where there must be one character.
pub(crate) fn empty_taken(routes: &'static str, field: &'static str) -> How {
    asks(routes, move |ask| {
        ask.edit(|body| {
            if body[field] == "" {
                body[field] = "-".into();
            }
        });
    })
}

/// A text is refused that `measure` finds longer than `most`.
pub(crate) fn text_refused(
    routes: &'static str,
    field: &'static str,
    most: usize,
    measure: fn(&str) -> usize,
) -> How {
    instead(routes, move |ask| {
        let long = ask.text(field).is_some_and(|text| measure(&text) > most);
        long.then(|| refusal(field))
    })
}

/// A list of `length` entries, one too many, is taken.
pub(crate) fn list_taken(routes: &'static str, field: &'static str, length: usize) -> How {
    asks(routes, move |ask| {
        ask.edit(|body| {
            if let Some(list) = list_of(body, field).filter(|list| list.len() == length) {
                list.pop();
            }
        });
    })
}

/// A list of `length` entries, just enough, is refused.
pub(crate) fn list_refused(routes: &'static str, field: &'static str, length: usize) -> How {
    instead(routes, move |ask| {
        let full = ask.json()[field].as_array().is_some_and(|list| list.len() == length);
        full.then(|| refusal(field))
    })
}

/// A value of the body is taken as if it were another one.
pub(crate) fn taken_as(
    routes: &'static str,
    field: &'static str,
    wrong: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static,
) -> How {
    asks(routes, move |ask| {
        ask.edit(|body| {
            if let Some(other) = body.get(field).and_then(&wrong) {
                body[field] = other;
            }
        });
    })
}

/// A value of the body is refused.
pub(crate) fn value_refused(
    routes: &'static str,
    field: &'static str,
    refused: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> How {
    instead(routes, move |ask| ask.json().get(field).is_some_and(&refused).then(|| refusal(field)))
}

/// A field of the body is not looked at.
pub(crate) fn ignored(routes: &'static str, field: &'static str) -> How {
    asks(routes, move |ask| {
        ask.edit(|body| {
            if let Some(body) = body.as_object_mut() {
                body.remove(field);
            }
        });
    })
}

/// The server's refusal of one field.
pub(crate) fn refusal(field: &str) -> Answer {
    let details = serde_json::json!({ field: "It is not valid." });
    let error = format!("The request is not valid: {field}.");
    Answer::new(400, &serde_json::json!({ "data": null, "error": error, "details": details }))
}

pub(crate) fn characters(text: &str) -> usize {
    text.chars().count()
}

pub(crate) fn bytes(text: &str) -> usize {
    text.len()
}

pub(crate) fn utf16_units(text: &str) -> usize {
    text.encode_utf16().count()
}
