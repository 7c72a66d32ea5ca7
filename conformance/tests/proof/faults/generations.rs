//! Faults in generations (GE, LI-09 to LI-13) and in slots: what a body may be, and the answer.

pub(super) mod answer;
pub(super) mod jobs;

use crate::faults::uploads::in_storage;
use crate::prelude::*;

const QUEUE: &str = "POST /generations";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.negative-refused" ["GE-14"]
        text_is_refused(QUEUE, "negativePrompt", |_| true),
        "A model refuses a negativePrompt that it does not support." },
    fault! { "generations.prompt-bytes" ["LI-09"] text_refused(QUEUE, "prompt", 100_000, bytes),
        "A prompt is counted in bytes." },
    fault! { "generations.video-by-default" ["GE-09"] defaulted(QUEUE, "generationType", "video"),
        "A generation is a video by default." },
    fault! { "generations.references-refused" ["GE-23"]
        value_refused(QUEUE, "referenceImageUrls", |list| list == &json!([])),
        "An empty referenceImageUrls is refused." },
    fault! { "generations.image-refused" ["GE-15"]
        text_is_refused(QUEUE, "imageInput", |url| url.contains("/assets/")),
        "The url of an upload is refused as an imageInput." },
    fault! { "generations.parameters-kept" ["GE-20"] edits(QUEUE, |body| {
        if let Some(parameters) = body.get_mut("parameters") {
            without(parameters, "seed");
        }
    }),
        "The parameter seed does not reach the provider." },
    fault! { "generations.parameters-10001" ["GE-20"] edits(QUEUE, |body| {
        let parameters = body.get_mut("parameters");
        let entries = parameters.and_then(|all| list_of(all, "a"));
        if let Some(entries) = entries.filter(|entries| entries.len() == 9_999) {
            entries.pop();
        }
    }),
        "parameters with 10001 values are taken." },
    fault! { "generations.ratio-default" ["GE-17"] defaulted(QUEUE, "aspectRatio", "16:9"),
        "The aspectRatio is 16:9 by default." },
    fault! { "generations.ratio-ignored" ["GE-18"]
        ignored_if(QUEUE, "aspectRatio", Value::is_string),
        "The aspectRatio does not reach the provider." },
    fault! { "generations.edit-ignored" ["GE-24"]
        ignored_if(QUEUE, "imageEditEndpointId", Value::is_string),
        "The editing model is not used." },
    fault! { "generations.batch-default" ["GE-19"] defaulted(QUEUE, "batchCount", 2),
        "Without batchCount there are 2 outputs." },
    fault! { "generations.vault-ignored" ["GE-21"] ignored_if(QUEUE, "vaultId", Value::is_i64),
        "The output goes to General whatever vault is named." },
    fault! { "generations.vault-foreign" ["GE-21"] foreign_vault(),
        "For a vault that is not the caller's the output goes to General." },
    fault! { "generations.known-models" ["GE-07"]
        text_is_refused(QUEUE, "modelId", |model| !model.starts_with("local/")),
        "A modelId that prompts may not have is refused before the provider sees it." },
    fault! { "generations.prompt-trimmed" ["GE-08"]
        text_is_refused(QUEUE, "prompt", |text| text.trim().is_empty()),
        "A prompt of white space alone is refused." },
    fault! { "generations.negative-empty" ["GE-13"]
        text_is_refused(QUEUE, "negativePrompt", str::is_empty),
        "An empty negativePrompt is refused." },
    fault! { "generations.image-of-the-web" ["GE-15"]
        text_is_refused(QUEUE, "imageInput", |url| !url.starts_with("http")),
        "An imageInput has to be an address of the web." },
    fault! { "generations.inputs-refused" ["GE-16"]
        value_refused(QUEUE, "imageInputs", |list| list == &json!([])),
        "An empty imageInputs is refused." },
    fault! { "generations.ratio-default-named" ["GE-17"]
        text_is_refused(QUEUE, "aspectRatio", |ratio| ratio == "1:1"),
        "The default aspectRatio cannot be named." },
    fault! { "generations.upload-url-taken" ["UP-17"] taken_as(QUEUE, "imageInput", in_storage),
        "uploadUrl is taken as an input image." },
    fault! { "generations.entry-no-uri" ["GE-25"] edits(QUEUE, |body| {
        for field in ["imageInputs", "referenceImageUrls"] {
            if let Some(entries) = list_of(body, field) {
                entries.retain(|entry| entry.as_str().is_none_or(|text| text.contains(':')));
            }
        }
    }),
        "Entries of a list that are no URI are passed over." },
    fault! { "generations.first-entry" ["GE-25"] edits(QUEUE, |body| {
        if let Some(entries) = list_of(body, "referenceImageUrls") {
            let mut first = true;
            entries.retain(|entry| std::mem::take(&mut first) || !entry.is_string());
        }
    }),
        "Only the first entry of referenceImageUrls is looked at." },
];

fn foreign_vault() -> Intercept {
    whole(QUEUE, |mut request, upstream| async move {
        if let Some(vault) = request.json()["vaultId"].as_i64() {
            let found = upstream.get(&request, format!("/vaults/{vault}")).await;
            if found.code() == 404 {
                request.edit(|body| without(body, "vaultId"));
            }
        }
        upstream.send(&request).await
    })
}
