//! Second faults of rules: each shows in one place only, such as lists, later pages, one kind of
//! prompt or a second request.

use super::isolation::forbidden;
use super::keys::{as_main, token};
use crate::keys::MAIN;
use crate::prelude::*;

const QUEUE: &str = "POST /generations";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "narrow.description-null-as-text" ["VA-25"]
        taken_as("PATCH /vaults/*", "description", |text| text.is_null().then(|| "null".into())),
        "A description of null becomes the text null." },
    fault! { "narrow.version-in-capitals" ["VE-01"]
        asks("* /api/V1/**", |request| request.path = request.path.replacen("/V1", "/v1", 1)),
        "The API answers under /api/V1 too." },
    fault! { "narrow.list-from-second" ["PG-05"] answers("GET /prompts", |request, response| {
        if request.parameter("limit").is_some() && request.parameter("cursor").is_none() {
            response.edit_data(|data| if let Some(found) = data.as_array_mut() {
                found.drain(..found.len().min(1));
            });
        }
    }),
        "Without a cursor a list with a limit starts at its second entry." },
    fault! { "narrow.page-of-one-ends" ["PG-07"] answers("GET /prompts", |request, response| {
        if request.parameter("cursor").is_some() {
            response.edit(|body| if body["data"].as_array().is_some_and(|found| found.len() == 1) {
                body["pagination"]["nextCursor"] = Value::Null;
            });
        }
    }),
        "A later page of one entry has no nextCursor." },
    fault! { "narrow.status-listed-as-number" ["PR-05"]
        edits_each("GET /prompts", |prompt| prompt["status"] = 1.into()),
        "The status is a number in lists." },
    fault! { "narrow.list-without-images" ["PR-06"]
        edits_each("GET /prompts", |prompt| without(prompt, "images")),
        "Prompts have no images in lists." },
    fault! { "narrow.image-without-date" ["PR-07"]
        edits_each("GET /prompts/*, GET /vaults/*/prompts", |prompt| {
            let images = list_of(prompt, "images").into_iter().flatten();
            images.for_each(|image| without(image, "createdAt"));
        }),
        "An image has no createdAt." },
    fault! { "narrow.update-shows-references" ["PR-12"]
        edits_data("PATCH /prompts/*", |prompt| prompt["referenceMediaUrls"] = json!([])),
        "The answer of an update has referenceMediaUrls." },
    fault! { "narrow.default-not-shown" ["PR-21"] answers("POST /prompts", |request, response| {
        if request.json().get("promptType").is_none() {
            response.edit_data(|prompt| prompt["promptType"] = Value::Null);
        }
    }),
        "A prompt that is created without a promptType is shown without one." },
    fault! { "narrow.references-set-once" ["PR-39"] references_set_once(),
        "The referenceMediaUrls of a prompt can be replaced once only." },
    fault! { "narrow.files-deleted-too" ["PR-43"] files_deleted_too(),
        "The images of a deleted prompt are not at their addresses any more." },
    fault! { "narrow.saved-into-texts" ["PR-45"] edits_data("POST /prompts/*/save", |prompt| {
        let vaults = list_of(prompt, "vaultIds").into_iter().flatten();
        vaults.for_each(|id| *id = id.to_string().into());
    }),
        "The vaultIds in the answer of save are strings." },
    fault! { "narrow.updated-is-system" ["VA-09"]
        edits_data("PATCH /vaults/*", |vault| vault["isSystem"] = true.into()),
        "A vault that was updated is a system vault in the answer." },
    fault! { "narrow.described-200" ["VA-16"] answers("POST /vaults", |request, response| {
        if response.code() == 201 && request.json()["description"].is_string() {
            response.set_code(200);
        }
    }),
        "A vault with a description is created with 200." },
    fault! { "narrow.generation-into-vault-200" ["GE-01"] answers(QUEUE, |request, response| {
        if response.code() == 202 && request.json()["vaultId"].is_i64() {
            response.set_code(200);
        }
    }),
        "A generation into a named vault is answered 200." },
    fault! { "narrow.answer-with-preview" ["GE-06"]
        edits_data(QUEUE, |data| data["preview"] = "data:image/png;base64,iVBORw0KGgo=".into()),
        "The answer has a preview as a data URI." },
    fault! { "narrow.vault-required" ["GE-22"] instead(QUEUE, |request| {
        let body = request.json();
        let missing = body.is_object() && body.get("vaultId").is_none();
        missing.then(|| Response::refusal(400, "vaultId is required"))
    }),
        "A generation without vaultId is refused." },
    fault! { "narrow.refusal-503" ["GE-26"] answers(QUEUE, |_, response| {
        if response.code() == 502 {
            *response = Response::refusal(503, "The provider does not take the request.");
        }
    }),
        "What the provider refuses is answered 503." },
    fault! { "narrow.output-after-status" ["GE-27"] output_after_status(),
        "The output is in the vault only once the status was asked for." },
    fault! { "narrow.queued-again" ["GE-28"] queued_again(),
        "A completed job is queued again when its request is repeated." },
    fault! { "narrow.output-listed-late" ["GE-32"] output_listed_late(),
        "The first listing of the vault of a completed job is without the output." },
    fault! { "narrow.key-with-test" ["KE-01"] edits_data("POST /api-keys", |data| {
        let key = data["key"].as_str().unwrap_or_default().replacen("_live_", "_test_", 1);
        data["key"] = key.into();
    }),
        "A new key has test in place of live." },
    fault! { "narrow.key-without-vendor" ["KE-02"] asks("* /**", |request| {
        if MAIN.strip_prefix("promptarium_").is_some_and(|rest| token(request) == rest) {
            as_main(request);
        }
    }),
        "A key is taken without its vendor." },
    fault! { "narrow.saved-as-member" ["PR-11"]
        edits_data("POST /prompts/*/save", |prompt| prompt["vaultPromptId"] = 1.into()),
        "The answer of save has a vaultPromptId." },
    fault! { "narrow.change-to-video-without-model" ["PR-36"] edits("PATCH /prompts/*", |body| {
        if body["promptType"] == "video" {
            default(body, "modelId", "local/plasma-video");
        }
    }),
        "A text prompt without modelId becomes a video prompt." },
    fault! { "narrow.move-answers-no-member" ["VC-19"]
        edits_data("POST /vaults/*/prompts/*/move", |data| {
            let id = data["vaultPromptId"].as_i64().unwrap_or_default();
            data["vaultPromptId"] = (id + (1 << 40)).into();
        }),
        "The vaultPromptId that a move answers with is no membership." },
    fault! { "narrow.cursor-in-a-list" ["EN-07"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_string() {
            body["pagination"]["nextCursor"] = json!([body["pagination"]["nextCursor"]]);
        }
    }),
        "nextCursor is a list of one cursor." },
    fault! { "narrow.no-pagination" ["PG-01"]
        edits_answer("GET /prompts", |body| without(body, "pagination")),
        "A list of prompts has no pagination." },
    fault! { "narrow.move-forbidden" ["VC-23"] forbidden("POST /vaults/*/prompts/*/move", "vaults"),
        "A move out of another account's vault is answered 403." },
    fault! { "narrow.second-page-ends" ["PG-07"] answers("GET /prompts", |request, response| {
        if request.parameter("cursor").is_some() && response.is_success() {
            response.edit(|body| body["pagination"]["nextCursor"] = Value::Null);
        }
    }),
        "The second page is the last." },
    fault! { "narrow.model-shown" ["PR-12"]
        edits_data("POST /prompts", |prompt| prompt["modelId"] = "local/plasma".into()),
        "A create shows a modelId." },
    fault! { "narrow.saved-nowhere" ["PR-45"]
        edits_data("POST /prompts/*/save", |prompt| prompt["vaultIds"] = json!([])),
        "The answer of save has no vaultIds." },
    fault! { "narrow.moves-prompt-0" ["VC-18"]
        edits_data("POST /vaults/*/prompts/*/move", |data| data["promptId"] = 0.into()),
        "A move answers with the prompt 0." },
    fault! { "narrow.vault-by-default" ["GE-22"] defaulted(QUEUE, "vaultId", i64::MAX),
        "A generation without vaultId is for a vault that is not there." },
    fault! { "narrow.refusal-500" ["GE-26"] code_instead(QUEUE, 502, 500, |_| true),
        "What the provider refuses is answered 500." },
    fault! { "narrow.id-without-dashes" ["GE-12"] answers(QUEUE, |request, response| {
        if request.text("clientJobId").is_none() {
            response.edit_data(|data| {
                let id = data["clientJobId"].as_str().unwrap_or_default().replace('-', "");
                data["clientJobId"] = id.into();
            });
        }
    }),
        "An id that was made has no dashes." },
    fault! { "narrow.status-elsewhere" ["GE-05"]
        edits_data(QUEUE, |data| data["statusUrl"] = "http://127.0.0.1:9/status".into()),
        "statusUrl leads elsewhere." },
    fault! { "narrow.answer-with-images" ["GE-06"]
        edits_data(QUEUE, |data| data["images"] = json!(["data:image/png;base64,iVBORw0KGgo="])),
        "The answer has images as data URIs." },
    fault! { "narrow.negative-502" ["GE-14"]
        refused(QUEUE, 502, |request| request.text("negativePrompt").is_some()),
        "A model that knows no negativePrompt answers 502." },
    fault! { "narrow.output-not-listed" ["GE-27"] edits_entries("GET /vaults/*/prompts", |found| {
        found.retain(|one| one["images"] == json!([]));
    }),
        "The output of a job is not listed in its vault." },
    fault! { "narrow.key-in-capitals" ["KE-01"] edits_data("POST /api-keys", |data| {
        data["key"] = data["key"].as_str().unwrap_or_default().to_uppercase().into();
    }),
        "A new key is in capitals." },
    fault! { "narrow.references-fewer" ["PR-39"]
        value_refused("PATCH /prompts/*", "referenceMediaUrls", |list| {
            list.as_array().is_some_and(|list| list.len() > 9)
        }),
        "An update takes nine referenceMediaUrls at most." },
];

