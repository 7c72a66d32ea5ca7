//! Every limit of the API has its place in the document, and stands there.

use std::collections::BTreeSet;

use promptarium::limits as l;
use serde_json::{Value, json};

use super::described;
use super::walk::{followed, operation};

/// A limit, the schema that it bounds, the keyword, and the value.
type Limit = (&'static str, Value, &'static str, Value);

/// The schema of a parameter.
fn parameter(document: &Value, id: &str, name: &str) -> Value {
    let operation = operation(document, id);
    let parameters = operation.parameters(document);
    let found = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
    found["schema"].clone()
}

/// The schema of a field in a body.
fn field(document: &Value, id: &str, name: &str) -> Value {
    let operation = operation(document, id);
    let schema = &operation.value["requestBody"]["content"]["application/json"]["schema"];
    followed(document, schema)["properties"][name].clone()
}

/// The schema of a field in a shared schema.
fn shared(document: &Value, schema: &str, name: &str) -> Value {
    document["components"]["schemas"][schema]["properties"][name].clone()
}

fn limits(document: &Value) -> Vec<Limit> {
    let mut all = Vec::new();
    let mut both = |name, schema: &Value, keywords: [&'static str; 2], from: Value, to: Value| {
        all.push((name, schema.clone(), keywords[0], from));
        all.push((name, schema.clone(), keywords[1], to));
    };
    let (chars, numbers) = (["minLength", "maxLength"], ["minimum", "maximum"]);
    let page = parameter(document, "listPrompts", "limit");
    both("PAGE_SIZE", &page, numbers, json!(l::PAGE_SIZE.start()), json!(l::PAGE_SIZE.end()));
    for (name, range, of_prompt) in [
        ("PROMPT_TITLE_CHARS", l::PROMPT_TITLE_CHARS, "title"),
        ("PROMPT_TEXT_CHARS", l::PROMPT_TEXT_CHARS, "prompt"),
    ] {
        for schema in [
            field(document, "createPrompt", of_prompt),
            field(document, "updatePrompt", of_prompt),
            shared(document, "Prompt", of_prompt),
            shared(document, "ListedPrompt", of_prompt),
        ] {
            both(name, &schema, chars, json!(range.start()), json!(range.end()));
        }
    }
    let name = l::VAULT_NAME_CHARS;
    for schema in [
        field(document, "createVault", "name"),
        field(document, "updateVault", "name"),
        shared(document, "Vault", "name"),
    ] {
        both("VAULT_NAME_CHARS", &schema, chars, json!(name.start()), json!(name.end()));
    }
    let added = l::ADDED_PROMPTS;
    let ids = field(document, "addVaultPrompts", "promptIds");
    both("ADDED_PROMPTS", &ids, ["minItems", "maxItems"], json!(added.start()), json!(added.end()));
    let batch = field(document, "createGeneration", "batchCount");
    let count = l::GENERATION_BATCH_COUNT;
    both("GENERATION_BATCH_COUNT", &batch, numbers, json!(count.start()), json!(count.end()));
    let size = l::UPLOAD_SIZE_BYTES;
    for schema in
        [field(document, "createUploadSlot", "size"), shared(document, "UploadSlot", "size")]
    {
        both("UPLOAD_SIZE_BYTES", &schema, numbers, json!(size.start()), json!(size.end()));
    }
    all.extend(single(document));
    all
}

