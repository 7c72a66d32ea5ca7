//! Second faults of rules: each shows in one place only, such as lists, later pages, one kind of
//! prompt or a second request.

use super::keys::{as_main, token};
use crate::keys::MAIN;
use crate::prelude::*;

const QUEUE: &str = "POST /generations";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "narrow.description-null-as-text" ["VA-25"]
        taken_as("PATCH /vaults/*", "description", |text| text.is_null().then(|| "null".into())) },
    fault! { "narrow.version-in-capitals" ["VE-01"]
        asks("* /api/V1/**", |request| request.path = request.path.replacen("/V1", "/v1", 1)) },
    // Without a cursor a list with a limit starts at its second entry.
    fault! { "narrow.list-from-second" ["PG-05"] answers("GET /prompts", |request, response| {
        if request.parameter("limit").is_some() && request.parameter("cursor").is_none() {
            response.edit_data(|data| if let Some(found) = data.as_array_mut() {
                found.drain(..found.len().min(1));
            });
        }
    }) },
    // A later page of one entry has no nextCursor.
    fault! { "narrow.page-of-one-ends" ["PG-07"] answers("GET /prompts", |request, response| {
        if request.parameter("cursor").is_some() {
            response.edit(|body| if body["data"].as_array().is_some_and(|found| found.len() == 1) {
                body["pagination"]["nextCursor"] = Value::Null;
            });
        }
    }) },
    fault! { "narrow.list-without-images" ["PR-06"]
        edits_each("GET /prompts", |prompt| without(prompt, "images")) },
    // An image has no createdAt.
    fault! { "narrow.image-without-date" ["PR-07"]
        edits_each("GET /prompts/*, GET /vaults/*/prompts", |prompt| {
            let images = list_of(prompt, "images").into_iter().flatten();
            images.for_each(|image| without(image, "createdAt"));
        }) },
    fault! { "narrow.update-shows-references" ["PR-12"]
        edits_data("PATCH /prompts/*", |prompt| prompt["referenceMediaUrls"] = json!([])) },
    // A prompt that is created without a promptType is shown without one.
    fault! { "narrow.default-not-shown" ["PR-21"] answers("POST /prompts", |request, response| {
        if request.json().get("promptType").is_none() {
            response.edit_data(|prompt| prompt["promptType"] = Value::Null);
        }
    }) },
    fault! { in "prompts.urls." "narrow.references-short" ["PR-39"]
        value_refused("PATCH /prompts/*", "referenceMediaUrls", |list| list.to_string().len() > 300) },
    fault! { in "generations.images.kept" "narrow.files-deleted-too" ["PR-43"]
        files_go_with_prompts() },
    // The vaultIds in the answer of save are strings.
    fault! { "narrow.saved-into-texts" ["PR-45"] edits_data("POST /prompts/*/save", |prompt| {
        let vaults = list_of(prompt, "vaultIds").into_iter().flatten();
        vaults.for_each(|id| *id = id.to_string().into());
    }) },
    fault! { "narrow.updated-is-system" ["VA-09"]
        edits_data("PATCH /vaults/*", |vault| vault["isSystem"] = true.into()) },
    // A vault with a description is created with 200.
    fault! { "narrow.described-200" ["VA-16"] answers("POST /vaults", |request, response| {
        if response.code() == 201 && request.json()["description"].is_string() {
            response.set_code(200);
        }
    }) },
    fault! { "narrow.answer-with-preview" ["GE-06"]
        edits_data(QUEUE, |data| data["preview"] = "data:image/png;base64,iVBORw0KGgo=".into()) },
    // A generation without vaultId is refused.
    fault! { "narrow.vault-required" ["GE-22"] instead(QUEUE, |request| {
        let body = request.json();
        let missing = body.is_object() && body.get("vaultId").is_none();
        missing.then(|| Response::refusal(400, "vaultId is required"))
    }) },
    // What the provider refuses is answered 503.
    fault! { "narrow.refusal-503" ["GE-26"] answers(QUEUE, |_, response| {
        if response.code() == 502 {
            *response = Response::refusal(503, "The provider does not take the request.");
        }
    }) },
    // Outputs are listed only once a status was asked for.
    fault! { in "generations.output.by-itself" "narrow.output-after-status" ["GE-27"]
        answers_with("GET /generations/*/status, GET /vaults/*/prompts",
            |asked: &mut bool, request, response| {
                *asked |= request.segment(0) == "generations";
                if !*asked {
                    entries(response, |found| found.retain(|one| one["images"] == json!([])));
                }
            }) },
    // A job is queued again when its request is repeated.
    fault! { in "generations.again." "narrow.queued-again" ["GE-28"]
        answers_with("POST /generations, GET /generations/*/status",
            |requests: &mut usize, request, response| {
                *requests += usize::from(request.method == Method::POST);
                if *requests > 1 {
                    response.edit_data(|job| job["status"] = "queued".into());
                }
            }) },
    // A key is taken without its vendor.
    fault! { "narrow.key-without-vendor" ["KE-02"] asks("* /**", |request| {
        if MAIN.strip_prefix("promptarium_").is_some_and(|rest| token(request) == rest) {
            as_main(request);
        }
    }) },
    fault! { "narrow.saved-as-member" ["PR-11"]
        edits_data("POST /prompts/*/save", |prompt| prompt["vaultPromptId"] = 1.into()) },
    // A text prompt without modelId becomes a video prompt.
    fault! { "narrow.change-to-video-without-model" ["PR-36"] edits("PATCH /prompts/*", |body| {
        if body["promptType"] == "video" {
            default(body, "modelId", "local/plasma-video");
        }
    }) },
    // The vaultPromptId that a move answers with is no membership.
    fault! { "narrow.move-answers-no-member" ["VC-19"]
        edits_data("POST /vaults/*/prompts/*/move", |data| {
            let id = data["vaultPromptId"].as_i64().unwrap_or_default();
            data["vaultPromptId"] = (id + (1 << 40)).into();
        }) },
    // nextCursor is a list of one cursor.
    fault! { "narrow.cursor-in-a-list" ["EN-07"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_string() {
            body["pagination"]["nextCursor"] = json!([body["pagination"]["nextCursor"]]);
        }
    }) },
    fault! { "narrow.no-pagination" ["PG-01"]
        edits_answer("GET /prompts", |body| without(body, "pagination")) },
    // The second page is the last.
    fault! { "narrow.second-page-ends" ["PG-07"] answers("GET /prompts", |request, response| {
        if request.parameter("cursor").is_some() && response.is_success() {
            response.edit(|body| body["pagination"]["nextCursor"] = Value::Null);
        }
    }) },
    fault! { "narrow.model-shown" ["PR-12"]
        edits_data("POST /prompts", |prompt| prompt["modelId"] = "local/plasma".into()) },
    fault! { "narrow.saved-nowhere" ["PR-45"]
        edits_data("POST /prompts/*/save", |prompt| prompt["vaultIds"] = json!([])) },
    fault! { "narrow.moves-prompt-0" ["VC-18"]
        edits_data("POST /vaults/*/prompts/*/move", |data| data["promptId"] = 0.into()) },
    fault! { "narrow.vault-by-default" ["GE-22"] defaulted(QUEUE, "vaultId", i64::MAX) },
    fault! { "narrow.refusal-500" ["GE-26"] code_instead(QUEUE, 502, 500, |_| true) },
    // An id that was made has no dashes.
    fault! { "narrow.id-without-dashes" ["GE-12"] answers(QUEUE, |request, response| {
        if request.text("clientJobId").is_none() {
            response.edit_data(|data| {
                let id = data["clientJobId"].as_str().unwrap_or_default().replace('-', "");
                data["clientJobId"] = id.into();
            });
        }
    }) },
    fault! { "narrow.status-elsewhere" ["GE-05"]
        edits_data(QUEUE, |data| data["statusUrl"] = "http://127.0.0.1:9/status".into()) },
    fault! { "narrow.answer-with-images" ["GE-06"]
        edits_data(QUEUE, |data| data["images"] = json!(["data:image/png;base64,iVBORw0KGgo="])) },
    fault! { "narrow.negative-502" ["GE-14"]
        refused(QUEUE, 502, |request| request.text("negativePrompt").is_some()) },
    // The output of a job is not listed in its vault.
    fault! { "narrow.output-not-listed" ["GE-27"] edits_entries("GET /vaults/*/prompts", |found| {
        found.retain(|one| one["images"] == json!([]));
    }) },
    // A new key is in capitals.
    fault! { "narrow.key-in-capitals" ["KE-01"] edits_data("POST /api-keys", |data| {
        data["key"] = data["key"].as_str().unwrap_or_default().to_uppercase().into();
    }) },
    // An update takes nine referenceMediaUrls at most.
    fault! { "narrow.references-fewer" ["PR-39"]
        value_refused("PATCH /prompts/*", "referenceMediaUrls", |list| {
            list.as_array().is_some_and(|list| list.len() > 9)
        }) },
];

/// No file is at its address once a prompt was deleted.
pub(super) fn files_go_with_prompts() -> Intercept {
    answers_with("DELETE /prompts/*, GET /assets/**", |gone: &mut bool, request, response| {
        if *gone && request.method == Method::GET {
            *response = Response::refusal(404, "no such asset");
        }
        *gone |= request.method == Method::DELETE;
    })
}
