//! `/prompts` and what is below it.

use promptarium::limits;
use serde_json::{Value, json};

use super::Named;
use super::operation::{Answer, Operation};
use super::schema::{self, Fields, of, or_null, with};
use crate::api::prompts::KINDS;

const TAG: &str = "Prompts";

/// What the id of a prompt leads to.
const OF_ONE: [&str; 4] = ["getPrompt", "updatePrompt", "deletePrompt", "savePrompt"];

/// The operations, for models of this namespace.
pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![
        ("listPrompts", list()),
        ("createPrompt", create()),
        ("getPrompt", get()),
        ("updatePrompt", update()),
        ("deletePrompt", delete()),
        ("savePrompt", save()),
    ]
}

fn list() -> Operation {
    Operation::new(
        TAG,
        "List prompts",
        "A page of the caller's prompts, newest first (PG-01 to PG-09, PR-13 to PR-18, S-01). \
         Parameters that are not known are ignored; a known one that is repeated or empty is \
         refused (S-03).",
    )
    .query(
        "limit",
        &with(schema::integer(&limits::PAGE_SIZE), json!({ "default": limits::PAGE_SIZE_DEFAULT })),
        "The most entries of the page (PG-02 to PG-04, LI-01).",
    )
    .query(
        "cursor",
        &schema::some_text(),
        "The `nextCursor` of the previous page, with the same `vaultId` and `type`; any other \
         text is refused (PG-05, PG-06, PG-09, S-02).",
    )
    .query(
        "vaultId",
        &of("VaultId"),
        "Only prompts in this vault (PR-15, PR-17). One that the caller does not have is refused \
         (S-57).",
    )
    .query("type", &kind(), "Only prompts of this type (PR-16, PR-18).")
    .answer(page())
}

fn page() -> Answer {
    let pagination = Fields::new()
        .must(
            "nextCursor",
            or_null(json!({ "type": "string" })),
            "The `cursor` of the next page; `null` on the last one (PG-07, PG-08).",
        )
        .object();
    let envelope = Fields::new()
        .must(
            "data",
            schema::list_of(0..=*limits::PAGE_SIZE.end() as usize, &of("Prompt")),
            "The page (EN-05).",
        )
        .must("error", json!({ "type": "null" }), "EN-04")
        .must("pagination", pagination, "EN-07")
        .object();
    let example = json!({
        "data": [example()],
        "error": null,
        "pagination": { "nextCursor": null },
    });
    Answer::new(200, "The page.")
        .content("application/json", &envelope, &example)
        .leads_to(&["listPrompts"], &[("cursor", "$response.body#/pagination/nextCursor")])
        .leads_to(&OF_ONE, &[("promptId", "$response.body#/data/0/id")])
}

fn create() -> Operation {
    Operation::new(
        TAG,
        "Create a prompt",
        "PR-19 to PR-29. A `modelId` is needed where `promptType` is `image` or `video` (PR-24). \
         Fields that are not known are ignored (S-67). A `vaultId` that the caller does not have \
         is refused (S-57).",
    )
    .json(&of("NewPrompt"), &input_example())
    .answer(shown(201, "The prompt as it was created."))
}

fn get() -> Operation {
    Operation::new(TAG, "Read a prompt", "PR-30.").answer(shown(200, "The prompt."))
}

fn update() -> Operation {
    Operation::new(
        TAG,
        "Change a prompt",
        "What is left out stays as it is (PR-31 to PR-39). A change of `promptType` to `image` or \
         `video` is refused while the prompt has no `modelId` and the request brings none \
         (PR-36); so is a `vaultId` that the caller does not have (S-57).",
    )
    .json(&of("PromptChange"), &json!({ "title": "Harbour at dusk", "platform": null }))
    .answer(shown(200, "The whole prompt as it is now."))
}

fn delete() -> Operation {
    let deleted = Fields::new()
        .must("id", of("PromptId"), "The prompt that is gone.")
        .must("deleted", schema::only(true), "PR-40")
        .object();
    Operation::new(TAG, "Delete a prompt", "It cannot be undone (PR-40 to PR-43).").answer(
        Answer::new(200, "The prompt is gone.")
            .data(&deleted, &json!({ "id": 17, "deleted": true })),
    )
}

fn save() -> Operation {
    let body = Fields::new()
        .must("vaultId", of("VaultId"), "The further vault, one of the caller's (PR-47, S-57).")
        .object();
    Operation::new(
        TAG,
        "Save a prompt to a further vault",
        "It stays in every vault it is in (PR-44 to PR-47). Again is no fault (S-26).",
    )
    .json(&body, &json!({ "vaultId": 3 }))
    .answer(
        shown(200, "The prompt as it is now.")
            .leads_to(&["listVaultPrompts"], &[("vaultId", "$response.body#/data/vaultIds/0")]),
    )
}

