//! Faults in which prompts change, how, and what of them (PR-09, PR-10, PR-25, PR-37).

use serde_json::json;

use super::{UPDATE, WRITES};
use crate::bounds::{taken_as, value_refused};
use crate::fault::{Fault, fault};
use crate::front::{edits_data, whole};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.created-anew" ["PR-09"]
        edits_data(UPDATE, |prompt| prompt["createdAt"] = prompt["updatedAt"].clone()),
        "An update moves createdAt too." },
    fault! { "prompts.touched-by-save" ["PR-10"]
        whole("POST /prompts/*/save", |ask, upstream| async move {
            let saved = upstream.send(&ask).await;
            if saved.is_success() {
                let same = json!({ "title": saved.json()["data"]["title"] });
                let path = format!("/prompts/{}", ask.segment(1));
                upstream.patch(&ask, path, &same).await;
            }
            saved
        }),
        "A save moves updatedAt." },
    fault! { "prompts.model-of-words" ["PR-25"] value_refused(WRITES, "modelId", |model| {
        model.as_str().is_some_and(|model| !model.bytes().all(|byte| byte.is_ascii_graphic()))
    }),
        "A modelId with a space or a letter beyond ASCII is refused." },
    fault! { "prompts.model-with-line-break" ["PR-25"] taken_as(WRITES, "modelId", |model| {
        Some(model.as_str()?.replace(['\r', '\n'], "_").into())
    }),
        "The name in a modelId may begin with a line break." },
    fault! { "prompts.model-beside-type" ["PR-37"] whole(UPDATE, |ask, upstream| async move {
        if let Some(kind) = ask.json().get("promptType") {
            let alone = json!({ "promptType": kind });
            let changed = upstream.patch(&ask, &*ask.path, &alone).await;
            if !changed.is_success() {
                return changed;
            }
        }
        upstream.send(&ask).await
    }),
        "A change to image wants a modelId from before." },
];