/// Limits of one side, and defaults.
fn single(document: &Value) -> Vec<Limit> {
    let order = |name| field(document, "createGeneration", name);
    let mut all = vec![
        (
            "PAGE_SIZE_DEFAULT",
            parameter(document, "listPrompts", "limit"),
            "default",
            json!(l::PAGE_SIZE_DEFAULT),
        ),
        (
            "GENERATION_PROMPT_CHARS_MAX",
            order("prompt"),
            "maxLength",
            json!(l::GENERATION_PROMPT_CHARS_MAX),
        ),
        (
            "GENERATION_NEGATIVE_PROMPT_CHARS_MAX",
            order("negativePrompt"),
            "maxLength",
            json!(l::GENERATION_NEGATIVE_PROMPT_CHARS_MAX),
        ),
        (
            "GENERATION_IMAGE_INPUTS_MAX",
            order("imageInputs"),
            "maxItems",
            json!(l::GENERATION_IMAGE_INPUTS_MAX),
        ),
        (
            "GENERATION_REFERENCE_IMAGE_URLS_MAX",
            order("referenceImageUrls"),
            "maxItems",
            json!(l::GENERATION_REFERENCE_IMAGE_URLS_MAX),
        ),
        (
            "GENERATION_BATCH_COUNT_DEFAULT",
            order("batchCount"),
            "default",
            json!(l::GENERATION_BATCH_COUNT_DEFAULT),
        ),
        (
            "GENERATION_ASPECT_RATIO_DEFAULT",
            order("aspectRatio"),
            "default",
            json!(l::GENERATION_ASPECT_RATIO_DEFAULT),
        ),
        (
            "UPLOAD_SLOT_LIFETIME_SECONDS",
            shared(document, "UploadSlot", "expiresIn"),
            "const",
            json!(l::UPLOAD_SLOT_LIFETIME_SECONDS),
        ),
    ];
    all.extend(of_create_and_update(document));
    all
}

/// Limits of one side that stand at create and update alike.
fn of_create_and_update(document: &Value) -> Vec<Limit> {
    let mut all = Vec::new();
    for (name, of_generation, most) in [
        ("CLIENT_JOB_ID_CHARS", "clientJobId", *l::CLIENT_JOB_ID_CHARS.end()),
        ("GENERATION_MODEL_ID_CHARS", "modelId", *l::GENERATION_MODEL_ID_CHARS.end()),
        ("GENERATION_MODEL_ID_CHARS", "imageEditEndpointId", *l::GENERATION_MODEL_ID_CHARS.end()),
        ("GENERATION_ASPECT_RATIO_CHARS_MAX", "aspectRatio", l::GENERATION_ASPECT_RATIO_CHARS_MAX),
    ] {
        let schema = field(document, "createGeneration", of_generation);
        all.push((name, schema, "maxLength", json!(most)));
    }
    for id in ["createPrompt", "updatePrompt"] {
        all.push((
            "PROMPT_ASPECT_RATIO_CHARS_MAX",
            field(document, id, "aspectRatio"),
            "maxLength",
            json!(l::PROMPT_ASPECT_RATIO_CHARS_MAX),
        ));
        all.push((
            "PROMPT_REFERENCE_MEDIA_URLS_MAX",
            field(document, id, "referenceMediaUrls"),
            "maxItems",
            json!(l::PROMPT_REFERENCE_MEDIA_URLS_MAX),
        ));
    }
    for schema in [
        field(document, "createVault", "description"),
        field(document, "updateVault", "description"),
        shared(document, "Vault", "description"),
    ] {
        let most = json!(l::VAULT_DESCRIPTION_CHARS_MAX);
        all.push(("VAULT_DESCRIPTION_CHARS_MAX", schema, "maxLength", most));
    }
    all
}

#[test]
fn every_limit_stands_where_it_belongs() {
    let document = described();
    for (name, schema, keyword, value) in limits(&document) {
        assert_eq!(schema[keyword], value, "{name}: {keyword} of {schema}");
    }
}

#[test]
fn no_limit_is_forgotten() {
    let source = include_str!("../../../../sdk/src/limits.rs");
    let names =
        source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    let document = described();
    let placed: BTreeSet<_> = limits(&document).iter().map(|(name, ..)| *name).collect();
    // No keyword of JSON Schema expresses these.
    let others = [
        "GENERATION_IMAGE_URL_CHARS_MAX",
        "GENERATION_PARAMETERS_BYTES_MAX",
        "GENERATION_PARAMETERS_DEPTH_MAX",
    ];
    assert_eq!(placed.into_iter().chain(others).collect::<BTreeSet<_>>(), names.collect());
}
