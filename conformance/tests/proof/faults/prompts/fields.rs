//! Faults in what an update does.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::Method;
use serde_json::{Value, json};

use super::{MODEL, absent_is};
use crate::bounds::{ignored, refusal, taken_as, value_refused};
use crate::entries::list_of;
use crate::fault::{Fault, How, fault};
use crate::front::{asks, instead, whole};

const ONE: &str = "PATCH /prompts/*";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.patch-clears-platform",
        "An update that leaves platform out clears it.",
        ["PR-32", "LI-04", "PR-13"],
        asks(ONE, |ask| ask.edit(|body| absent_is(body, "platform", Value::Null)))
    ),
    fault!(
        "prompts.patch-resets-type",
        "An update that leaves promptType out makes a text prompt.",
        ["PR-32", "PR-37", "PR-33", "PR-03", "PR-13"],
        asks(ONE, |ask| ask.edit(|body| absent_is(body, "promptType", "text")))
    ),
    fault!(
        "prompts.patch-platform-with-title",
        "An update that brings title and platform ignores platform.",
        ["PR-33", "ER-03", "ER-05", "PR-02", "VA-33"],
        asks(ONE, |ask| ask.edit(|body| {
            if body.get("title").is_some() {
                drop(body.as_object_mut().map(|body| body.remove("platform")));
            }
        }))
    ),
    fault!(
        "prompts.patch-title-required",
        "An update without title is refused.",
        [
            "PR-32", "ER-03", "PR-37", "PR-33", "PR-38", "EN-02", "LI-02", "PG-06", "UP-16",
            "ER-05", "PR-25", "PR-28", "PR-31", "AU-02", "AU-07", "ER-08", "LI-03", "LI-04",
            "LI-05", "PR-10", "PR-16", "PR-34", "PR-39", "VA-10", "VA-33", "VC-03", "VC-09"
        ],
        instead(ONE, |ask| ask.json().get("title").is_none().then(|| refusal("title")))
    ),
    fault!(
        "prompts.patch-answers-old",
        "An update answers with the prompt as it was before.",
        ["PR-31", "PR-33", "PR-37", "PR-02", "PR-10", "PR-38", "ER-08", "PR-19"],
        whole(ONE, |ask, upstream| async move {
            let before = upstream.send(&ask.another(Method::GET, ask.path.clone())).await;
            let answer = upstream.send(&ask).await;
            if answer.is_success() { before } else { answer }
        })
    ),
    fault!(
        "prompts.patch-null-platform-ignored",
        "An update with platform null leaves the platform.",
        ["PR-33", "PR-10"],
        asks(ONE, |ask| ask.edit(|body| {
            if body.get("platform").is_some_and(Value::is_null) {
                drop(body.as_object_mut().map(|body| body.remove("platform")));
            }
        }))
    ),
    fault!(
        "prompts.patch-model-ignored",
        "An update ignores the modelId, unless it changes the type.",
        ["PR-34", "PR-37", "ER-03", "PR-35", "PR-10"],
        asks(ONE, |ask| ask.edit(|body| {
            let known = body["modelId"].as_str().is_some_and(|model| model.starts_with("local/"));
            if known && body.get("promptType").is_none() {
                drop(body.as_object_mut().map(|body| body.remove("modelId")));
            }
        }))
    ),
    fault!(
        "prompts.patch-aspect-ratio-refused",
        "An update with an aspectRatio is refused.",
        ["PR-34", "LI-04", "PR-10", "PR-32"],
        value_refused(ONE, "aspectRatio", Value::is_string)
    ),
    fault!(
        "prompts.patch-type-ignored",
        "An update takes an unknown promptType for none.",
        ["PR-35"],
        asks(ONE, |ask| ask.edit(|body| {
            let unknown = body["promptType"]
                .as_str()
                .is_some_and(|kind| !matches!(kind, "image" | "text" | "video"));
            if unknown {
                drop(body.as_object_mut().map(|body| body.remove("promptType")));
            }
        }))
    ),
    fault!(
        "prompts.patch-image-url-any",
        "An update takes any text for an imageUrl.",
        ["PR-35", "ER-03"],
        taken_as(ONE, "imageUrl", |url| {
            url.as_str().filter(|url| !url.contains(':')).map(|_| "https://example.com/any".into())
        })
    ),
    fault!(
        "prompts.patch-half",
        "An update with one field at fault sets the fields before it.",
        ["PR-35", "ER-05", "ER-08", "PR-38", "VC-14"],
        whole(ONE, |ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            let body = ask.json();
            if answer.code() == 400 && body["title"].is_string() {
                let half = json!({ "title": body["title"] });
                upstream.send(&ask.another_with(Method::PATCH, ask.path.clone(), &half)).await;
            }
            answer
        })
    ),
    fault!(
        "prompts.patch-image-without-model",
        "A text prompt without modelId becomes an image prompt.",
        ["PR-36"],
        asks(ONE, |ask| ask.edit(|body| {
            if body["promptType"] == "image" {
                absent_is(body, "modelId", MODEL);
            }
        }))
    ),
    fault!(
        "prompts.patch-model-forgotten",
        "A change to image or video needs the modelId in the same request.",
        ["PR-37", "ER-08", "VA-33"],
        instead(ONE, |ask| {
            let body = ask.json();
            let media = body["promptType"] == "image" || body["promptType"] == "video";
            (media && body.get("modelId").is_none()).then(|| refusal("modelId"))
        })
    ),
    fault!(
        "prompts.patch-vault-ignored",
        "An update ignores the vaultId.",
        ["PR-38", "ER-03", "ER-05", "PR-10", "VC-09", "VC-14", "ER-08"],
        ignored(ONE, "vaultId")
    ),
    fault!(
        "prompts.patch-vault-moves",
        "An update with a vaultId takes the prompt out of its other vaults.",
        ["PR-38", "ER-08"],
        moves()
    ),
    fault!(
        "prompts.references-appended",
        "An update appends to the referenceMediaUrls.",
        ["PR-39", "PR-25"],
        appended()
    ),
    fault!(
        "prompts.save-moves",
        "A save takes the prompt out of its other vaults.",
        ["PR-46", "PR-44", "VC-03", "PG-06"],
        moves_on_save()
    ),
    fault!(
        "prompts.save-vault-id-text",
        "A save takes the vaultId as a string of digits.",
        ["PR-47", "ER-05"],
        taken_as("POST /prompts/*/save", "vaultId", |id| Some(
            id.as_str()?.parse::<i64>().ok()?.into()
        ))
    ),
    fault!(
        "prompts.save-without-vault",
        "A save without vaultId answers with the prompt as it is.",
        ["PR-47", "ER-04", "ER-05"],
        whole("POST /prompts/*/save", |ask, upstream| async move {
            if ask.json().get("vaultId").is_some() || !ask.json().is_object() {
                return upstream.send(&ask).await;
            }
            upstream.send(&ask.another(Method::GET, format!("/prompts/{}", ask.id(1)))).await
        })
    ),
    fault!(
        "prompts.save-twice-shown",
        "A second save into a vault shows it twice in vaultIds.",
        ["PR-08", "PR-44"],
        whole("POST /prompts/*/save", |ask, upstream| async move {
            let path = format!("/prompts/{}", ask.id(1));
            let before = upstream.send(&ask.another(Method::GET, path)).await.json();
            let vault = ask.json()["vaultId"].clone();
            let mut answer = upstream.send(&ask).await;
            let was_there =
                before["data"]["vaultIds"].as_array().is_some_and(|ids| ids.contains(&vault));
            answer.edit_data(|prompt| {
                if let (true, Some(ids)) = (was_there, list_of(prompt, "vaultIds")) {
                    ids.push(vault);
                }
            });
            answer
        })
    ),
];

