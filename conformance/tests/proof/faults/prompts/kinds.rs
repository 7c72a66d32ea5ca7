//! Faults in what kind of value a prompt's fields take.

use serde_json::{Value, json};

use crate::bounds::{refusal, taken_as, value_refused};
use crate::entries::list_of;
use crate::fault::{Fault, fault};
use crate::front::{asks, instead};

use super::{CREATE, MODEL, UPDATE, WRITES};

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.type-of-any-kind",
        "A create takes a promptType that is no string for text.",
        ["PR-22", "ER-05", "ER-03"],
        taken_as(CREATE, "promptType", no_string("text"))
    ),
    fault!(
        "prompts.type-of-any-kind-on-update",
        "An update takes a promptType that is no string for text.",
        ["PR-35", "ER-05", "ER-03"],
        taken_as(UPDATE, "promptType", no_string("text"))
    ),
    fault!(
        "prompts.model-of-any-kind",
        "A modelId that is no string is taken for a model.",
        ["PR-25", "PR-35", "ER-05", "ER-03"],
        taken_as(WRITES, "modelId", no_string(MODEL))
    ),
    fault!(
        "prompts.aspect-ratio-of-any-kind",
        "An aspectRatio that is no string is written as one.",
        ["PR-26", "PR-34", "ER-05", "ER-03"],
        taken_as(WRITES, "aspectRatio", no_string("7"))
    ),
    fault!(
        "prompts.image-url-of-any-kind",
        "An imageUrl that is no string is taken for none.",
        ["PR-28", "PR-35", "ER-05", "ER-03"],
        taken_as(WRITES, "imageUrl", no_string("https://example.com/a.png"))
    ),
    fault!(
        "prompts.references-of-any-kind",
        "A referenceMediaUrls that is no list is taken for an empty one.",
        ["PR-29", "PR-35", "ER-05", "ER-03"],
        taken_as(WRITES, "referenceMediaUrls", |list| {
            let none = !list.is_array() && !list.is_null();
            none.then(|| json!([]))
        })
    ),
    fault!(
        "prompts.references-unchecked-on-update",
        "An update passes over the referenceMediaUrls that are no URI.",
        ["PR-35", "ER-03"],
        asks(UPDATE, |ask| ask.edit(|body| {
            if let Some(list) = list_of(body, "referenceMediaUrls") {
                list.retain(|entry| entry.as_str().is_none_or(|text| text.contains(':')));
            }
        }))
    ),
    fault!(
        "prompts.references-https-only",
        "The referenceMediaUrls have to be https.",
        ["PR-29", "UP-16", "UP-19"],
        value_refused(CREATE, "referenceMediaUrls", |list| {
            let plain = |entry: &Value| entry.as_str().is_some_and(|url| url.starts_with("http:"));
            list.as_array().is_some_and(|list| list.iter().any(plain))
        })
    ),
    fault!(
        "prompts.video-refused",
        "A video prompt is refused, with a modelId too.",
        ["PR-24", "PR-22", "PR-16", "ER-03", "PR-03", "PR-13", "VA-33"],
        value_refused(CREATE, "promptType", |kind| kind == "video")
    ),
    fault!(
        "prompts.null-is-empty",
        "A create takes the platform null for an empty one.",
        ["PR-04", "PR-23"],
        taken_as(CREATE, "platform", |platform| platform.is_null().then(|| json!("")))
    ),
    fault!(
        "prompts.half-a-pair-replaced",
        "Half a surrogate pair is replaced.",
        ["PR-20", "PR-35", "EN-02"],
        asks(WRITES, |ask| {
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
        })
    ),
    fault!(
        "prompts.unknown-field",
        "A field that a prompt does not have is refused.",
        ["EN-02", "PR-10"],
        instead(WRITES, |ask| { ask.json().get("unknown").is_some().then(|| refusal("unknown")) })
    ),
];

/// A value that is no string as this text.
fn no_string(text: &'static str) -> impl Fn(&Value) -> Option<Value> + Send + Sync + 'static {
    move |value| (!value.is_string() && !value.is_null()).then(|| text.into())
}
