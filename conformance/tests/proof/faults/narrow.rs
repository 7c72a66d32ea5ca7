//! Second faults of rules: each shows in one place only, such as lists, later pages, one kind of
//! prompt or a second request.

use std::collections::{HashMap, HashSet};

use http::Method;
use serde_json::{Value, json};

use super::isolation::of_the_other;
use super::keys::{as_main, token};
use crate::bounds::{default, taken_as};
use crate::entries::{list_of, without};
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, asks, edits, edits_data, edits_each, instead, whole};
use crate::keys::{MAIN, READ_ONLY};
use crate::shared::Shared;

const QUEUE: &str = "POST /generations";
const SLOT: &str = "POST /uploads/images";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "narrow.description-null-as-text" ["VA-25"]
        taken_as("PATCH /vaults/*", "description", |text| text.is_null().then(|| "null".into())),
        "A description of null becomes the text null." },
    fault! { "narrow.visibility-listed-in-capitals" ["VA-05"]
        edits_each("GET /vaults", |vault| if vault["visibility"] == "private" {
            vault["visibility"] = "PRIVATE".into();
        }),
        "The visibility of private vaults is PRIVATE in the list." },
    fault! { "narrow.no-scope-slot-403" ["AU-10"] answers(SLOT, |request, response| {
        if response.code() == 401 && token(request) == READ_ONLY {
            response.set_code(403);
        }
    }),
        "An upload slot for a key without the scope is 403." },
    fault! { "narrow.cursor-in-a-list" ["EN-07"] answers("GET /prompts", |request, response| {
        if request.parameter("limit").is_some() {
            response.edit(|body| if body["pagination"]["nextCursor"].is_string() {
                body["pagination"]["nextCursor"] = json!([body["pagination"]["nextCursor"]]);
            });
        }
    }),
        "With a limit nextCursor is a list of one cursor." },
    fault! { "narrow.version-in-capitals" ["VE-01"]
        asks("* /api/V1/**", |request| request.path = request.path.replacen("/V1", "/v1", 1)),
        "The API answers under /api/V1 too." },
    fault! { "narrow.pagination-without-type" ["PG-01"] answers("GET /prompts", |request, response| {
        if request.parameter("type").is_some() {
            response.edit(|body| without(body, "pagination"));
        }
    }),
        "A list of one type has no pagination." },
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
    fault! { "narrow.video-listed-as-image" ["PR-03"]
        edits_each("GET /prompts", |prompt| if prompt["promptType"] == "video" {
            prompt["promptType"] = "image".into();
        }),
        "Prompts for videos are listed as prompts for images." },
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
    fault! { "narrow.saved-as-member" ["PR-11"]
        edits_data("POST /prompts/*/save", |prompt| prompt["vaultPromptId"] = 1.into()),
        "The answer of save has a vaultPromptId." },
    fault! { "narrow.update-shows-references" ["PR-12"]
        edits_data("PATCH /prompts/*", |prompt| prompt["referenceMediaUrls"] = json!([])),
        "The answer of an update has referenceMediaUrls." },
    fault! { "narrow.default-not-shown" ["PR-21"] answers("POST /prompts", |request, response| {
        if request.json().get("promptType").is_none() {
            response.edit_data(|prompt| prompt["promptType"] = Value::Null);
        }
    }),
        "A prompt that is created without a promptType is shown without one." },
    fault! { "narrow.change-to-video-without-model" ["PR-36"] edits("PATCH /prompts/*", |body| {
        if body["promptType"] == "video" {
            default(body, "modelId", "local/plasma-video");
        }
    }),
        "A text prompt without modelId becomes a video prompt." },
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
    fault! { "narrow.null-adds-nothing" ["VC-12"] instead("POST /vaults/*/prompts", |request| {
        let body = request.json();
        (body.is_object() && body["promptIds"].is_null()).then(|| Response::data(201, &json!([])))
    }),
        "promptIds that are missing or null are an empty list, which is accepted." },
    fault! { "narrow.move-answers-no-member" ["VC-19"]
        edits_data("POST /vaults/*/prompts/*/move", |data| {
            let id = data["vaultPromptId"].as_i64().unwrap_or_default();
            data["vaultPromptId"] = (id + (1 << 40)).into();
        }),
        "The vaultPromptId that a move answers with is no membership." },
    fault! { "narrow.move-tells-foreign-vault" ["VC-23"]
        whole("POST /vaults/*/prompts/*/move", |request, upstream| async move {
            let response = upstream.send(&request).await;
            let vault = request.another(Method::GET, format!("/vaults/{}", request.id(1)));
            if response.code() == 404 && upstream.send(&of_the_other(&vault)).await.is_success() {
                return Response::refusal(403, "The vault belongs to another account.");
            }
            response
        }),
        "A move out of another account's vault is answered 403." },
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
    fault! { "narrow.upload-url-null" ["UP-04"] answers(SLOT, |request, response| {
        if request.json()["contentType"] == "image/png" {
            response.edit_data(|slot| slot["uploadUrl"] = json!({ "href": slot["uploadUrl"] }));
        }
    }),
        "The uploadUrl of a PNG is an object." },
    fault! { "narrow.path-in-parts" ["UP-07"] edits_data(SLOT, |slot| {
        let path = slot["path"].as_str().unwrap_or_default();
        slot["path"] = path.split('/').collect::<Vec<_>>().into();
    }),
        "The path of an asset is a list of its parts." },
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
    let asked = Shared::<HashSet<i64>>::default();
    answers("GET /generations/*/status, GET /vaults/*/prompts", move |request, response| {
        if request.segment(0) == "generations" {
            asked.with(|asked| asked.extend(response.json()["data"]["vaultId"].as_i64()));
        } else if !asked.with(|asked| asked.contains(&request.id(1))) {
            response.edit_data(|data| {
                if let Some(found) = data.as_array_mut() {
                    found.retain(|one| one["images"] == json!([]));
                }
            });
        }
    })
}

fn queued_again() -> Intercept {
    let requests = Shared::<HashMap<String, usize>>::default();
    answers("POST /generations, GET /generations/*/status", move |request, response| {
        if let Some(id) = request.text("clientJobId") {
            requests.with(|requests| *requests.entry(id).or_default() += 1);
        } else if requests
            .with(|requests| requests.get(request.segment(1)).is_some_and(|count| *count > 1))
        {
            response.edit_data(|job| job["status"] = "queued".into());
        }
    })
}

fn output_listed_late() -> Intercept {
    // The outputs of jobs that were seen completed, and whether they are to be listed.
    let outputs = Shared::<HashMap<i64, bool>>::default();
    answers("GET /generations/*/status, GET /vaults/*/prompts", move |request, response| {
        outputs.with(|outputs| {
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
        });
    })
}