fn moves() -> How {
    whole(ONE, leaves_others)
}

fn moves_on_save() -> How {
    whole("POST /prompts/*/save", leaves_others)
}

/// After a success the prompt is in the vault of the body only.
async fn leaves_others(
    ask: crate::ask::Ask,
    upstream: crate::proxy::Upstream,
) -> crate::ask::Answer {
    let mut answer = upstream.send(&ask).await;
    let Some(kept) = ask.json()["vaultId"].as_i64().filter(|_| answer.is_success()) else {
        return answer;
    };
    let data = answer.json()["data"].clone();
    for vault in data["vaultIds"].as_array().into_iter().flatten().filter_map(Value::as_i64) {
        if vault != kept {
            let listing = format!("/vaults/{vault}/prompts");
            let listed = upstream.send(&ask.another(Method::GET, &*listing)).await.json();
            let entries = listed["data"].as_array().into_iter().flatten();
            for entry in entries.filter(|entry| entry["id"] == data["id"]) {
                let membership = format!("{listing}/{}", entry["vaultPromptId"]);
                upstream.send(&ask.another(Method::DELETE, membership)).await;
            }
        }
    }
    answer.edit_data(|prompt| prompt["vaultIds"] = json!([kept]));
    answer
}

/// Refuses an update whose list would be too long together with the one before.
fn appended() -> How {
    let counts: Mutex<HashMap<i64, usize>> = Mutex::default();
    let counts = std::sync::Arc::new(counts);
    whole("POST /prompts, PATCH /prompts/*", move |ask, upstream| {
        let counts = std::sync::Arc::clone(&counts);
        async move {
            let brought = ask.json()["referenceMediaUrls"].as_array().map(Vec::len);
            let before = {
                let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.get(&ask.id(1)).copied().unwrap_or_default()
            };
            if brought.is_some_and(|brought| before > 0 && before + brought > 10) {
                return refusal("referenceMediaUrls");
            }
            let answer = upstream.send(&ask).await;
            if let (true, Some(brought)) = (answer.is_success(), brought) {
                let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.insert(answer.id(), before + brought);
            }
            answer
        }
    })
}
