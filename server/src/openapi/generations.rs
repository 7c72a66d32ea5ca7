//! `/generations`: ordering pictures and videos, and asking how far they are.

use promptarium::limits;
use serde_json::{Value, json};

use super::Named;
use super::operation::{Answer, Operation};
use super::refusals::Refusal;
use super::schema::{self, Fields, of, or_null, with};
use crate::api::generations::KINDS;

const TAG: &str = "Generations";

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![("createGeneration", create()), ("generationStatus", status())]
}

fn create() -> Operation {
    let queued = Fields::new()
        .must("success", schema::only(true), "GE-03")
        .must(
            "clientJobId",
            schema::some_text(),
            "The caller's own name, or a new UUID (GE-11, GE-12).",
        )
        .must("providerRequestId", json!({ "type": "string" }), "GE-04")
        .must("statusUrl", schema::url(), "Where to poll (GE-05, GE-31).")
        .object();
    let example = json!({
        "success": true,
        "clientJobId": "poster-1",
        "providerRequestId": "local-5",
        "statusUrl": "https://prompts.example/api/v1/generations/poster-1/status",
    });
    let answer = Answer::new(202, "The job is queued (GE-01, GE-06).")
        .data(&queued, &example)
        .leads_to(&["generationStatus"], &[("clientJobId", "$response.body#/data/clientJobId")]);
    Operation::new(
        TAG,
        "Queue a generation",
        "GE-01 to GE-30. The same `clientJobId` with the same body gives the same job again; with \
         another body it is refused with 400 (S-36). A `vaultId` that the caller does not have is \
         refused with 400 (S-57). Which models, ratios and parameters there are is for the \
         provider to say, and what it refuses at once is 502 (S-38).",
    )
    .json(&of("NewGeneration"), &input_example())
    .refuses(Refusal::Provider)
    .answer(answer)
}

fn status() -> Operation {
    let example = json!({
        "clientJobId": "poster-1",
        "providerRequestId": "local-5",
        "status": "completed",
        "generationType": "image",
        "vaultId": 3,
        "promptId": 18,
        "error": null,
        "createdAt": "2025-03-01T09:30:00.000000Z",
        "updatedAt": "2025-03-01T09:30:04.000000Z",
    });
    let answer = Answer::new(200, "How far it is.")
        .data(&of("GenerationStatus"), &example)
        .leads_to(&["generationStatus"], &[("clientJobId", "$response.body#/data/clientJobId")])
        .leads_to(&["listVaultPrompts"], &[("vaultId", "$response.body#/data/vaultId")]);
    Operation::new(
        TAG,
        "Ask how far a generation is",
        "It can be asked again and again; `completed` and `failed` are final (GE-28, GE-31, GE-32, \
         S-33 to S-35).",
    )
    .answer(answer)
}

/// The schemas that are shared.
pub(super) fn schemas() -> Vec<Named<Value>> {
    let status = Fields::new()
        .must("clientJobId", schema::some_text(), "GE-11")
        .must("providerRequestId", or_null(json!({ "type": "string" })), "GE-04, S-40")
        .must(
            "status",
            json!({ "type": "string", "enum": ["queued", "in_progress", "completed", "failed"] }),
            "GE-28, S-33",
        )
        .must("generationType", schema::word(KINDS), "GE-09")
        .must("vaultId", of("VaultId"), "The vault of the output (GE-21, GE-22, S-41).")
        .must(
            "promptId",
            or_null(of("PromptId")),
            "What holds the output, once there is one (S-34).",
        )
        .must(
            "error",
            or_null(json!({ "type": "string" })),
            "Why it failed, if it did (S-34, S-40).",
        )
        .must("createdAt", schema::time(), "EN-09")
        .must("updatedAt", schema::time(), "EN-09");
    vec![
        ("NewGeneration", new()),
        ("GenerationStatus", status.object()),
        ("JsonObject", json_object()),
        ("Json", any_json()),
    ]
}

fn new() -> Value {
    let urls = |most| schema::list_of(0..=most, &schema::url());
    let batch = json!({ "default": limits::GENERATION_BATCH_COUNT_DEFAULT });
    let ratio = json!({
        "default": limits::GENERATION_ASPECT_RATIO_DEFAULT,
        "examples": ["1:1", "9:16", "16:9", "4:5", "3:2"],
    });
    Fields::new()
        .must(
            "modelId",
            schema::text(limits::GENERATION_MODEL_ID_CHARS),
            "The model at the provider (GE-07, S-38).",
        )
        .must("prompt", schema::text(1..=limits::GENERATION_PROMPT_CHARS_MAX), "GE-08, LI-09, S-37")
        .may(
            "generationType",
            with(schema::word(KINDS), json!({ "default": "image" })),
            "GE-09, GE-10",
        )
        .may("clientJobId", schema::text(limits::CLIENT_JOB_ID_CHARS), "GE-11, GE-12, S-36")
        .may(
            "negativePrompt",
            schema::text(0..=limits::GENERATION_NEGATIVE_PROMPT_CHARS_MAX),
            "GE-13, GE-14, LI-10",
        )
        .may("imageInput", schema::url(), "GE-15, GE-25, S-11")
        .may("imageInputs", urls(limits::GENERATION_IMAGE_INPUTS_MAX), "GE-16, GE-25, LI-11")
        .may(
            "aspectRatio",
            with(schema::text(0..=limits::GENERATION_ASPECT_RATIO_CHARS_MAX), ratio),
            "GE-17, GE-18, S-38",
        )
        .may(
            "batchCount",
            with(schema::integer(&limits::GENERATION_BATCH_COUNT), batch),
            "GE-19, GE-30, LI-13",
        )
        .may("parameters", of("JsonObject"), "Passed through to the provider; at most 262,144 bytes and 64 levels deep (GE-20, S-38).")
        .may("vaultId", of("VaultId"), "Takes the output; General if absent (GE-21, GE-22, S-57).")
        .may(
            "referenceImageUrls",
            urls(limits::GENERATION_REFERENCE_IMAGE_URLS_MAX),
            "GE-23, GE-25, LI-12",
        )
        .may("imageEditEndpointId", schema::text(limits::GENERATION_MODEL_ID_CHARS), "GE-24, S-38")
        .object()
}

/// Objects of any keys. Strings keep to what all strings keep to.
fn json_object() -> Value {
    json!({
        "type": "object",
        "propertyNames": schema::string(),
        "additionalProperties": of("Json"),
    })
}

fn any_json() -> Value {
    json!({
        "anyOf": [
            { "type": ["null", "boolean", "number"] },
            schema::string(),
            schema::list(&of("Json")),
            of("JsonObject"),
        ],
    })
}

fn input_example() -> Value {
    json!({
        "modelId": "local/plasma",
        "prompt": "A harbour at dawn, seen from the sea",
        "generationType": "image",
        "negativePrompt": "people",
        "aspectRatio": limits::GENERATION_ASPECT_RATIO_DEFAULT,
        "batchCount": 2,
        "parameters": { "seed": 7 },
    })
}
