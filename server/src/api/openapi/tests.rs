//! The document agrees with the routes, the statuses, the request fields and the limits.

use std::collections::{BTreeMap, BTreeSet};

use promptarium::{Scope, limits as l};
use serde_json::{Value, json};

use super::document;
use crate::api::{generations, memberships, prompts, uploads, vaults};
use crate::domain::{Media, ModelNamespace};
use crate::http::auth::Access;
use crate::http::body::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use crate::serve::routes;

pub(super) fn original() -> Value {
    document(None, &ModelNamespace::new("local").unwrap())
}

/// The document with every reference replaced by its target, except inside the target.
pub(super) fn resolved() -> Value {
    resolve(&original(), &original(), &mut Vec::new())
}

fn resolve(document: &Value, value: &Value, open: &mut Vec<String>) -> Value {
    let each_of = |one, open: &mut Vec<String>| resolve(document, one, open);
    match value {
        Value::Object(fields) => {
            let mut all = serde_json::Map::new();
            let reference = fields.get("$ref").and_then(Value::as_str).map(str::to_owned);
            if let Some(reference) = reference.filter(|reference| !open.contains(reference)) {
                let target = document.pointer(&reference[1..]).expect(&reference);
                open.push(reference);
                all = each_of(target, open).as_object().unwrap().clone();
                open.pop();
            }
            let fields = fields.iter().filter(|(name, _)| *name != "$ref");
            all.extend(fields.map(|(name, value)| (name.clone(), each_of(value, open))));
            Value::Object(all)
        }
        Value::Array(entries) => entries.iter().map(|one| each_of(one, open)).collect(),
        _ => value.clone(),
    }
}

/// Each operation by its id, with method and path.
pub(super) fn operations(document: &Value) -> BTreeMap<&str, (&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let methods = |(path, item)| entries(item).map(move |(method, one)| (method, path, one));
    let all = paths.flat_map(|(path, item)| methods((path.as_str(), item)));
    all.map(|one| (one.2["operationId"].as_str().unwrap(), one)).collect()
}

pub(super) fn entries(object: &Value) -> impl Iterator<Item = (&str, &Value)> {
    object.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

pub(super) fn keys(object: &Value) -> BTreeSet<&str> {
    entries(object).map(|(key, _)| key).collect()
}

/// Name and schema of each field of the JSON body and of each parameter in this place.
fn fields<'a>(operation: &'a Value, place: &str) -> Vec<(&'a str, &'a Value)> {
    let body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
    let parameters = operation["parameters"].as_array().unwrap().iter();
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
        (id.to_owned(), method.to_uppercase(), path.to_owned(), one["security"].to_string())
    });
    let routes = routes::table().into_iter().map(|row| {
        let security = match row.access {
            Access::None => json!([]),
            Access::Key => json!([{ "apiKey": [] }]),
            Access::Write => json!([{ "apiKey": [Scope::PromptsWrite.as_str()] }]),
            Access::Session => json!([{ "browserSession": [] }]),
            Access::UploadToken => json!([{ "uploadToken": [] }]),
        };
        (row.name.to_owned(), row.method.to_string(), row.template(), security.to_string())
    });
    assert_eq!(operations.collect::<BTreeSet<_>>(), routes.collect());
}

/// The headers of an error response, and the schema of its body.
fn error_form(status: &str) -> (BTreeSet<&str>, &'static str) {
    let (header, schema) = match status {
        "400" => (None, "InvalidRequest"),
        "401" => (Some("WWW-Authenticate"), "Failure"),
        "405" => (Some("Allow"), "Failure"),
        "416" => (Some("Content-Range"), "Failure"),
        "503" => (Some("Retry-After"), "Failure"),
        _ => (None, "Failure"),
    };
    (header.into_iter().chain(["x-request-id"]).collect(), schema)
}

