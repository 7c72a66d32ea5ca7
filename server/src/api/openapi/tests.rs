//! The document agrees with the routes, the statuses, the request fields and the limits, and is
//! valid by itself. `script/schemathesis` checks it against OpenAPI 3.1 too.

mod generators;

use std::collections::{BTreeMap, BTreeSet};

use promptarium::limits as l;
use serde_json::{Value, json};

use super::document;
use crate::api::{Route, files, generations, keys as api_keys, prompts, vaults, webhooks};
use crate::domain::{Media, ModelNamespace, OutputKind, PromptKind, PublicUrl, VaultVisibility};
use crate::http::auth::Access;
use crate::http::body::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use crate::serve::routes;

/// The routes that the document describes.
fn described() -> Vec<Route> {
    [routes::table(), webhooks::table()].concat()
}

fn original() -> Value {
    document(None, &ModelNamespace::new("local").unwrap())
}

/// The document with every reference replaced by its target. A target does not contain itself: the
/// Python generator would recurse or drop the operation.
fn resolved() -> Value {
    resolve(&original(), &original(), &[])
}

fn resolve(document: &Value, value: &Value, open: &[&str]) -> Value {
    let mut all = serde_json::Map::new();
    if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
        assert!(!open.contains(&reference), "{reference} in {open:?}");
        let target = document.pointer(&reference[1..]).expect(reference);
        let target = resolve(document, target, &[open, &[reference]].concat());
        all = target.as_object().unwrap().clone();
    }
    let fields = entries(value).filter(|(name, _)| *name != "$ref");
    all.extend(fields.map(|(name, one)| (name.to_owned(), resolve(document, one, open))));
    match value {
        Value::Object(_) => Value::Object(all),
        Value::Array(values) => values.iter().map(|one| resolve(document, one, open)).collect(),
        _ => value.clone(),
    }
}

/// Each operation by its id, with method and path.
fn operations(document: &Value) -> BTreeMap<&str, (&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let methods = |(path, item)| entries(item).map(move |(method, one)| (method, path, one));
    let all = paths.flat_map(|(path, item)| methods((path.as_str(), item)));
    all.map(|one| (one.2["operationId"].as_str().unwrap(), one)).collect()
}

fn entries(object: &Value) -> impl Iterator<Item = (&str, &Value)> {
    object.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

fn keys(object: &Value) -> BTreeSet<&str> {
    entries(object).map(|(key, _)| key).collect()
}

/// Name and schema of each field of the JSON body and of each parameter in this place.
fn fields<'a>(operation: &'a Value, place: &str) -> Vec<(&'a str, &'a Value)> {
    let body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.filter(|parameter| parameter["in"] == place);
    let parameters = parameters.map(|one| (one["name"].as_str().unwrap(), &one["schema"]));
    parameters.chain(entries(body).filter(|_| place == "query")).collect()
}

/// The schema of `operationId.field` or `SchemaName.field`.
fn schema_of<'a>(document: &'a Value, place: &str) -> &'a Value {
    let (owner, name) = place.split_once('.').unwrap();
    match operations(document).get(owner) {
        Some((.., one)) => fields(one, "query").iter().find(|field| field.0 == name).unwrap().1,
        None => &document["components"]["schemas"][owner]["properties"][name],
    }
}

#[test]
fn routes_and_operations_are_the_same() {
    let document = resolved();
    let operations = operations(&document).into_iter().map(|(id, (method, path, one))| {
        let access = format!("{} {}", one["security"], one["x-scopes"]);
        (id.to_owned(), method.to_uppercase(), path.to_owned(), access)
    });
    let routes = described().into_iter().map(|row| {
        let (security, scopes) = match row.access {
            Access::None => (json!([]), Value::Null),
            Access::Key => (json!([{ "apiKey": [] }]), Value::Null),
            Access::Write => (json!([{ "apiKey": [] }]), json!(["prompts:write"])),
            Access::Session => (json!([{ "browserSession": [] }]), Value::Null),
            Access::WriteOrSession => {
                (json!([{ "apiKey": [] }, { "browserSession": [] }]), json!(["prompts:write"]))
            }
            Access::UploadToken => (json!([{ "uploadToken": [] }]), Value::Null),
        };
        let access = format!("{security} {scopes}");
        (row.name.to_owned(), row.method.to_string(), row.template(), access)
    });
    assert_eq!(operations.collect::<BTreeSet<_>>(), routes.collect());
}