fn shown(status: u16, means: &'static str) -> Answer {
    Answer::new(status, means)
        .data(&of("Prompt"), &example())
        .leads_to(&OF_ONE, &[("promptId", "$response.body#/data/id")])
}

/// The schemas that are shared, for models of this namespace.
pub(super) fn schemas(model_namespace: &str) -> Vec<Named<Value>> {
    let new = inputs(model_namespace)
        .must("title", schema::text(limits::PROMPT_TITLE_CHARS), "PR-20, LI-02")
        .must("prompt", schema::text(limits::PROMPT_TEXT_CHARS), "PR-20, LI-03")
        .may("promptType", with(kind(), json!({ "default": "text" })), "PR-21, PR-22");
    let change = inputs(model_namespace)
        .may("title", schema::text(limits::PROMPT_TITLE_CHARS), "PR-33, LI-02")
        .may("prompt", schema::text(limits::PROMPT_TEXT_CHARS), "PR-33, LI-03")
        .may("promptType", kind(), "PR-33, PR-36, PR-37");
    let needs_model = json!({
        "if": {
            "properties": { "promptType": { "enum": ["image", "video"] } },
            "required": ["promptType"],
        },
        "then": { "required": ["modelId"] },
    });
    vec![
        ("Prompt", fields().object()),
        ("PromptImage", image()),
        ("NewPrompt", with(new.object(), needs_model)),
        ("PromptChange", change.object()),
    ]
}

/// What every prompt shows (PR-01 to PR-12).
pub(super) fn fields() -> Fields {
    Fields::new()
        .must("id", of("PromptId"), "PR-01")
        .must("title", schema::text(limits::PROMPT_TITLE_CHARS), "PR-02")
        .must("prompt", schema::text(limits::PROMPT_TEXT_CHARS), "PR-02")
        .must("promptType", kind(), "PR-03")
        .must("platform", or_null(schema::string()), "PR-04, S-09")
        .must("status", schema::only("active"), "PR-05, S-04")
        .must("images", schema::list(&of("PromptImage")), "PR-06, S-06")
        .must("vaultIds", schema::list(&of("VaultId")), "Every vault it is in (PR-08, S-07).")
        .must("createdAt", schema::time(), "PR-09")
        .must("updatedAt", schema::time(), "PR-09, PR-10, S-08")
}

/// The fields that create and update take alike (PR-12, PR-34).
fn inputs(model_namespace: &str) -> Fields {
    let references = 0..=limits::PROMPT_REFERENCE_MEDIA_URLS_MAX;
    Fields::new()
        .may("platform", or_null(schema::string()), "PR-23, PR-33, S-09")
        .may("modelId", model_id(model_namespace), "PR-24, PR-25, S-12")
        .may("aspectRatio", schema::text(0..=limits::PROMPT_ASPECT_RATIO_CHARS_MAX), "PR-26, LI-04")
        .may("vaultId", of("VaultId"), "PR-27, PR-38, S-57")
        .may("imageUrl", schema::url(), "PR-28, S-11")
        .may("referenceMediaUrls", schema::list_of(references, &schema::url()), "PR-29, LI-05")
}

/// The rule is `^<model_namespace>/.+`, where `.` takes no line break (PR-25).
fn model_id(namespace: &str) -> Value {
    let namespace = namespace.replace('.', r"\.");
    let pattern = format!(r"^{namespace}/[^\n\r\u2028\u2029\u0000][^\u0000]*$");
    json!({ "type": "string", "pattern": pattern })
}

fn image() -> Value {
    Fields::new()
        .must("url", schema::url(), "Where the file is, for good (PR-07).")
        .must("width", schema::count(), "In pixels (PR-07).")
        .must("height", schema::count(), "In pixels (PR-07).")
        .must("createdAt", schema::time(), "PR-07")
        .object()
}

fn kind() -> Value {
    schema::word(KINDS)
}

fn input_example() -> Value {
    json!({
        "title": "Harbour",
        "prompt": "A harbour at dawn, seen from the sea",
        "promptType": "text",
        "platform": "sketchbook",
        "aspectRatio": "16:9",
        "imageUrl": "https://images.example/harbour.png",
        "referenceMediaUrls": ["https://images.example/dawn.jpg"],
    })
}

pub(super) fn example() -> Value {
    json!({
        "id": 17,
        "title": "Harbour",
        "prompt": "A harbour at dawn, seen from the sea",
        "promptType": "text",
        "platform": "sketchbook",
        "status": "active",
        "images": [{
            "url": "https://prompts.example/assets/0123456789abcdefghijklmno0.png",
            "width": 1024,
            "height": 576,
            "createdAt": "2025-03-01T09:31:12.250000Z",
        }],
        "vaultIds": [3],
        "createdAt": "2025-03-01T09:30:00.000000Z",
        "updatedAt": "2025-03-01T09:30:00.000000Z",
    })
}
