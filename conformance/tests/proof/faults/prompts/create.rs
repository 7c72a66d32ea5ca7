//! Faults in what a create takes.

use serde_json::Value;

use crate::bounds::{ignored, taken_as, value_refused};
use crate::fault::{Fault, fault};
use crate::front::{answers, asks};

use super::{MODEL, absent_is};

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.untitled",
        "A create without title is titled Untitled.",
        ["PR-20", "ER-04", "ER-03"],
        asks("POST /prompts", |ask| ask.edit(|body| absent_is(body, "title", "Untitled")))
    ),
    fault!(
        "prompts.without-text",
        "A create without text takes the title for it.",
        ["PR-20", "ER-04", "ER-03"],
        asks("POST /prompts", |ask| ask.edit(|body| {
            let title = body["title"].as_str().unwrap_or_default().to_owned();
            absent_is(body, "prompt", title);
        }))
    ),
    fault!(
        "prompts.default-image",
        "A prompt made without promptType is an image prompt.",
        [
            "PR-21", "PR-03", "PG-06", "PR-36", "AU-03", "AU-05", "ER-01", "ER-08", "PG-09",
            "PR-10", "VC-14"
        ],
        asks("POST /prompts", |ask| ask.edit(|body| {
            if body.get("promptType").is_none() {
                absent_is(body, "promptType", "image");
                absent_is(body, "modelId", MODEL);
            }
        }))
    ),
    fault!(
        "prompts.type-audio",
        "A create takes the promptType audio as text.",
        ["PR-22"],
        taken_as("POST /prompts", "promptType", |kind| (kind == "audio").then(|| "text".into()))
    ),
    fault!(
        "prompts.type-any-case",
        "A create takes the promptType in any case.",
        ["PR-22"],
        taken_as("POST /prompts", "promptType", |kind| Some(kind.as_str()?.to_lowercase().into()))
    ),
    fault!(
        "prompts.platform-dropped",
        "A create ignores the platform.",
        ["PR-23", "ER-03", "ER-05", "PR-02"],
        ignored("POST /prompts", "platform")
    ),
    fault!(
        "prompts.video-without-model",
        "A video prompt is made without modelId.",
        ["PR-24", "ER-03"],
        asks("POST /prompts", |ask| ask.edit(|body| {
            if body["promptType"] == "video" {
                absent_is(body, "modelId", MODEL);
            }
        }))
    ),
    fault!(
        "prompts.text-with-model",
        "A text prompt with a modelId is refused.",
        ["PR-24", "PR-16", "PR-37", "ER-03", "PR-03", "PR-13", "PR-25", "VA-33"],
        crate::front::instead("POST /prompts", |ask| {
            let body = ask.json();
            let text = body.get("promptType").is_none_or(|kind| kind == "text");
            (text && body["modelId"].is_string()).then(|| crate::bounds::refusal("modelId"))
        })
    ),
    fault!(
        "prompts.model-of-others",
        "A modelId of any namespace is taken on create.",
        ["PR-25"],
        taken_as("POST /prompts", "modelId", |model| {
            let (namespace, name) = model.as_str()?.split_once('/')?;
            (namespace != "local" && !namespace.is_empty() && !name.is_empty())
                .then(|| MODEL.into())
        })
    ),
    fault!(
        "prompts.model-empty-name",
        "A modelId that ends after the slash is taken.",
        ["PR-25", "PR-35"],
        taken_as(super::WRITES, "modelId", |model| (model == "local/").then(|| MODEL.into()))
    ),
    fault!(
        "prompts.model-by-prefix",
        "A modelId needs to begin with the namespace, without the slash.",
        ["PR-25", "PR-35"],
        taken_as(super::WRITES, "modelId", |model| {
            let rest = model.as_str()?.strip_prefix("local")?;
            (!rest.starts_with('/')).then(|| MODEL.into())
        })
    ),
    fault!(
        "prompts.model-capitals",
        "A modelId in capitals is taken.",
        ["PR-25", "PR-35"],
        taken_as(super::WRITES, "modelId", |model| {
            let model = model.as_str()?;
            let capitals =
                !model.starts_with("local/") && model.to_lowercase().starts_with("local/");
            capitals.then(|| MODEL.into())
        })
    ),
    fault!(
        "prompts.model-update-unchecked",
        "An update takes any text for a modelId.",
        ["PR-35", "ER-03"],
        taken_as("PATCH /prompts/*", "modelId", |model| {
            model.as_str().filter(|model| !model.starts_with("local/")).map(|_| MODEL.into())
        })
    ),
    fault!(
        "prompts.aspect-ratio-form",
        "An aspectRatio that is no ratio is refused.",
        ["PR-26", "LI-04", "ER-03"],
        value_refused("POST /prompts", "aspectRatio", |ratio| {
            ratio.as_str().is_some_and(|ratio| !ratio.contains(':'))
        })
    ),
    fault!(
        "prompts.aspect-ratio-of-text",
        "A text prompt with an aspectRatio is refused.",
        ["PR-26", "LI-04", "ER-03"],
        crate::front::instead("POST /prompts", |ask| {
            let body = ask.json();
            let text = body.get("promptType").is_none_or(|kind| kind == "text");
            (text && body["aspectRatio"].is_string()).then(|| crate::bounds::refusal("aspectRatio"))
        })
    ),
    fault!(
        "prompts.vault-ignored",
        "A create ignores the vaultId.",
        [
            "PR-27", "ER-03", "ER-05", "PR-13", "VC-04", "VC-09", "VC-14", "ER-08", "HT-06",
            "HT-20", "HT-04"
        ],
        ignored("POST /prompts", "vaultId")
    ),
    fault!(
        "prompts.vault-shown-only",
        "A create shows the vaultId, and puts the prompt nowhere.",
        ["PR-27", "AU-03", "EN-02", "ER-08", "PR-13", "VC-04", "VC-09", "HT-06", "HT-20", "HT-04"],
        crate::front::whole("POST /prompts", |mut ask, upstream| async move {
            let vault = ask.json()["vaultId"].clone();
            if !vault.is_i64() {
                return upstream.send(&ask).await;
            }
            let mut real = upstream.send(&ask).await;
            if real.is_success() {
                let id = real.id();
                upstream.send(&ask.another(http::Method::DELETE, format!("/prompts/{id}"))).await;
                ask.edit(|body| drop(body.as_object_mut().map(|body| body.remove("vaultId"))));
                real = upstream.send(&ask).await;
                real.edit_data(|prompt| prompt["vaultIds"] = serde_json::json!([vault]));
            }
            real
        })
    ),
    fault!(
        "prompts.image-url-any",
        "A create takes any text for an imageUrl.",
        ["PR-28", "ER-03"],
        taken_as("POST /prompts", "imageUrl", |url| Some(address(url.as_str()?)))
    ),
    fault!(
        "prompts.image-url-http-only",
        "An imageUrl has to be https.",
        ["PR-28", "UP-16", "ER-03", "UP-19"],
        value_refused("POST /prompts", "imageUrl", |url| {
            url.as_str().is_some_and(|url| !url.starts_with("https:"))
        })
    ),
    fault!(
        "prompts.references-first-only",
        "A create looks at the first of the referenceMediaUrls only.",
        ["PR-29", "ER-03", "PR-35"],
        taken_as("POST /prompts", "referenceMediaUrls", |urls| {
            let urls = urls.as_array().filter(|urls| urls.len() <= 10)?;
            let rest = urls.iter().skip(1).map(|url| url.as_str().map(address));
            let rest: Option<Vec<_>> = rest.collect();
            Some(urls.iter().take(1).cloned().chain(rest?).collect())
        })
    ),
    fault!(
        "prompts.title-number",
        "A create takes a number for a title.",
        ["ER-05", "PR-02"],
        taken_as("POST /prompts", "title", |title| Some(title.as_i64()?.to_string().into()))
    ),
    fault!(
        "prompts.vault-id-text",
        "A create takes the vaultId as a string of digits.",
        ["ER-05", "PR-27"],
        taken_as("POST /prompts", "vaultId", |vault| Some(
            vault.as_str()?.parse::<i64>().ok()?.into()
        ))
    ),
    fault!(
        "prompts.refused-but-made",
        "A create with an unknown promptType is refused, and made all the same.",
        ["PR-22", "AU-03", "EN-02", "ER-08", "PR-02", "VA-28"],
        crate::front::whole("POST /prompts", |ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            let mut body = ask.json();
            if answer.code() == 400
                && !matches!(body["promptType"].as_str(), None | Some("text" | "image" | "video"))
            {
                body["promptType"] = "text".into();
                upstream.send(&ask.another_with(http::Method::POST, "/prompts", &body)).await;
            }
            answer
        })
    ),
    fault!(
        "prompts.one-title-once",
        "A second create with the same body answers with the first prompt.",
        ["PR-19", "PR-01"],
        once()
    ),
];

/// The text if it is an address, or one that stands for it.
fn address(text: &str) -> Value {
    if text.contains(':') { text.into() } else { "https://example.com/any".into() }
}

fn once() -> crate::fault::How {
    let made = std::sync::Mutex::new(std::collections::HashMap::new());
    answers("POST /prompts", move |ask, answer| {
        let mut made = made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if answer.is_success() {
            let first = made.entry(ask.body.clone()).or_insert_with(|| answer.body.clone());
            answer.body = first.clone();
        }
    })
}
