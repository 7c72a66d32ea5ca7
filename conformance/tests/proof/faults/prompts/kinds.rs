//! Faults in which values a prompt's fields take, and how many.

use serde_json::{Value, json};

use super::{CREATE, MODEL, UPDATE, WRITES};
use crate::bounds::{
    bytes, characters, empty_taken, list_refused, list_taken, refusal, taken_as, text_refused,
    text_taken, utf16_units, value_refused,
};
use crate::entries::list_of;
use crate::fault::{Fault, fault};
use crate::front::{asks, edits, instead};

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
    fault! { "prompts.half-a-pair-replaced" ["EN-02"] asks(WRITES, |request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        // What is JSON has no half pairs.
        if request.json().is_null() && text.contains("\\ud") {
            let halves = ["\\ud800", "\\udc00", "\\ud83d", "\\ude00"];
            request.body = halves
                .iter()
                .fold(text, |text, half| text.replace(half, "\\ufffd"))
                .into_bytes()
                .into();
        }
    }),
        "Half a surrogate pair is replaced." },
    fault! { "prompts.unknown-field" ["EN-02"]
        instead(WRITES, |request| request.json().get("unknown").is_some().then(|| refusal("unknown"))),
        "A field that a prompt does not have is refused." },
    fault! { "prompts.title-121" ["LI-02"] text_taken(WRITES, "title", 120),
        "A title of 121 characters is accepted, and cut." },
    fault! { "prompts.title-121-on-update" ["LI-02"] text_taken("PATCH /prompts/*", "title", 120),
        "An update accepts a title of 121 characters." },
    fault! { "prompts.title-empty" ["LI-02"] empty_taken("POST /prompts", "title"),
        "A create accepts an empty title." },
    fault! { "prompts.title-empty-on-update" ["LI-02"] empty_taken("PATCH /prompts/*", "title"),
        "An update accepts an empty title." },
    fault! { "prompts.title-in-bytes" ["LI-02"] text_refused(WRITES, "title", 120, bytes),
        "The length of a title is counted in bytes." },
    fault! { "prompts.title-in-utf16" ["LI-02"] text_refused(WRITES, "title", 120, utf16_units),
        "The length of a title is counted in UTF-16 units." },
    fault! { "prompts.text-15001" ["LI-03"] text_taken(WRITES, "prompt", 15_000),
        "A text of 15001 characters is accepted, and cut." },
    fault! { "prompts.text-empty" ["LI-03"] empty_taken("POST /prompts", "prompt"),
        "A create accepts an empty text." },
    fault! { "prompts.text-in-bytes" ["LI-03"] text_refused(WRITES, "prompt", 15_000, bytes),
        "The length of a text is counted in bytes." },
    fault! { "prompts.aspect-ratio-21" ["LI-04"] text_taken(WRITES, "aspectRatio", 20),
        "An aspectRatio of 21 characters is accepted." },
    fault! { "prompts.aspect-ratio-20" ["LI-04"]
        text_refused(WRITES, "aspectRatio", 19, characters),
        "An aspectRatio of 20 characters is refused." },
    fault! { "prompts.references-11" ["LI-05"] list_taken(WRITES, "referenceMediaUrls", 10),
        "11 referenceMediaUrls are accepted." },
    fault! { "prompts.references-10" ["LI-05"] list_refused(WRITES, "referenceMediaUrls", 9),
        "10 referenceMediaUrls are refused." },
];

/// A value that is no string as this text.
fn no_string(text: &'static str) -> impl Fn(&Value) -> Option<Value> + Send + Sync + 'static {
    move |value| (!value.is_string() && !value.is_null()).then(|| text.into())
}
