//! Faults in what kind of value a prompt's fields take.

use serde_json::{Value, json};

use crate::bounds::{refusal, taken_as, value_refused};
use crate::entries::list_of;
use crate::fault::{Fault, fault};
use crate::front::{asks, edits, instead};

use super::{CREATE, MODEL, UPDATE, WRITES};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.type-of-any-kind" ["PR-22"] taken_as(CREATE, "promptType", no_string("text")),
        "A create takes a promptType that is no string for text." },
    fault! { "prompts.type-of-any-kind-on-update" ["PR-35"]
        taken_as(UPDATE, "promptType", no_string("text")),
        "An update takes a promptType that is no string for text." },
    fault! { "prompts.model-of-any-kind" ["PR-25"] taken_as(WRITES, "modelId", no_string(MODEL)),
        "A modelId that is no string is taken for a model." },
    fault! { "prompts.aspect-ratio-of-any-kind" ["PR-26"]
        taken_as(WRITES, "aspectRatio", no_string("7")),
        "An aspectRatio that is no string is written as one." },
    fault! { "prompts.image-url-of-any-kind" ["PR-28"]
        taken_as(WRITES, "imageUrl", no_string("https://example.com/a.png")),
        "An imageUrl that is no string is taken for none." },
    fault! { "prompts.references-of-any-kind" ["PR-29"]
        taken_as(WRITES, "referenceMediaUrls", |list| {
            let none = !list.is_array() && !list.is_null();
            none.then(|| json!([]))
        }),
        "A referenceMediaUrls that is no list is taken for an empty one." },
    fault! { "prompts.references-unchecked-on-update" ["PR-35"] edits(UPDATE, |body| {
        if let Some(list) = list_of(body, "referenceMediaUrls") {
            list.retain(|entry| entry.as_str().is_none_or(|text| text.contains(':')));
        }
    }),
        "An update passes over the referenceMediaUrls that are no URI." },
    fault! { "prompts.references-https-only" ["PR-29"]
        value_refused(CREATE, "referenceMediaUrls", |list| {
            let plain = |entry: &Value| entry.as_str().is_some_and(|url| url.starts_with("http:"));
            list.as_array().is_some_and(|list| list.iter().any(plain))
        }),
        "The referenceMediaUrls have to be https." },
    fault! { "prompts.video-refused" ["PR-24"]
        value_refused(CREATE, "promptType", |kind| kind == "video"),
        "A video prompt is refused, with a modelId too." },
    fault! { "prompts.null-is-empty" ["PR-04"]
        taken_as(CREATE, "platform", |platform| platform.is_null().then(|| json!(""))),
        "A create takes the platform null for an empty one." },
    fault! { "prompts.half-a-pair-replaced" ["EN-02"] asks(WRITES, |ask| {
        let text = String::from_utf8_lossy(&ask.body).into_owned();
        // What is JSON has no half pairs.
        if ask.json().is_null() && text.contains("\\ud") {
            let halves = ["\\ud800", "\\udc00", "\\ud83d", "\\ude00"];
            ask.body = halves
                .iter()
                .fold(text, |text, half| text.replace(half, "\\ufffd"))
                .into_bytes()
                .into();
        }
    }),
        "Half a surrogate pair is replaced." },
    fault! { "prompts.unknown-field" ["EN-02"]
        instead(WRITES, |ask| ask.json().get("unknown").is_some().then(|| refusal("unknown"))),
        "A field that a prompt does not have is refused." },
];

/// A value that is no string as this text.
fn no_string(text: &'static str) -> impl Fn(&Value) -> Option<Value> + Send + Sync + 'static {
    move |value| (!value.is_string() && !value.is_null()).then(|| text.into())
}