/// Of responses that no scenario of the conformance suite brings about. Its tests hold all others
/// against the document, both ways.
#[test]
fn operations_have_the_responses_to_overload_and_faults() {
    let document = resolved();
    let operations = operations(&document);
    for row in described() {
        let one = operations[row.name].2;
        let has_body = one.get("requestBody").is_some();
        let has_store = !matches!(row.name, "health" | "openapi");
        for (status, is_expected, headers) in [
            ("408", has_body, &["x-request-id"][..]),
            ("429", row.access != Access::None, &["Retry-After", "x-request-id"]),
            ("500", true, &["x-request-id"]),
            ("503", has_store, &["Retry-After", "x-request-id"]),
        ] {
            let response = one["responses"].get(status);
            assert_eq!(response.is_some(), is_expected, "{} {status}", row.name);
            let described = response.map(|response| keys(&response["headers"]));
            let headers = is_expected.then(|| headers.iter().copied().collect());
            assert_eq!(described, headers, "{} {status}", row.name);
        }
    }
}

#[test]
fn requests_have_the_fields_that_the_handlers_take() {
    let mut taken: BTreeMap<_, &[&str]> = BTreeMap::from([
        ("createPrompt", prompts::FIELDS),
        ("updatePrompt", prompts::FIELDS),
        ("savePrompt", prompts::SAVE_FIELDS),
        ("createVault", vaults::FIELDS),
        ("updateVault", vaults::FIELDS),
        ("addVaultPrompts", vaults::ADD_FIELDS),
        ("moveVaultPrompt", vaults::MOVE_FIELDS),
        ("createGeneration", generations::FIELDS),
        ("createUploadSlot", files::FIELDS),
        ("createApiKey", api_keys::FIELDS),
        ("createWebhook", &webhooks::FIELDS[..3]),
        ("updateWebhook", webhooks::FIELDS),
        ("listWebhookDeliveries", webhooks::QUERY),
        ("listPrompts", crate::search::LIST_QUERY),
        ("putUpload", &["slot"]),
    ]);
    let document = resolved();
    for (id, (_, path, one)) in operations(&document) {
        let names = |place| fields(one, place).into_iter().map(|(name, _)| name);
        let taken = taken.remove(id).unwrap_or_default().iter().copied().collect();
        assert_eq!(names("query").collect::<BTreeSet<_>>(), taken, "{id}");
        let in_path = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        assert!(names("path").eq(in_path), "{id}");
    }
    assert!(taken.is_empty(), "not described: {taken:?}");
}

#[test]
fn enumerations_have_the_words_that_the_handlers_take() {
    fn words<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
        table.iter().map(|(word, _)| *word).collect()
    }
    let (outputs, images) = (words(OutputKind::ALL), words(files::TYPES));
    let document = resolved();
    for (places, words) in [
        (
            "listPrompts.type createPrompt.promptType updatePrompt.promptType",
            words(PromptKind::ALL),
        ),
        ("Prompt.promptType ListedPrompt.promptType", words(PromptKind::ALL)),
        ("createVault.visibility updateVault.visibility", words(VaultVisibility::ALL)),
        ("Vault.visibility", words(VaultVisibility::ALL)),
        ("createGeneration.generationType GenerationStatus.generationType", outputs),
        ("createUploadSlot.contentType UploadSlot.contentType", images),
    ] {
        for place in places.split(' ') {
            assert_eq!(schema_of(&document, place)["enum"], json!(words), "{place}");
        }
    }
    let scopes = &document["components"]["schemas"]["Scopes"]["items"]["enum"];
    assert_eq!(*scopes, json!(words(api_keys::SCOPES)));
    let bytes = vec![files::BYTES_TYPE];
    let files = [&bytes[..], &Media::ALL.map(Media::content_type)].concat();
    for (place, types) in [
        ("/paths/~1storage~1{name}/put/requestBody/content", bytes.clone()),
        ("/paths/~1assets~1{name}/get/responses/200/content", files.clone()),
        ("/paths/~1assets~1{name}/get/responses/206/content", files),
    ] {
        assert_eq!(keys(document.pointer(place).unwrap()), types.into_iter().collect(), "{place}");
    }
    let name = format!(r"^[0-9a-v]{{26}}\.({})$", Media::ALL.map(Media::extension).join("|"));
    assert_eq!(document["components"]["schemas"]["AssetName"]["pattern"], name);
}

