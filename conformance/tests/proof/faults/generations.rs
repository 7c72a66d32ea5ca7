//! Faults in generations (GE, LI-09 to LI-13): what a body may be, the answers, and what comes of a
//! job.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::faults::uploads::in_storage;
use crate::prelude::*;

const QUEUE: &str = "POST /generations";
const STATUS: &str = "GET /generations/*/status";
const SHOWN: &str = "GET /prompts/*, GET /prompts, GET /vaults/*/prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "generations.negative-refused" ["GE-14"]
        text_is_refused(QUEUE, "negativePrompt", |_| true) },
    fault! { "generations.prompt-bytes" ["LI-09"] text_refused(QUEUE, "prompt", 100_000, bytes) },
    fault! { "generations.video-by-default" ["GE-09"] defaulted(QUEUE, "generationType", "video") },
    fault! { "generations.references-refused" ["GE-23"]
        value_refused(QUEUE, "referenceImageUrls", |list| list == &json!([])) },
    fault! { "generations.image-refused" ["GE-15"]
        text_is_refused(QUEUE, "imageInput", |url| url.contains("/assets/")) },
    // The parameter seed does not reach the provider.
    fault! { "generations.parameters-kept" ["GE-20"] edits(QUEUE, |body| {
        if let Some(parameters) = body.get_mut("parameters") {
            without(parameters, "seed");
        }
    }) },
    fault! { "generations.ratio-default" ["GE-17"] defaulted(QUEUE, "aspectRatio", "16:9") },
    fault! { "generations.ratio-ignored" ["GE-18"]
        ignored_if(QUEUE, "aspectRatio", Value::is_string) },
    fault! { "generations.edit-ignored" ["GE-24"]
        ignored_if(QUEUE, "imageEditEndpointId", Value::is_string) },
    fault! { "generations.batch-default" ["GE-19"] defaulted(QUEUE, "batchCount", 2) },
    fault! { "generations.vault-ignored" ["GE-21"] ignored_if(QUEUE, "vaultId", Value::is_i64) },
    fault! { "generations.vault-foreign" ["GE-21"] foreign_vault() },
    fault! { "generations.negative-empty" ["GE-13"]
        text_is_refused(QUEUE, "negativePrompt", str::is_empty) },
    fault! { "generations.image-of-the-web" ["GE-15"]
        text_is_refused(QUEUE, "imageInput", |url| !url.starts_with("http")) },
    fault! { "generations.inputs-refused" ["GE-16"]
        value_refused(QUEUE, "imageInputs", |list| list == &json!([])) },
    fault! { "generations.ratio-default-named" ["GE-17"]
        text_is_refused(QUEUE, "aspectRatio", |ratio| ratio == "1:1") },
    fault! { "generations.upload-url-taken" ["UP-17"] taken_as(QUEUE, "imageInput", in_storage) },
    // Entries of a list that are no URI are passed over.
    fault! { "generations.entry-no-uri" ["GE-25"] edits(QUEUE, |body| {
        for field in ["imageInputs", "referenceImageUrls"] {
            if let Some(entries) = list_of(body, field) {
                entries.retain(|entry| entry.as_str().is_none_or(|text| text.contains(':')));
            }
        }
    }) },
    // Only the first entry of referenceImageUrls is looked at.
    fault! { "generations.first-entry" ["GE-25"] edits(QUEUE, |body| {
        if let Some(entries) = list_of(body, "referenceImageUrls") {
            let mut first = true;
            entries.retain(|entry| std::mem::take(&mut first) || !entry.is_string());
        }
    }) },
    // A job whose output is in the vault never says that it is completed.
    fault! { in "generations.output.said-completed" "generations.never-completed" ["GE-32"]
        edits_data(STATUS, |data| if data["status"] == "completed" {
            data["status"] = "in_progress".into();
        }) },
    // A clientJobId comes back in lower case.
    fault! { "generations.id-changed" ["GE-11"] edits_data(QUEUE, |data| {
        let id = data["clientJobId"].as_str().unwrap_or_default().to_lowercase();
        data["clientJobId"] = id.into();
    }) },
    // An id that was made follows from the body.
    fault! { "generations.id-of-body" ["GE-12"] asks(QUEUE, |request| {
        let mut hash = DefaultHasher::new();
        request.body.hash(&mut hash);
        super_id(request, &format!("7d3f5a10-92c4-4e1b-8a6f-{:012x}", hash.finish() >> 16));
    }) },
    // statusUrl is a path without a host.
    fault! { "generations.status-url-path" ["GE-05"] edits_data(QUEUE, |data| {
        let url = data["statusUrl"].as_str().unwrap_or_default();
        data["statusUrl"] = url.splitn(4, '/').last().map(|path| format!("/{path}")).into();
    }) },
    // The status of an unknown job is 200 and "failed".
    fault! { "generations.status-unknown" ["GE-31"] answers(STATUS, |request, response| {
        if response.code() == 404 {
            let id = request.segment(1);
            *response = Response::data(200, &json!({ "clientJobId": id, "status": "failed" }));
        }
    }) },
    fault! { "generations.id-of-all-accounts" ["GE-11"]
        one_of_a_kind(|_, id| id.to_owned(), |request, _| request.authorization().to_owned()) },
    fault! { "generations.job-fails" ["GE-28"] state_as(&["completed"], "failed") },
    fault! { "generations.job-early" ["GE-32"] state_as(&["queued", "in_progress"], "completed") },
    // The output of a job is in no vault and in no list.
    fault! { "generations.output-loose" ["GE-29"] edits_data(SHOWN, |data| match data {
        Value::Array(found) => found.retain(|one| one["images"] == json!([])),
        one if one["images"] == json!([]) => {}
        one => one["vaultIds"] = json!([]),
    }) },
    fault! { "generations.output-no-images" ["GE-29"] images(Vec::clear) },
    fault! { "generations.batch-short" ["GE-30"] images(|all| all.truncate(all.len().div_ceil(2))) },
    // The outputs of a batch are saved twice.
    fault! { "generations.batch-twice" ["GE-30"] images(|all| if all.len() > 1 {
        all.extend(all.clone());
    }) },
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

/// Gives a generation without an id this one.
fn super_id(request: &mut Request, id: &str) {
    request.edit(|body| default(body, "clientJobId", id));
}

/// Among generations of one kind all that differ from the first are refused.
fn one_of_a_kind(
    kind: fn(&Request, &str) -> String,
    form: fn(&Request, &str) -> String,
) -> Intercept {
    answers_with(QUEUE, move |firsts: &mut HashMap<String, String>, request, response| {
        let Some(id) = request.text("clientJobId").filter(|_| response.is_success()) else {
            return;
        };
        let form = form(request, &id);
        let first = firsts.entry(kind(request, &id)).or_insert(form.clone()).clone();
        if first != form {
            *response = Response::refusal(409, "clientJobId is that of another job");
        }
    })
}

fn state_as(states: &'static [&'static str], shown: &'static str) -> Intercept {
    edits_data(STATUS, move |job| {
        if states.iter().any(|state| job["status"] == *state) {
            job["status"] = shown.into();
        }
    })
}

/// Changes the images of prompts wherever they are shown.
fn images(change: fn(&mut Vec<Value>)) -> Intercept {
    edits_each(SHOWN, move |prompt| {
        if let Some(images) = list_of(prompt, "images") {
            change(images);
        }
    })
}
