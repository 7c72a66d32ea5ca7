//! Faults in one field of a body or one parameter of a query, which differ only in data: a bound
//! is not kept, the greatest value is refused, a value is taken for another one or ignored.

use serde_json::Value;

use crate::exchange::{Response, without};
use crate::fault::Intercept;
use crate::front::{asks, edits, edits_each, instead, refused};

/// A text is refused that `measure` finds longer than `most`.
pub(crate) fn text_refused(
    routes: &'static str,
    field: &'static str,
    most: usize,
    measure: fn(&str) -> usize,
) -> Intercept {
    instead(routes, move |request| {
        let long = request.text(field).is_some_and(|text| measure(&text) > most);
        long.then(|| refusal(field))
    })
}

/// A value of the body is taken as if it were another one.
pub(crate) fn taken_as(
    routes: &'static str,
    field: &'static str,
    wrong: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static,
) -> Intercept {
    edits(routes, move |body| {
        if let Some(other) = body.get(field).and_then(&wrong) {
            body[field] = other;
        }
    })
}

/// A value of the body is refused.
pub(crate) fn value_refused(
    routes: &'static str,
    field: &'static str,
    refused: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> Intercept {
    instead(routes, move |request| {
        request.json().get(field).is_some_and(&refused).then(|| refusal(field))
    })
}

/// A text of the body is refused, with no word that it is the one.
pub(crate) fn text_is_refused(
    routes: &'static str,
    field: &'static str,
    bad: fn(&str) -> bool,
) -> Intercept {
    refused(routes, 400, move |request| request.text(field).is_some_and(|text| bad(&text)))
}

/// A field of answers has another value.
pub(crate) fn shown_as(
    routes: &'static str,
    field: &'static str,
    shown: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static,
) -> Intercept {
    edits_each(routes, move |data| {
        if let Some(other) = data.get(field).and_then(&shown) {
            data[field] = other;
        }
    })
}

/// A number as the string of its digits.
pub(crate) fn as_text(value: &Value) -> Option<Value> {
    Some(value.to_string().into())
}

/// A field of the body is not looked at.
pub(crate) fn ignored(routes: &'static str, field: &'static str) -> Intercept {
    ignored_if(routes, field, |_| true)
}

/// A field of the body is not looked at if it has such a value.
pub(crate) fn ignored_if(
    routes: &'static str,
    field: &'static str,
    ignored: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> Intercept {
    edits(routes, move |body| {
        if body.get(field).is_some_and(&ignored) {
            without(body, field);
        }
    })
}

/// A field that is missing has a value.
pub(crate) fn defaulted(
    routes: &'static str,
    field: &'static str,
    value: impl Into<Value>,
) -> Intercept {
    let value = value.into();
    edits(routes, move |body| default(body, field, value.clone()))
}

/// Gives a field that is missing a value.
pub(crate) fn default(body: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(body) = body.as_object_mut() {
        body.entry(field).or_insert_with(|| value.into());
    }
}

/// Takes a query parameter for another value, or for none.
pub(crate) fn parameter_as(
    routes: &'static str,
    name: &'static str,
    taken: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Intercept {
    asks(routes, move |request| {
        let Some(given) = request.parameter(name) else { return };
        let taken = taken(given);
        if taken.as_deref() != Some(given) {
            request.set_parameter(name, taken.as_deref());
        }
    })
}

/// The server's refusal of one field.
pub(crate) fn refusal(field: &str) -> Response {
    let details = serde_json::json!({ field: "It is not valid." });
    let error = format!("The request is not valid: {field}.");
    Response::new(400, &serde_json::json!({ "data": null, "error": error, "details": details }))
}

pub(crate) fn bytes(text: &str) -> usize {
    text.len()
}
