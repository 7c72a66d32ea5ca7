//! Faults in what an update does, and in which prompts change.

use super::{MODEL, UPDATE, WRITES};
use crate::prelude::*;

const ONE: &str = "PATCH /prompts/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.patch-of-nothing" ["PR-32"]
        refused(ONE, 400, |request| request.json() == json!({})),
        "An update of a prompt without any field is refused." },
    fault! { "prompts.patch-clears-platform" ["PR-32"] defaulted(ONE, "platform", Value::Null),
        "An update that leaves platform out clears it." },
    fault! { "prompts.patch-resets-type" ["PR-32"] defaulted(ONE, "promptType", "text"),
        "An update that leaves promptType out makes a text prompt." },
    fault! { "prompts.patch-platform-with-title" ["PR-33"] edits(ONE, |body| {
        if body.get("title").is_some() {
            without(body, "platform");
        }
    }),
        "An update that brings title and platform ignores platform." },
    fault! { "prompts.patch-title-required" ["PR-32"]
        refused(ONE, 400, |request| request.json().get("title").is_none()),
        "An update without title is refused." },
    fault! { "prompts.patch-answers-old" ["PR-31"] whole(ONE, |request, upstream| async move {
        let before = upstream.get(&request, &*request.path).await;
        let response = upstream.send(&request).await;
        if response.is_success() { before } else { response }
    }),
        "An update answers with the prompt as it was before." },
    fault! { "prompts.patch-model-ignored" ["PR-34"] edits(ONE, |body| {
        if text(body, "modelId").starts_with("local/") && body.get("promptType").is_none() {
            without(body, "modelId");
        }
    }),
        "An update ignores the modelId, unless it changes the type." },
    fault! { "prompts.patch-aspect-ratio-refused" ["PR-34"]
        value_refused(ONE, "aspectRatio", Value::is_string),
        "An update with an aspectRatio is refused." },
    fault! { "prompts.patch-half" ["PR-35"] and_sends(ONE, |request, response| {
        let half = json!({ "title": request.json()["title"] });
        let halved = response.code() == 400 && half["title"].is_string();
        halved.then(|| request.another_with(Method::PATCH, &*request.path, &half))
    }),
        "An update with one field at fault sets the fields before it." },
    fault! { "prompts.patch-image-without-model" ["PR-36"] edits(ONE, |body| {
        if body["promptType"] == "image" {
            default(body, "modelId", MODEL);
        }
    }),
        "A text prompt without modelId becomes an image prompt." },
    fault! { "prompts.patch-model-forgotten" ["PR-37"] refused(ONE, 400, |request| {
        let body = request.json();
        matches!(text(&body, "promptType"), "image" | "video") && body.get("modelId").is_none()
    }),
        "A change to image or video needs the modelId in the same request." },
    fault! { "prompts.patch-vault-ignored" ["PR-38"] ignored(ONE, "vaultId"),
        "An update ignores the vaultId." },
    fault! { "prompts.patch-vault-moves" ["PR-38"] whole(ONE, leaves_others),
        "An update with a vaultId takes the prompt out of its other vaults." },
    fault! { "prompts.save-moves" ["PR-46"] whole("POST /prompts/*/save", leaves_others),
        "A save takes the prompt out of its other vaults." },
    fault! { "prompts.save-twice-shown" ["PR-08"]
        whole("POST /prompts/*/save", |request, upstream| async move {
            let before = upstream.get(&request, format!("/prompts/{}", request.id(1))).await.json();
            let vault = request.json()["vaultId"].clone();
            let mut response = upstream.send(&request).await;
            let there = before["data"]["vaultIds"].as_array().cloned().unwrap_or_default();
            response.edit_data(|prompt| {
                if let Some(ids) = list_of(prompt, "vaultIds").filter(|_| there.contains(&vault)) {
                    ids.push(vault);
                }
            });
            response
        }),
        "A second save into a vault shows it twice in vaultIds." },
    fault! { "prompts.created-anew" ["PR-09"]
        edits_data(UPDATE, |prompt| prompt["createdAt"] = prompt["updatedAt"].clone()),
        "An update moves createdAt too." },
    fault! { "prompts.touched-by-save" ["PR-10"] and_sends("POST /prompts/*/save", |request, saved| {
        let same = json!({ "title": saved.json()["data"]["title"] });
        let path = format!("/prompts/{}", request.segment(1));
        saved.is_success().then(|| request.another_with(Method::PATCH, path, &same))
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
    fault! { "prompts.model-beside-type" ["PR-37"] whole(UPDATE, |request, upstream| async move {
        if let Some(kind) = request.json().get("promptType") {
            let alone = json!({ "promptType": kind });
            let changed = upstream.patch(&request, &*request.path, &alone).await;
            if !changed.is_success() {
                return changed;
            }
        }
        upstream.send(&request).await
    }),
        "A change to image wants a modelId from before." },
];

/// After a success the prompt is in the vault of the body only.
pub(in crate::faults) async fn leaves_others(request: Request, upstream: Upstream) -> Response {
    let mut response = upstream.send(&request).await;
    if let Some(kept) = request.json()["vaultId"].as_i64().filter(|_| response.is_success()) {
        let prompt = response.json()["data"]["id"].take();
        upstream.take_out(&request, &prompt, |vault| vault != kept).await;
        response.edit_data(|prompt| prompt["vaultIds"] = json!([kept]));
    }
    response
}