macro_rules! limits {
    ($($constant:ident, $keywords:literal, $field:literal, $owners:literal;)*) => {
        [$((stringify!($constant), $keywords, $field, $owners, json!(l::$constant))),*]
    };
}

/// Each limit of a request is in `checked`. Ids have limits of their own, and so have strings that must
/// not be empty.
fn only_known_limits(document: &Value, checked: &BTreeSet<String>) {
    for (id, (.., one)) in operations(document) {
        for (name, schema) in fields(one, "query") {
            for keyword in "minLength maxLength minItems maxItems minimum maximum".split(' ') {
                let place = format!("{keyword} of {id}.{name}");
                let is_non_empty = keyword == "minLength" && schema[keyword] == 1;
                let is_known = schema["format"] == "int64" || checked.contains(&place);
                assert!(schema.get(keyword).is_none() || is_known || is_non_empty, "{place}");
            }
        }
    }
}

/// Both ways: each constant is in the document, and each limit of a request is a constant.
#[test]
fn limits_are_those_of_the_sdk() {
    let rows = limits! {
        PAGE_SIZE, "minimum maximum", "limit", "listPrompts";
        PAGE_SIZE_DEFAULT, "default", "limit", "listPrompts";
        PROMPT_SEARCH_CHARS_MAX, "maxLength", "q", "listPrompts";
        PROMPT_TITLE_CHARS, "minLength maxLength", "title",
            "createPrompt updatePrompt Prompt ListedPrompt";
        PROMPT_TEXT_CHARS, "minLength maxLength", "prompt",
            "createPrompt updatePrompt Prompt ListedPrompt";
        PROMPT_ASPECT_RATIO_CHARS_MAX, "maxLength", "aspectRatio", "createPrompt updatePrompt";
        PROMPT_REFERENCE_MEDIA_URLS_MAX, "maxItems", "referenceMediaUrls",
            "createPrompt updatePrompt";
        PROMPT_PLATFORM_CHARS_MAX, "maxLength", "platform",
            "createPrompt updatePrompt Prompt ListedPrompt";
        PAGE_SIZE, "minimum maximum", "limit", "listWebhookDeliveries";
        URL_CHARS_MAX, "maxLength", "url", "createWebhook updateWebhook";
        WEBHOOK_DESCRIPTION_CHARS_MAX, "maxLength", "description", "createWebhook updateWebhook";
        MODEL_ID_CHARS_MAX, "maxLength", "modelId", "createPrompt updatePrompt";
        URL_CHARS_MAX, "maxLength", "imageUrl", "createPrompt updatePrompt";
        URL_CHARS_MAX, "maxLength", "imageInput", "createGeneration";
        CLIENT_JOB_ID_CHARS, "minLength maxLength", "clientJobId", "createGeneration";
        GENERATION_MODEL_ID_CHARS, "minLength maxLength", "modelId", "createGeneration";
        GENERATION_MODEL_ID_CHARS, "minLength maxLength", "imageEditEndpointId", "createGeneration";
        GENERATION_ASPECT_RATIO_CHARS_MAX, "maxLength", "aspectRatio", "createGeneration";
        VAULT_NAME_CHARS, "minLength maxLength", "name", "createVault updateVault Vault";
        API_KEY_NAME_CHARS, "minLength maxLength", "name", "createApiKey";
        VAULT_DESCRIPTION_CHARS_MAX, "maxLength", "description", "createVault updateVault Vault";
        ADDED_PROMPTS, "minItems maxItems", "promptIds", "addVaultPrompts";
        GENERATION_PROMPT_CHARS_MAX, "maxLength", "prompt", "createGeneration";
        GENERATION_NEGATIVE_PROMPT_CHARS_MAX, "maxLength", "negativePrompt", "createGeneration";
        GENERATION_IMAGE_INPUTS_MAX, "maxItems", "imageInputs", "createGeneration";
        GENERATION_REFERENCE_IMAGE_URLS_MAX, "maxItems", "referenceImageUrls", "createGeneration";
        GENERATION_BATCH_COUNT, "minimum maximum", "batchCount", "createGeneration";
        GENERATION_BATCH_COUNT_DEFAULT, "x-default", "batchCount", "createGeneration";
        GENERATION_ASPECT_RATIO_DEFAULT, "x-default", "aspectRatio", "createGeneration";
        UPLOAD_SIZE_BYTES, "minimum maximum", "size", "createUploadSlot UploadSlot";
        UPLOAD_SLOT_LIFETIME_SECONDS, "const", "expiresIn", "UploadSlot";
    };
    let document = resolved();
    let mut checked = BTreeSet::new();
    for (constant, keywords, field, owners, value) in &rows {
        for place in owners.split(' ').map(|owner| format!("{owner}.{field}")) {
            for keyword in keywords.split(' ') {
                let end = if keyword.starts_with("min") { "start" } else { "end" };
                let limit = &schema_of(&document, &place)[keyword];
                assert_eq!(
                    limit,
                    value.get(end).unwrap_or(value),
                    "{constant}: {keyword} of {place}"
                );
                checked.insert(format!("{keyword} of {place}"));
            }
        }
    }
    only_known_limits(&document, &checked);
    let source = include_str!("../../../../sdk/src/limits.rs");
    let names =
        source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    // JSON Schema has no keyword for these; the description of `parameters` states them.
    let described = [
        ("GENERATION_PARAMETERS_BYTES_MAX", l::GENERATION_PARAMETERS_BYTES_MAX),
        ("GENERATION_PARAMETERS_DEPTH_MAX", l::GENERATION_PARAMETERS_DEPTH_MAX),
        ("GENERATION_PARAMETERS_VALUES_MAX", l::GENERATION_PARAMETERS_VALUES_MAX),
    ];
    let parameters = schema_of(&document, "createGeneration.parameters")["description"].to_string();
    for (constant, limit) in described {
        assert!(parameters.contains(&format!(" {limit} ")), "{constant}");
    }
    let all = rows.iter().map(|row| row.0).chain(described.map(|row| row.0));
    assert_eq!(all.collect::<BTreeSet<_>>(), names.collect());
}