fn references_set_once() -> Intercept {
    let replaced = Shared::<HashSet<String>>::default();
    instead("PATCH /prompts/*", move |request| {
        let sets = request.json()["referenceMediaUrls"].is_array();
        let again = sets && !replaced.with(|replaced| replaced.insert(request.path.clone()));
        again.then(|| Response::refusal(400, "referenceMediaUrls were replaced before"))
    })
}

fn files_deleted_too() -> Intercept {
    let deleted = Shared::<Vec<String>>::default();
    whole("DELETE /prompts/*, GET /assets/**", move |request, upstream| {
        let deleted = deleted.clone();
        async move {
            if request.method == Method::GET {
                let is_deleted =
                    deleted.with(|urls| urls.iter().any(|url| url.ends_with(&request.path)));
                return match is_deleted {
                    true => Response::refusal(404, "no such asset"),
                    false => upstream.send(&request).await,
                };
            }
            let prompt =
                upstream.send(&request.another(Method::GET, request.path.clone())).await.json();
            let response = upstream.send(&request).await;
            let images = prompt["data"]["images"].as_array().into_iter().flatten();
            let urls = images.filter_map(|image| Some(image["url"].as_str()?.to_owned()));
            deleted.with(|deleted| deleted.extend(urls.filter(|_| response.is_success())));
            response
        }
    })
}

