//! Faults for scenarios that are generated from tables: what is wrong is so for many fields,
//! requests or ids at once.

use std::collections::HashSet;

use http::Method;
use serde_json::{Value, json};

use super::isolation::forbidden;
use crate::bounds::{text_is_refused, value_refused};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, code_instead, refused};
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
    fault! { "tables.unknown-field" ["EN-02"] refused(WRITES, 400, |request| {
        request.of_api && request.json().as_object().is_some_and(|body| body.keys().any(is_unknown))
    }),
        "A field that the API does not know is refused." },
    fault! { "tables.wrong-field-422" ["ER-05"]
        code_instead(WRITES, 400, 422, |request| request.of_api && request.json().is_object()),
        "A body with a wrong field is answered 422." },
    fault! { "tables.out-of-bounds-422" ["ER-06"] code_instead(WRITES, 400, 422, |request| {
        let body = request.json();
        let mut values = body.as_object().into_iter().flat_map(serde_json::Map::values);
        request.of_api && values.any(|value| value == "" || value.is_array() || value.is_number())
    }),
        "A body with an empty text, a number or a list that is refused is answered 422." },
    fault! { "tables.null-platform" ["PR-23"]
        value_refused("POST /prompts", "platform", Value::is_null),
        "A create refuses the platform null." },
    fault! { "tables.null-description" ["VA-18"]
        value_refused("POST /vaults", "description", Value::is_null),
        "A new vault may not have the description null." },
    fault! { "tables.one-letter-name" ["LI-06"] text_is_refused(VAULTS, "name", is_one_letter),
        "The name of a vault has at least two characters." },
    fault! { "tables.new-vault-listed" ["VA-19"]
        value_refused("POST /vaults", "visibility", |one| one == "unlisted"),
        "A vault cannot be created unlisted." },
    fault! { "tables.one-letter-title" ["LI-02"] text_is_refused(PROMPTS, "title", is_one_letter),
        "A title has at least two characters." },
    fault! { "tables.one-letter-prompt" ["LI-03"] text_is_refused(PROMPTS, "prompt", is_one_letter),
        "A prompt's text has at least two characters." },
    fault! { "tables.batch-of-one" ["LI-13"]
        value_refused("POST /generations", "batchCount", |count| *count == 1),
        "The least batchCount is 2." },
    fault! { "tables.empty-parameters" ["GE-20"]
        value_refused("POST /generations", "parameters", |all| *all == json!({})),
        "Parameters without an entry are refused." },
    fault! { "tables.list-of-videos" ["PR-16"]
        refused("GET /prompts", 400, |request| request.parameter("type") == Some("video")),
        "The list has no type video." },
    fault! { "tables.list-of-no-vault" ["PR-15"] code_instead("GET /prompts", 400, 500, |request| {
        request.parameter("vaultId").is_some()
    }),
        "The list of a vault that is not there is a server error." },
    fault! { "tables.save-into-nothing" ["PR-44"]
        code_instead("POST /prompts/*/save", 400, 500, |_| true),
        "A save into a vault that is not there is a server error." },
    fault! { "tables.absent-500" ["ER-08"]
        code_instead("* /prompts/**, * /vaults/**", 404, 500, |_| true),
        "What is not there is a server error." },
    fault! { "tables.deleted-410" ["ER-09"] deleted_410(),
        "What is below a deleted prompt or vault is answered 410." },
    fault! { "tables.no-scope-403" ["AU-07"]
        code_instead("* /**", 401, 403, |request| request.authorization().ends_with(READ_ONLY)),
        "A key without the scope is answered 403." },
    fault! { "tables.pin-of-nothing" ["VC-25"]
        code_instead("POST /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "A pin of a membership that is not there is a server error." },
    fault! { "tables.unpin-of-nothing" ["VC-26"]
        code_instead("DELETE /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "An unpin of a membership that is not there is a server error." },
    fault! { "tables.move-of-nothing" ["VC-20"]
        code_instead("POST /vaults/*/prompts/*/move", 404, 500, |_| true),
        "A move of a membership that is not there is a server error." },
    fault! { "tables.removal-of-nothing" ["VC-15"]
        code_instead("DELETE /vaults/*/prompts/*", 404, 500, |_| true),
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

fn deleted_410() -> Intercept {
    let deleted: Shared<HashSet<String>> = Shared::default();
    answers("* /prompts/**, * /vaults/**", move |request, response| {
        if request.method == Method::DELETE && response.is_success() {
            deleted.with(|deleted| deleted.insert(request.path.clone()));
        } else if response.code() == 404 {
            let below = |path: &String| {
                request.path == *path || request.path.starts_with(&format!("{path}/"))
            };
            if deleted.with(|deleted| deleted.iter().any(below)) {
                response.set_code(410);
            }
        }
    })
}