#[test]
fn limits_of_entries_responses_and_bodies_are_those_of_the_code() {
    let document = resolved();
    let data = |name: &str| {
        let response = &document["components"]["responses"][name];
        &response["content"]["application/json"]["schema"]["properties"]["data"]
    };
    assert_eq!(data("PromptPage")["maxItems"], json!(l::PAGE_SIZE.end()));
    let added = &data("AddedPrompts")["properties"]["added"]["maximum"];
    assert_eq!(*added, json!(l::ADDED_PROMPTS.end()));
    let places = "createPrompt.referenceMediaUrls updatePrompt.referenceMediaUrls \
                  createGeneration.imageInputs createGeneration.referenceImageUrls";
    for place in places.split(' ') {
        let limit = &schema_of(&document, place)["items"]["maxLength"];
        assert_eq!(*limit, json!(l::URL_CHARS_MAX), "{place}");
    }
    for (name, text) in [
        ("ContentTooLarge", format!("more than {BODY_BYTES_MAX} bytes")),
        ("RequestTimeout", format!("within {BODY_SECONDS_MAX} seconds")),
    ] {
        let response = &document["components"]["responses"][name];
        assert!(response["description"].as_str().unwrap().contains(&text), "{name}");
    }
}

/// Calls `check` with every value below this one and its JSON pointer.
fn each<'a>(value: &'a Value, place: &str, check: &mut impl FnMut(&str, &'a Value)) {
    check(place, value);
    for (name, value) in entries(value) {
        let name = name.replace('~', "~0").replace('/', "~1");
        each(value, &format!("{place}/{name}"), check);
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        each(value, &format!("{place}/{at}"), check);
    }
}

/// Whether a value matches a schema of the document.
fn is_valid(document: &Value, schema: &Value, value: &Value) -> bool {
    let mut root = close(schema);
    root["components"] = close(&document["components"]);
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    options.should_validate_formats(true).build(&root).unwrap().is_valid(value)
}