fn output_after_status() -> Intercept {
    answers_with(
        "GET /generations/*/status, GET /vaults/*/prompts",
        move |asked: &mut HashSet<i64>, request, response| {
            if request.segment(0) == "generations" {
                asked.extend(response.json()["data"]["vaultId"].as_i64());
            } else if !asked.contains(&request.id(1)) {
                response.edit_data(|data| {
                    if let Some(found) = data.as_array_mut() {
                        found.retain(|one| one["images"] == json!([]));
                    }
                });
            }
        },
    )
}

fn queued_again() -> Intercept {
    answers_with(
        "POST /generations, GET /generations/*/status",
        move |requests: &mut HashMap<String, usize>, request, response| {
            if let Some(id) = request.text("clientJobId") {
                *requests.entry(id).or_default() += 1;
            } else if requests.get(request.segment(1)).is_some_and(|count| *count > 1) {
                response.edit_data(|job| job["status"] = "queued".into());
            }
        },
    )
}

fn output_listed_late() -> Intercept {
    // The outputs of jobs that were seen completed, and whether they are to be listed.
    answers_with(
        "GET /generations/*/status, GET /vaults/*/prompts",
        move |outputs: &mut HashMap<i64, bool>, request, response| {
            if request.segment(0) == "generations" {
                if let Some(id) = response.json()["data"]["promptId"].as_i64() {
                    outputs.entry(id).or_insert(false);
                }
                return;
            }
            response.edit_data(|data| {
                let is_listed = |one: &Value| {
                    let id = one["id"].as_i64().unwrap_or_default();
                    outputs.get_mut(&id).is_none_or(|is_listed| std::mem::replace(is_listed, true))
                };
                if let Some(found) = data.as_array_mut() {
                    found.retain(is_listed);
                }
            });
        },
    )
}
