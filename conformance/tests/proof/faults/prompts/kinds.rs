//! Faults in which values a prompt's fields take, and how many.

use serde_json::{Value, json};

use super::{CREATE, UPDATE, WRITES};
use crate::bounds::{refusal, taken_as, value_refused};
use crate::entries::list_of;
use crate::fault::{Fault, fault};
use crate::front::{asks, edits, instead};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
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
];