/// The conformance tests check that the server sends no other statuses.
#[test]
fn operations_have_the_responses_that_follow_from_their_routes() {
    let document = resolved();
    let operations = operations(&document);
    let schemas = &document["components"]["schemas"];
    for row in routes::table() {
        let one = operations[row.name].2;
        let mut expected = BTreeSet::from(["405", "500"]);
        expected.extend((row.access != Access::None).then_some("401"));
        let has_id = row.path.contains('{') && row.access != Access::UploadToken;
        expected.extend(has_id.then_some("404"));
        let has_body = one.get("requestBody").is_some();
        expected.extend(has_body.then_some(["400", "408", "413", "415"]).into_iter().flatten());
        let others = match row.name {
            "createApiKey" => "",
            "health" => "200",
            "openapi" => "200 304",
            "listPrompts" | "deleteVault" => "200 400 503",
            "createPrompt" | "createVault" | "addVaultPrompts" | "createUploadSlot" => "201 503",
            "forkVault" => "201 400 503",
            "createGeneration" => "202 502 503",
            "getAsset" => "200 206 304 416 503",
            "headAsset" => "200 304 503",
            _ => "200 503",
        };
        expected.extend(others.split_ascii_whitespace());
        assert_eq!(keys(&one["responses"]), expected, "{}", row.name);
        for (status, response) in entries(&one["responses"]) {
            let (headers, schema) = error_form(status);
            let body = response.pointer("/content/application~1json/schema");
            let has_form = match status {
                status if status < "400" => keys(&response["headers"]).contains("x-request-id"),
                _ => {
                    let expected = (row.method != "HEAD").then(|| &schemas[schema]);
                    body == expected && keys(&response["headers"]) == headers
                }
            };
            assert!(has_form, "{} {status}: {response}", row.name);
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
        ("addVaultPrompts", memberships::ADD_FIELDS),
        ("moveVaultPrompt", memberships::MOVE_FIELDS),
        ("createGeneration", generations::FIELDS),
        ("createUploadSlot", uploads::FIELDS),
        ("listPrompts", prompts::QUERY),
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
    let (outputs, images) = (words(generations::KINDS), words(uploads::TYPES));
    let document = resolved();
    for (places, words) in [
        ("listPrompts.type createPrompt.promptType updatePrompt.promptType", words(prompts::KINDS)),
        ("Prompt.promptType ListedPrompt.promptType", words(prompts::KINDS)),
        ("createVault.visibility updateVault.visibility", words(vaults::VISIBILITIES)),
        ("Vault.visibility", words(vaults::VISIBILITIES)),
        ("createGeneration.generationType GenerationStatus.generationType", outputs),
        ("createUploadSlot.contentType UploadSlot.contentType", images.clone()),
    ] {
        for place in places.split(' ') {
            assert_eq!(schema_of(&document, place)["enum"], json!(words), "{place}");
        }
    }
    let files = Media::ALL.map(Media::content_type).to_vec();
    for (place, types) in [
        ("/paths/~1storage~1{name}/put/requestBody/content", images),
        ("/paths/~1assets~1{name}/get/responses/200/content", files.clone()),
        ("/paths/~1assets~1{name}/get/responses/206/content", files),
    ] {
        assert_eq!(keys(document.pointer(place).unwrap()), types.into_iter().collect(), "{place}");
    }
    let name = format!(r"^[0-9a-v]{{26}}\.({})$", Media::ALL.map(Media::extension).join("|"));
    assert_eq!(document["components"]["schemas"]["AssetName"]["pattern"], name);
}

macro_rules! limits {
    ($($constant:ident, $keywords:literal, $places:literal;)*) => {
        [$((stringify!($constant), $keywords, $places, json!(l::$constant))),*]
    };
}

/// Each limit of a request is one of those in `checked`.
fn only_checked_limits(document: &Value, checked: &BTreeSet<(String, &str)>) {
    for (id, (.., one)) in operations(document) {
        for (name, schema) in fields(one, "query") {
            // Other limits are those of ids, and strings that must not be empty.
            for keyword in ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"]
            {
                let is_known = schema["format"] == "int64"
                    || checked.contains(&(format!("{id}.{name}"), keyword));
                let is_non_empty = keyword == "minLength" && schema[keyword] == 1;
                assert!(
                    schema.get(keyword).is_none() || is_known || is_non_empty,
                    "{keyword} of {id}.{name}"
                );
            }
        }
    }
}

/// Both ways: each constant is in the document, and each limit of a request is a constant.
#[test]
fn limits_are_those_of_the_sdk() {
    let rows = limits! {
        PAGE_SIZE, "minimum maximum", "listPrompts.limit";
        PAGE_SIZE_DEFAULT, "default", "listPrompts.limit";
        PROMPT_TITLE_CHARS, "minLength maxLength",
            "createPrompt.title updatePrompt.title Prompt.title ListedPrompt.title";
        PROMPT_TEXT_CHARS, "minLength maxLength",
            "createPrompt.prompt updatePrompt.prompt Prompt.prompt ListedPrompt.prompt";
        PROMPT_ASPECT_RATIO_CHARS_MAX, "maxLength",
            "createPrompt.aspectRatio updatePrompt.aspectRatio";
        PROMPT_REFERENCE_MEDIA_URLS_MAX, "maxItems",
            "createPrompt.referenceMediaUrls updatePrompt.referenceMediaUrls";
        PROMPT_PLATFORM_CHARS_MAX, "maxLength",
            "createPrompt.platform updatePrompt.platform Prompt.platform ListedPrompt.platform";
        MODEL_ID_CHARS_MAX, "maxLength", "createPrompt.modelId updatePrompt.modelId";
        URL_CHARS_MAX, "maxLength",
            "createPrompt.imageUrl updatePrompt.imageUrl createGeneration.imageInput";
        CLIENT_JOB_ID_CHARS, "minLength maxLength", "createGeneration.clientJobId";
        GENERATION_MODEL_ID_CHARS, "minLength maxLength",
            "createGeneration.modelId createGeneration.imageEditEndpointId";
        GENERATION_ASPECT_RATIO_CHARS_MAX, "maxLength", "createGeneration.aspectRatio";
        VAULT_NAME_CHARS, "minLength maxLength", "createVault.name updateVault.name Vault.name";
        VAULT_DESCRIPTION_CHARS_MAX, "maxLength",
            "createVault.description updateVault.description Vault.description";
        ADDED_PROMPTS, "minItems maxItems", "addVaultPrompts.promptIds";
        GENERATION_PROMPT_CHARS_MAX, "maxLength", "createGeneration.prompt";
        GENERATION_NEGATIVE_PROMPT_CHARS_MAX, "maxLength", "createGeneration.negativePrompt";
        GENERATION_IMAGE_INPUTS_MAX, "maxItems", "createGeneration.imageInputs";
        GENERATION_REFERENCE_IMAGE_URLS_MAX, "maxItems", "createGeneration.referenceImageUrls";
        GENERATION_BATCH_COUNT, "minimum maximum", "createGeneration.batchCount";
        GENERATION_BATCH_COUNT_DEFAULT, "default", "createGeneration.batchCount";
        GENERATION_ASPECT_RATIO_DEFAULT, "default", "createGeneration.aspectRatio";
        UPLOAD_SIZE_BYTES, "minimum maximum", "createUploadSlot.size UploadSlot.size";
        UPLOAD_SLOT_LIFETIME_SECONDS, "const", "UploadSlot.expiresIn";
    };
    let document = resolved();
    let mut checked = BTreeSet::new();
    for (constant, keywords, places, value) in &rows {
        for (place, keyword) in places
            .split(' ')
            .flat_map(|place| keywords.split(' ').map(move |keyword| (place, keyword)))
        {
            let end = if keyword.starts_with("min") { "start" } else { "end" };
            let expected = value.get(end).unwrap_or(value);
            assert_eq!(
                schema_of(&document, place)[keyword],
                *expected,
                "{constant}: {keyword} of {place}"
            );
            checked.insert((place.to_owned(), keyword));
        }
    }
    only_checked_limits(&document, &checked);
    let source = include_str!("../../../../sdk/src/limits.rs");
    let names =
        source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    // JSON Schema has no keyword for these; the description of `parameters` states them.
    let described = [
        ("GENERATION_PARAMETERS_BYTES_MAX", l::GENERATION_PARAMETERS_BYTES_MAX),
        ("GENERATION_PARAMETERS_DEPTH_MAX", l::GENERATION_PARAMETERS_DEPTH_MAX),
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
    let responses = &document["components"]["responses"];
    let at = |place: &str| responses.pointer(place).unwrap();
    let page = at("/PromptPage/content/application~1json/schema/properties/data/maxItems");
    assert_eq!(*page, json!(l::PAGE_SIZE.end()));
    let added =
        at("/AddedPrompts/content/application~1json/schema/properties/data/properties/added");
    assert_eq!(added["maximum"], json!(l::ADDED_PROMPTS.end()));
    for place in [
        "createPrompt.referenceMediaUrls",
        "updatePrompt.referenceMediaUrls",
        "createGeneration.imageInputs",
        "createGeneration.referenceImageUrls",
    ] {
        let limit = &schema_of(&document, place)["items"]["maxLength"];
        assert_eq!(*limit, json!(l::URL_CHARS_MAX), "{place}");
    }
    for (place, text) in [
        ("/ContentTooLarge/description", format!("more than {BODY_BYTES_MAX} bytes")),
        ("/RequestTimeout/description", format!("within {BODY_SECONDS_MAX} seconds")),
    ] {
        assert!(at(place).as_str().unwrap().contains(&text), "{place}");
    }
}
