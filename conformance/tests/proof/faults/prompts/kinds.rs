//! Faults in which values a prompt's fields take, and how many.

use serde_json::{Value, json};

use super::{CREATE, WRITES};
use crate::bounds::{taken_as, value_refused};
use crate::fault::{Fault, fault};
use crate::front::asks;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
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
];
