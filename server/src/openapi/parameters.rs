//! The parameters that several operations share: those in paths, and the id of a
//! request.

use serde_json::{Value, json};

use super::schema::{of, some_text, with};

/// Those in a template, in its order.
pub(super) fn of_path(template: &str) -> impl Iterator<Item = Value> {
    let names = template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(reference)
}

/// The id that a request may bring (S-69).
pub(super) fn request_id() -> Value {
    reference("xRequestId")
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

/// All of them, by name.
pub(super) fn shared() -> Value {
    let job = with(some_text(), json!({ "examples": ["poster-1"] }));
    let file = with(of("AssetName"), json!({ "examples": ["0123456789abcdefghijklmno0.png"] }));
    json!({
        "promptId": in_path("promptId", &of("PromptId"), "The prompt (PR-30, S-58)."),
        "vaultId": in_path("vaultId", &of("VaultId"), "The vault (VA-21, S-58)."),
        "vaultPromptId":
            in_path("vaultPromptId", &of("MembershipId"), "The membership (VC-01, S-31, S-58)."),
        "clientJobId": in_path(
            "clientJobId",
            &job,
            "The job, by the name that the caller gave it or got: one percent-encoded segment of \
             the path (GE-05, S-36).",
        ),
        "name": in_path("name", &file, "The name of the file, as in the slot's `url` (UP-06)."),
        "xRequestId": {
            "name": "x-request-id",
            "in": "header",
            "required": false,
            "description": "A name for this request. One of 1 to 128 characters of \
                `A–Z a–z 0–9 . _ -` is taken over; any other is passed over and a new one made \
                (S-69).",
            "schema": { "type": "string" },
        },
    })
}

fn in_path(name: &str, schema: &Value, means: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "description": means, "schema": schema })
}