/// Forbids fields that a schema does not name, so that a misspelt field is found.
fn close(schema: &Value) -> Value {
    let mut closed = match schema {
        Value::Object(_) => entries(schema).map(|(name, one)| (name, close(one))).collect(),
        Value::Array(entries) => entries.iter().map(close).collect(),
        _ => schema.clone(),
    };
    if closed["type"] == "object" && closed.get("properties").is_some() {
        let fields = closed.as_object_mut().unwrap();
        fields.entry("additionalProperties").or_insert(json!(false));
    }
    closed
}

/// JSON Schema allows unknown keywords, so that a misspelt one would be ignored.
const KEYWORDS: &str = "$ref type format pattern const enum not minLength maxLength minimum maximum \
    items minItems maxItems uniqueItems properties required additionalProperties maxProperties \
    anyOf if then default x-default x-enum-varnames examples description";

#[test]
fn schemas_examples_and_defaults_are_valid() {
    let (document, mut schemas, mut examples) = (original(), 0, 0);
    each(&document, "", &mut |place, value| {
        let parts: Vec<_> = place.rsplit('/').take(2).collect();
        if matches!(parts[..], [_, "properties" | "schemas"] | ["schema" | "items", _]) {
            schemas += 1;
            let error = jsonschema::draft202012::meta::validate(value).err();
            assert!(error.is_none(), "{place}: {error:?}");
            for key in keys(value) {
                assert!(KEYWORDS.split(' ').any(|keyword| keyword == key), "{place}: {key}");
            }
        }
        if place.ends_with("/application~1json") {
            examples += 1;
            assert!(is_valid(&document, &value["schema"], &value["example"]), "{place}");
        }
        let listed = value["examples"].as_array().into_iter().flatten();
        let defaults = ["default", "x-default"].into_iter().filter_map(|name| value.get(name));
        for example in listed.chain(defaults) {
            examples += 1;
            assert!(is_valid(&document, value, example), "{place}: {example}");
        }
    });
    assert!(schemas > 150 && examples > 50, "{schemas} {examples}");
}

#[test]
fn responses_require_all_their_fields() {
    let document = resolved();
    for (id, (.., one)) in operations(&document) {
        each(&one["responses"], "", &mut |place, value| {
            let Some(fields) = value.get("properties") else { return };
            let required = value["required"].as_array().into_iter().flatten();
            let required: BTreeSet<_> = required.filter_map(Value::as_str).collect();
            assert_eq!(required, keys(fields), "{id}: {place}");
        });
    }
}

#[test]
fn components_and_tags_are_used() {
    let document = original();
    let (mut used, mut tags) = (BTreeSet::new(), BTreeSet::new());
    each(&document, "", &mut |_, value| {
        used.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    for (.., one) in operations(&document).into_values() {
        let schemes = one["security"].as_array().unwrap().iter().flat_map(keys);
        used.extend(schemes.map(|name| format!("#/components/securitySchemes/{name}")));
        tags.insert(one["tags"].to_string());
    }
    let all = entries(&document["components"]).flat_map(|(kind, all)| {
        entries(all).map(move |(name, _)| format!("#/components/{kind}/{name}"))
    });
    assert_eq!(used, all.collect());
    let declared = document["tags"].as_array().unwrap().iter().map(|tag| json!([tag["name"]]));
    assert_eq!(tags, declared.map(|tag| tag.to_string()).collect());
}

#[test]
fn the_url_and_the_prefix_of_models_are_replaced() {
    let public = PublicUrl::parse("https://prompts.example/behind/").unwrap();
    let document = document(Some(&public), &ModelNamespace::new("a.b").unwrap());
    assert_eq!(document["servers"], json!([{ "url": "https://prompts.example/behind" }]));
    assert_eq!(original()["servers"], json!([{ "url": "/" }]));
    let schema = &document["components"]["schemas"]["CreatePromptRequest"];
    for (more, valid) in [
        (json!({ "promptType": "text" }), true),
        (json!({ "promptType": "image" }), false),
        (json!({ "promptType": "video", "modelId": "a.b/c" }), true),
        (json!({ "modelId": "a.b/c/d\n" }), true),
        (json!({ "modelId": "a.b/" }), false),
        (json!({ "modelId": "axb/c" }), false),
        (json!({ "modelId": "a.b/\nc" }), false),
    ] {
        let mut body = json!({ "title": "t", "prompt": "p" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(is_valid(&document, schema, &body), valid, "{body}");
    }
}
