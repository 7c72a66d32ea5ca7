//! Faults for scenarios that are generated from tables: what is wrong is so for many fields,
//! requests or ids at once.

use std::collections::HashSet;

use http::Method;
use serde_json::{Value, json};

use super::isolation::forbidden;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, instead};
use crate::keys::READ_ONLY;
use crate::shared::Shared;

const WRITES: &str = "POST /**, PATCH /**";
const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
const VAULTS: &str = "POST /vaults, PATCH /vaults/*";
/// All fields of all bodies.
const FIELDS: &str = "title prompt promptType platform modelId aspectRatio vaultId imageUrl \
    referenceMediaUrls name description visibility promptIds targetVaultId generationType \
    clientJobId negativePrompt imageInput imageInputs batchCount parameters referenceImageUrls \
    imageEditEndpointId contentType size fileName scopes";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "tables.unknown-field" ["EN-02"]
        refused(WRITES, |body| body.as_object().is_some_and(|body| body.keys().any(is_unknown))),
        "A field that the API does not know is refused." },
    fault! { "tables.wrong-field-422" ["ER-05"] status(WRITES, 400, 422, Value::is_object),
        "A body with a wrong field is answered 422." },
    fault! { "tables.out-of-bounds-422" ["ER-06"] status(WRITES, 400, 422, |body| {
        let mut values = body.as_object().into_iter().flat_map(serde_json::Map::values);
        values.any(|value| value == "" || value.is_array() || value.is_number())
    }),
        "A body with an empty text, a number or a list that is refused is answered 422." },
    fault! { "tables.null-platform" ["PR-23"]
        refused("POST /prompts", |body| body.get("platform").is_some_and(Value::is_null)),
        "A create refuses the platform null." },
    fault! { "tables.null-description" ["VA-18"]
        refused("POST /vaults", |body| body.get("description").is_some_and(Value::is_null)),
        "A new vault may not have the description null." },
    fault! { "tables.one-letter-name" ["LI-06"]
        refused(VAULTS, |body| body["name"].as_str().is_some_and(is_one_letter)),
        "The name of a vault has at least two characters." },
    fault! { "tables.new-vault-listed" ["VA-19"]
        refused("POST /vaults", |body| body["visibility"] == "unlisted"),
        "A vault cannot be created unlisted." },
    fault! { "tables.one-letter-title" ["LI-02"]
        refused(PROMPTS, |body| body["title"].as_str().is_some_and(is_one_letter)),
        "A title has at least two characters." },
    fault! { "tables.one-letter-prompt" ["LI-03"]
        refused(PROMPTS, |body| body["prompt"].as_str().is_some_and(is_one_letter)),
        "A prompt's text has at least two characters." },
    fault! { "tables.batch-of-one" ["LI-13"]
        refused("POST /generations", |body| body["batchCount"] == 1),
        "The least batchCount is 2." },
    fault! { "tables.empty-parameters" ["GE-20"]
        refused("POST /generations", |body| body["parameters"] == json!({})),
        "Parameters without an entry are refused." },
    fault! { "tables.list-of-videos" ["PR-16"] instead("GET /prompts", |ask| {
        (ask.parameter("type") == Some("video")).then(|| Response::refusal(400, "type"))
    }),
        "The list has no type video." },
    fault! { "tables.list-of-no-vault" ["PR-15"] answers("GET /prompts", |ask, answer| {
        if answer.code() == 400 && ask.parameter("vaultId").is_some() {
            answer.set_code(500);
        }
    }),
        "The list of a vault that is not there is a server error." },
    fault! { "tables.save-into-nothing" ["PR-44"] status("POST /prompts/*/save", 400, 500, |_| true),
        "A save into a vault that is not there is a server error." },
    fault! { "tables.absent-500" ["ER-08"] status("* /prompts/**, * /vaults/**", 404, 500, |_| true),
        "What is not there is a server error." },
    fault! { "tables.deleted-410" ["ER-09"] deleted_410(),
        "What is below a deleted prompt or vault is answered 410." },
    fault! { "tables.no-scope-403" ["AU-07"] answers("* /**", |ask, answer| {
        if answer.code() == 401 && ask.authorization().ends_with(READ_ONLY) {
            answer.set_code(403);
        }
    }),
        "A key without the scope is answered 403." },
    fault! { "tables.pin-of-nothing" ["VC-25"]
        status("POST /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "A pin of a membership that is not there is a server error." },
    fault! { "tables.unpin-of-nothing" ["VC-26"]
        status("DELETE /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "An unpin of a membership that is not there is a server error." },
    fault! { "tables.move-of-nothing" ["VC-20"]
        status("POST /vaults/*/prompts/*/move", 404, 500, |_| true),
        "A move of a membership that is not there is a server error." },
    fault! { "tables.removal-of-nothing" ["VC-15"]
        status("DELETE /vaults/*/prompts/*", 404, 500, |_| true),
        "A removal of a membership that is not there is a server error." },
    fault! { "tables.save-forbidden" ["ER-10"] forbidden("POST /prompts/*/save", "prompts"),
        "A save of another account's prompt is answered 403." },
    fault! { "tables.contents-forbidden" ["ER-10"]
        forbidden("POST /vaults/*/prompts, DELETE /vaults/*/prompts/*/pin", "vaults"),
        "Adding to another account's vault, or unpinning there, is answered 403." },
];

fn is_one_letter(text: &str) -> bool {
    text.chars().count() == 1
}

fn is_unknown(field: &String) -> bool {
    !FIELDS.split_whitespace().any(|known| known == field)
}

/// Requests with such a JSON body are refused with 400.
fn refused(routes: &'static str, wrong: fn(&Value) -> bool) -> Intercept {
    instead(routes, move |ask: &Request| {
        let refusal = || Response::refusal(400, "The body is not accepted.");
        (ask.of_api && wrong(&ask.json())).then(refusal)
    })
}

fn deleted_410() -> Intercept {
    let deleted: Shared<HashSet<String>> = Shared::default();
    answers("* /prompts/**, * /vaults/**", move |ask, answer| {
        if ask.method == Method::DELETE && answer.is_success() {
            deleted.with(|deleted| deleted.insert(ask.path.clone()));
        } else if answer.code() == 404 {
            let below =
                |path: &String| ask.path == *path || ask.path.starts_with(&format!("{path}/"));
            if deleted.with(|deleted| deleted.iter().any(below)) {
                answer.set_code(410);
            }
        }
    })
}

/// One status in place of another for requests with such a JSON body.
fn status(routes: &'static str, from: u16, to: u16, wrong: fn(&Value) -> bool) -> Intercept {
    answers(routes, move |ask, answer| {
        if ask.of_api && answer.code() == from && wrong(&ask.json()) {
            answer.set_code(to);
        }
    })
}
