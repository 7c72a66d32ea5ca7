//! Faults in prompts (PR, LI-02 to LI-05): what a create and an update take and do, and what is shown.

pub(super) mod lists;

use bytes::Bytes;

use crate::keys::READ_ONLY;
use crate::prelude::*;

/// Where a prompt is made or changed.
const WRITES: &str = "POST /prompts, PATCH /prompts/*";
const CREATE: &str = "POST /prompts";
const UPDATE: &str = "PATCH /prompts/*";
/// A model that the target knows.
const MODEL: &str = "local/plasma";
const READ: &str = "GET /prompts/*";
/// How far the next one may be: others make prompts at the same time.
const NEXT: i64 = 60;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.type-upper-case" ["PR-03"]
        shown_as("GET /prompts", "promptType", |kind| Some(kind.as_str()?.to_uppercase().into())) },
    // vaultIds names the first vault of a prompt only.
    fault! { "prompts.first-vault-only" ["PR-08"] edits_data("GET /prompts/*", |prompt| {
        if let Some(vaults) = list_of(prompt, "vaultIds") {
            vaults.truncate(1);
        }
    }) },
    // updatedAt is the time of creation for ever.
    fault! { "prompts.updated-at-stays" ["PR-10"]
        edits_data("GET /prompts/*, PATCH /prompts/*", |prompt| {
            prompt["updatedAt"] = prompt["createdAt"].clone();
        }) },
    fault! { "prompts.pin-everywhere" ["PR-11"]
        edits_data("GET /prompts/*", |prompt| prompt["isPinned"] = false.into()) },
    fault! { "prompts.delete-204" ["PR-40"] no_content("DELETE /prompts/*") },
    // The width of an image is a string.
    fault! { "prompts.image-size-as-text" ["PR-07"]
        edits_each("GET /prompts/*, GET /vaults/*/prompts", |prompt| {
            for image in list_of(prompt, "images").into_iter().flatten() {
                image["width"] = image["width"].to_string().into();
            }
        }) },
    // A read shows the first 14 characters of a text.
    fault! { "prompts.text-cut" ["PR-02"] shown_as(READ, "prompt", |text| {
        Some(text.as_str()?.chars().take(14).collect::<String>().into())
    }) },
    // A prompt is read with the title of the next one that has a like title.
    fault! { "prompts.title-of-the-next" ["PR-30"] whole(READ, |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        let title = response.json()["data"]["title"].as_str().map(str::to_owned);
        for id in (1..NEXT).map(|step| request.id(1).saturating_add(step)) {
            let next = request.another(Method::GET, format!("/prompts/{id}"));
            let next = upstream.send(&next).await.json()["data"]["title"].take();
            if next
                .as_str()
                .is_some_and(|next| title.as_deref().is_some_and(|own| alike(own, next)))
            {
                response.edit_data(|prompt| prompt["title"] = next);
                break;
            }
        }
        response
    }) },
    fault! { "prompts.read-needs-scope" ["AU-01"]
        refused(READ, 401, |request| request.authorization().ends_with(READ_ONLY)) },
    // A new prompt was updated a moment after it was made.
    fault! { "prompts.created-before-updated" ["PR-09"] shown_as(CREATE, "updatedAt", |time| {
        let later = time.as_str()?.replacen(".", ".9", 1);
        Some(later.chars().take(26).chain(['Z']).collect::<String>().into())
    }) },
    fault! { "prompts.platform-dropped" ["PR-23"] ignored(CREATE, "platform") },
    // A video prompt is made without modelId.
    fault! { "prompts.video-without-model" ["PR-24"] edits(CREATE, |body| {
        if body["promptType"] == "video" {
            default(body, "modelId", MODEL);
        }
    }) },
    // A text prompt with a modelId is refused.
    fault! { "prompts.text-with-model" ["PR-24"] refused(CREATE, 400, |request| {
        let body = request.json();
        body.get("promptType").is_none_or(|kind| kind == "text") && body["modelId"].is_string()
    }) },
    fault! { "prompts.model-empty-name" ["PR-25"]
        taken_as(WRITES, "modelId", |model| (model == "local/").then(|| MODEL.into())) },
    // An update takes any text for a modelId.
    fault! { "prompts.model-update-unchecked" ["PR-35"]
        taken_as("PATCH /prompts/*", "modelId", |model| {
            model.as_str().filter(|model| !model.starts_with("local/")).map(|_| MODEL.into())
        }) },
    fault! { "prompts.vault-ignored" ["PR-27"] ignored(CREATE, "vaultId") },
    // A create shows the vaultId, and puts the prompt nowhere.
    fault! { "prompts.vault-shown-only" ["PR-27"] whole(CREATE, |mut request, upstream| async move {
        let vault = request.json()["vaultId"].clone();
        let mut real = upstream.send(&request).await;
        if vault.is_i64() && real.is_success() {
            upstream.delete(&request, format!("/prompts/{}", real.id())).await;
            request.edit(|body| without(body, "vaultId"));
            real = upstream.send(&request).await;
            real.edit_data(|prompt| prompt["vaultIds"] = serde_json::json!([vault]));
        }
        real
    }) },
    // An imageUrl has to be https.
    fault! { "prompts.image-url-http-only" ["PR-28"]
        value_refused(CREATE, "imageUrl", |url| {
            url.as_str().is_some_and(|url| !url.starts_with("https:"))
        }) },
    // A create with an unknown promptType is refused, and made all the same.
    fault! { "prompts.refused-but-made" ["PR-22"] and_sends(CREATE, |request, response| {
        let mut body = request.json();
        let known = matches!(body["promptType"].as_str(), None | Some("text" | "image" | "video"));
        (response.code() == 400 && !known).then(|| {
            body["promptType"] = "text".into();
            request.another_with(Method::POST, "/prompts", &body)
        })
    }) },
    fault! { "prompts.one-title-once" ["PR-19"] once() },
    // A prompt made without promptType is an image prompt.
    fault! { "prompts.default-image" ["PR-21"] edits(CREATE, |body| {
        if body.get("promptType").is_none() {
            default(body, "promptType", "image");
            default(body, "modelId", MODEL);
        }
    }) },
    // The referenceMediaUrls have to be https.
    fault! { "prompts.references-https-only" ["PR-29"]
        value_refused(CREATE, "referenceMediaUrls", |list| {
            let plain = |entry: &Value| entry.as_str().is_some_and(|url| url.starts_with("http:"));
            list.as_array().is_some_and(|list| list.iter().any(plain))
        }) },
    fault! { "prompts.video-refused" ["PR-24"]
        value_refused(CREATE, "promptType", |kind| kind == "video") },
    // Half a surrogate pair is replaced.
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
    }) },
    fault! { "prompts.patch-of-nothing" ["PR-32"]
        refused(UPDATE, 400, |request| request.json() == json!({})) },
    fault! { "prompts.patch-resets-type" ["PR-32"] defaulted(UPDATE, "promptType", "text") },
    // An update that brings title and platform ignores platform.
    fault! { "prompts.patch-platform-with-title" ["PR-33"] edits(UPDATE, |body| {
        if body.get("title").is_some() {
            without(body, "platform");
        }
    }) },
    fault! { "prompts.patch-title-required" ["PR-32"]
        refused(UPDATE, 400, |request| request.json().get("title").is_none()) },
    // An update answers with the prompt as it was before.
    fault! { "prompts.patch-answers-old" ["PR-31"] whole(UPDATE, |request, upstream| async move {
        let before = upstream.get(&request, &*request.path).await;
        let response = upstream.send(&request).await;
        if response.is_success() { before } else { response }
    }) },
    // An update ignores the modelId, unless it changes the type.
    fault! { "prompts.patch-model-ignored" ["PR-34"] edits(UPDATE, |body| {
        if text(body, "modelId").starts_with("local/") && body.get("promptType").is_none() {
            without(body, "modelId");
        }
    }) },
    fault! { "prompts.patch-aspect-ratio-refused" ["PR-34"]
        value_refused(UPDATE, "aspectRatio", Value::is_string) },
    // An update with one field at fault sets the fields before it.
    fault! { "prompts.patch-half" ["PR-35"] and_sends(UPDATE, |request, response| {
        let half = json!({ "title": request.json()["title"] });
        let halved = response.code() == 400 && half["title"].is_string();
        halved.then(|| request.another_with(Method::PATCH, &*request.path, &half))
    }) },
    // A text prompt without modelId becomes an image prompt.
    fault! { "prompts.patch-image-without-model" ["PR-36"] edits(UPDATE, |body| {
        if body["promptType"] == "image" {
            default(body, "modelId", MODEL);
        }
    }) },
    // A change to image or video needs the modelId in the same request.
    fault! { "prompts.patch-model-forgotten" ["PR-37"] refused(UPDATE, 400, |request| {
        let body = request.json();
        matches!(text(&body, "promptType"), "image" | "video") && body.get("modelId").is_none()
    }) },
    fault! { "prompts.patch-vault-ignored" ["PR-38"] ignored(UPDATE, "vaultId") },
    fault! { "prompts.patch-vault-moves" ["PR-38"] whole(UPDATE, leaves_others) },
    fault! { "prompts.save-moves" ["PR-46"] whole("POST /prompts/*/save", leaves_others) },
    // A second save into a vault shows it twice in vaultIds.
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
        }) },
    // A save moves updatedAt.
    fault! { "prompts.touched-by-save" ["PR-10"] and_sends("POST /prompts/*/save", |request, saved| {
        let same = json!({ "title": saved.json()["data"]["title"] });
        let path = format!("/prompts/{}", request.segment(1));
        saved.is_success().then(|| request.another_with(Method::PATCH, path, &same))
    }) },
    // A modelId with a space or a letter beyond ASCII is refused.
    fault! { "prompts.model-of-words" ["PR-25"] value_refused(WRITES, "modelId", |model| {
        model.as_str().is_some_and(|model| !model.bytes().all(|byte| byte.is_ascii_graphic()))
    }) },
    // The name in a modelId may begin with a line break.
    fault! { "prompts.model-with-line-break" ["PR-25"] taken_as(WRITES, "modelId", |model| {
        Some(model.as_str()?.replace(['\r', '\n'], "_").into())
    }) },
    // A change to image wants a modelId from before.
    fault! { "prompts.model-beside-type" ["PR-37"] whole(UPDATE, |request, upstream| async move {
        if let Some(kind) = request.json().get("promptType") {
            let alone = json!({ "promptType": kind });
            let changed = upstream.patch(&request, &*request.path, &alone).await;
            if !changed.is_success() {
                return changed;
            }
        }
        upstream.send(&request).await
    }) },
    fault! { in "prompts.object.id-unique" "prompts.id-of-two" ["PR-01"] edits_data(CREATE, |prompt| {
        prompt["id"] = (prompt["id"].as_i64().unwrap_or_default() | 1).into();
    }) },
];

/// Whether two titles have the same word before their last one.
fn alike(own: &str, other: &str) -> bool {
    let word = |title: &str| title.rsplit(' ').nth(1).map(str::to_owned);
    word(own).is_some() && word(own) == word(other)
}

fn once() -> Intercept {
    let made = Shared::<HashMap<Bytes, Bytes>>::default();
    answers(CREATE, move |request, response| {
        if response.is_success() {
            let first = |made: &mut HashMap<Bytes, Bytes>| {
                made.entry(request.body.clone()).or_insert_with(|| response.body.clone()).clone()
            };
            response.body = made.with(first);
        }
    })
}

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
