//! Faults in generations (GE, LI-09 to LI-13) and in slots: what a body may be, and the answer.

pub(super) mod answer;
pub(super) mod jobs;

use http::Method;
use serde_json::{Value, json};

use crate::bounds::{
    bytes, characters, default, defaulted, from_digits, ignored_if, list_refused, list_taken,
    taken_as, text_is_refused, text_refused, text_taken, value_refused,
};
use crate::entries::{list_of, without};
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::faults::uploads::in_storage;
use crate::front::{answers, edits, whole};

const QUEUE: &str = "POST /generations";

const SLOT: &str = "POST /uploads/images";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.prompt-100001" ["LI-09"] text_taken(QUEUE, "prompt", 100_000),
        "A prompt of 100001 characters is accepted." },
    fault! { "generations.prompt-bytes" ["LI-09"] text_refused(QUEUE, "prompt", 100_000, bytes),
        "A prompt is counted in bytes." },
    fault! { "generations.negative-100001" ["LI-10"] text_taken(QUEUE, "negativePrompt", 100_000),
        "A negativePrompt of 100001 characters is accepted." },
    fault! { "generations.negative-100000" ["LI-10"]
        text_refused(QUEUE, "negativePrompt", 99_999, characters),
        "A negativePrompt of 100000 characters is refused." },
    fault! { "generations.inputs-8" ["LI-11"] list_taken(QUEUE, "imageInputs", 7),
        "imageInputs with 8 entries is accepted." },
    fault! { "generations.inputs-7" ["LI-11"] list_refused(QUEUE, "imageInputs", 6),
        "imageInputs with 7 entries is refused." },
    fault! { "generations.references-8" ["LI-12"] list_taken(QUEUE, "referenceImageUrls", 7),
        "referenceImageUrls with 8 entries is accepted." },
    fault! { "generations.references-7" ["LI-12"] list_refused(QUEUE, "referenceImageUrls", 6),
        "referenceImageUrls with 7 entries is refused." },
    fault! { "generations.batch-5" ["LI-13"]
        taken_as(QUEUE, "batchCount", |count| (*count == 5).then(|| 4.into())),
        "A batchCount of 5 is taken for 4." },
    fault! { "generations.batch-4" ["LI-13"]
        value_refused(QUEUE, "batchCount", |count| *count == 4),
        "A batchCount of 4 is refused." },
    fault! { "generations.batch-0" ["LI-13"]
        taken_as(QUEUE, "batchCount", |count| (*count == 0).then(|| 1.into())),
        "A batchCount of 0 is taken for 1." },
    fault! { "generations.no-model" ["GE-07"] defaulted(QUEUE, "modelId", "local/fail"),
        "Without a modelId a model is chosen." },
    fault! { "generations.no-prompt" ["GE-08"] defaulted(QUEUE, "prompt", "Untitled"),
        "A generation needs no prompt." },
    fault! { "generations.other-type" ["GE-10"] taken_as(QUEUE, "generationType", |kind| {
        (!["image", "video"].contains(&kind.as_str()?)).then(|| "image".into())
    }),
        "An unknown generationType is taken for image." },
    fault! { "generations.no-video" ["GE-09"]
        value_refused(QUEUE, "generationType", |kind| kind == "video"),
        "A generationType of video is refused." },
    fault! { "generations.video-by-default" ["GE-09"] defaulted(QUEUE, "generationType", "video"),
        "A generation is a video by default." },
    fault! { "generations.image-no-uri" ["GE-25"] ignored_if(QUEUE, "imageInput", |value| {
        value.as_str().is_some_and(|text| !text.contains(':'))
    }),
        "An imageInput that is no URI is passed over." },
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
    fault! { "generations.one-for-list" ["GE-16"]
        taken_as(QUEUE, "imageInputs", |url| url.is_string().then(|| json!([url]))),
        "imageInputs may be one address in place of a list." },
    fault! { "generations.references-refused" ["GE-23"]
        value_refused(QUEUE, "referenceImageUrls", |list| list == &json!([])),
        "An empty referenceImageUrls is refused." },
    fault! { "generations.image-refused" ["GE-15"]
        text_is_refused(QUEUE, "imageInput", |url| url.contains("/assets/")),
        "The url of an upload is refused as an imageInput." },
    fault! { "generations.parameters-text" ["GE-20"]
        ignored_if(QUEUE, "parameters", Value::is_string),
        "parameters may be JSON in a string." },
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
    fault! { "generations.job-id-257" ["GE-11"] text_taken(QUEUE, "clientJobId", 256),
        "A clientJobId of 257 characters is taken." },
    fault! { "generations.negative-refused" ["GE-14"]
        text_is_refused(QUEUE, "negativePrompt", |_| true),
        "A model refuses a negativePrompt that it does not support." },
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
    fault! { "generations.vault-of-its-own" ["GE-22"] whole(QUEUE, |mut request, upstream| async move {
        if request.json().get("vaultId").is_none() {
            let new = request.another_with(Method::POST, "/vaults", &json!({ "name": "Output" }));
            let made = upstream.send(&new).await;
            if made.is_success() {
                request.edit(|body| default(body, "vaultId", made.id()));
            }
        }
        upstream.send(&request).await
    }),
        "Without vaultId the output goes to a vault that is made for it." },
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
    fault! { "generations.prompt-of-any-kind" ["GE-08"] taken_as(QUEUE, "prompt", written),
        "A prompt that is no string is written as one." },
    fault! { "generations.negative-of-any-kind" ["GE-13"]
        taken_as(QUEUE, "negativePrompt", written),
        "A negativePrompt that is no string is written as one." },
    fault! { "generations.batch-text" ["GE-19"] taken_as(QUEUE, "batchCount", from_digits),
        "batchCount may be a string of digits." },
    fault! { "generations.refusal-queued" ["GE-26"] answers(QUEUE, |request, response| {
        if response.code() == 502 {
            *response = Response::data(
                202,
                &json!({
                    "success": true,
                    "clientJobId": request.text("clientJobId"),
                    "providerRequestId": "none",
                    "statusUrl": "http://127.0.0.1/none",
                }),
            );
        }
    }),
        "What the provider refuses is answered 202." },
    fault! { "uploads.type-in-a-list" ["UP-02"]
        taken_as(SLOT, "contentType", |kind| Some(kind.as_array()?.first()?.clone())),
        "A contentType may be a list with the type in it." },
    fault! { "uploads.size-as-float" ["UP-03"] value_refused(SLOT, "size", Value::is_f64),
        "A size of 68.0 is refused." },
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

fn written(value: &Value) -> Option<Value> {
    (!value.is_string() && !value.is_null()).then(|| value.to_string().into())
}
