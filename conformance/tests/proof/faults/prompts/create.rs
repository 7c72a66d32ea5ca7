//! Faults in what a create takes, and in the values of its fields.

use bytes::Bytes;

use super::{CREATE, MODEL, WRITES};
use crate::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.platform-dropped" ["PR-23"] ignored(CREATE, "platform"),
        "A create ignores the platform." },
    fault! { "prompts.video-without-model" ["PR-24"] edits(CREATE, |body| {
        if body["promptType"] == "video" {
            default(body, "modelId", MODEL);
        }
    }),
        "A video prompt is made without modelId." },
    fault! { "prompts.text-with-model" ["PR-24"] refused(CREATE, 400, |request| {
        let body = request.json();
        body.get("promptType").is_none_or(|kind| kind == "text") && body["modelId"].is_string()
    }),
        "A text prompt with a modelId is refused." },
    fault! { "prompts.model-empty-name" ["PR-25"]
        taken_as(WRITES, "modelId", |model| (model == "local/").then(|| MODEL.into())),
        "A modelId that ends after the slash is taken." },
    fault! { "prompts.model-update-unchecked" ["PR-35"]
        taken_as("PATCH /prompts/*", "modelId", |model| {
            model.as_str().filter(|model| !model.starts_with("local/")).map(|_| MODEL.into())
        }),
        "An update takes any text for a modelId." },
    fault! { "prompts.aspect-ratio-of-text" ["PR-26"] refused(CREATE, 400, |request| {
        let body = request.json();
        body.get("promptType").is_none_or(|kind| kind == "text") && body["aspectRatio"].is_string()
    }),
        "A text prompt with an aspectRatio is refused." },
    fault! { "prompts.vault-ignored" ["PR-27"] ignored(CREATE, "vaultId"),
        "A create ignores the vaultId." },
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
    }),
        "A create shows the vaultId, and puts the prompt nowhere." },
    fault! { "prompts.image-url-http-only" ["PR-28"]
        value_refused(CREATE, "imageUrl", |url| {
            url.as_str().is_some_and(|url| !url.starts_with("https:"))
        }),
        "An imageUrl has to be https." },
    fault! { "prompts.refused-but-made" ["PR-22"] and_sends(CREATE, |request, response| {
        let mut body = request.json();
        let known = matches!(body["promptType"].as_str(), None | Some("text" | "image" | "video"));
        (response.code() == 400 && !known).then(|| {
            body["promptType"] = "text".into();
            request.another_with(Method::POST, "/prompts", &body)
        })
    }),
        "A create with an unknown promptType is refused, and made all the same." },
    fault! { "prompts.one-title-once" ["PR-19"] once(),
        "A second create with the same body answers with the first prompt." },
    fault! { "prompts.default-image" ["PR-21"] edits(CREATE, |body| {
        if body.get("promptType").is_none() {
            default(body, "promptType", "image");
            default(body, "modelId", MODEL);
        }
    }),
        "A prompt made without promptType is an image prompt." },
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
