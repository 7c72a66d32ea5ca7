//! The document and the service are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::described;
use super::walk::{followed, operation, operations};
use crate::api::{generations, memberships, prompts, uploads, vaults};
use crate::http::auth::Access;
use crate::serve::routes::table;

#[test]
fn every_route_has_one_operation_and_every_operation_one_route() {
    let document = described();
    let described: Vec<_> = operations(&document)
        .iter()
        .map(|one| (one.path.to_owned(), one.method.to_uppercase(), one.id().to_owned()))
        .collect();
    let mut routes: Vec<_> = table()
        .iter()
        .map(|row| (row.template(), row.method.to_string(), row.name.to_owned()))
        .collect();
    routes.sort_by_key(|(path, method, _)| (path.clone(), method.to_lowercase()));
    assert_eq!(described, routes);
    // One that is described and not routed would be in no path.
    let names: BTreeSet<_> = table().iter().map(|row| row.name).collect();
    assert_eq!(super::super::operations().into_keys().collect::<BTreeSet<_>>(), names);
}

#[test]
fn an_operation_asks_for_what_its_route_needs() {
    let document = described();
    for row in table() {
        let security = match row.access {
            Access::None => json!([]),
            Access::Key => json!([{ "apiKey": [] }]),
            Access::Write => json!([{ "apiKey": ["prompts:write"] }]),
            Access::Session => json!([{ "browserSession": [] }]),
            Access::UploadToken => json!([{ "uploadToken": [] }]),
        };
        let described = operation(&document, row.name);
        assert_eq!(described.value["security"], security, "{}", row.name);
        let refuses = described.value["responses"].get("401").is_some();
        assert_eq!(refuses, row.access != Access::None, "{}", row.name);
    }
}

#[test]
fn a_body_has_the_fields_that_its_handler_takes() {
    let document = described();
    let mut taken = BTreeMap::from([
        ("createPrompt", prompts::FIELDS),
        ("updatePrompt", prompts::FIELDS),
        ("savePrompt", prompts::SAVE_FIELDS),
        ("createVault", vaults::FIELDS),
        ("updateVault", vaults::FIELDS),
        ("addVaultPrompts", memberships::ADD_FIELDS),
        ("moveVaultPrompt", memberships::MOVE_FIELDS),
        ("createGeneration", generations::FIELDS),
        ("createUploadSlot", uploads::FIELDS),
    ]);
    for one in operations(&document) {
        let schema = &one.value["requestBody"]["content"]["application/json"]["schema"];
        let Some(fields) = followed(&document, schema)["properties"].as_object() else {
            continue;
        };
        let described: BTreeSet<_> = fields.keys().map(String::as_str).collect();
        let taken = taken.remove(one.id()).unwrap_or_default().iter().copied().collect();
        assert_eq!(described, taken, "{}", one.id());
    }
    assert!(taken.is_empty(), "not described: {taken:?}");
}

#[test]
fn a_query_has_the_parameters_that_its_handler_takes() {
    let document = described();
    let mut taken = BTreeMap::from([("listPrompts", prompts::QUERY), ("putUpload", &["slot"])]);
    for one in operations(&document) {
        let parameters = one.parameters(&document);
        let query = parameters.iter().filter(|parameter| parameter["in"] == "query");
        let described: Vec<_> =
            query.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        assert_eq!(described, taken.remove(one.id()).unwrap_or_default(), "{}", one.id());
    }
    assert!(taken.is_empty(), "not described: {taken:?}");
}

#[test]
fn parameters_in_a_path_are_those_of_its_template() {
    let document = described();
    for one in operations(&document) {
        let parameters = one.parameters(&document);
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
        let names: Vec<_> = in_path
            .map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap()))
            .collect();
        let parts: Vec<_> = one.path.split('/').filter(|part| part.starts_with('{')).collect();
        assert_eq!(names, parts, "{}", one.path);
    }
}

/// Which answers there are is read here at one look; that no other one comes is seen
/// by the conformance run behind this document.
#[test]
fn every_operation_has_these_answers() {
    let document = described();
    let mut all = String::new();
    for one in operations(&document) {
        let responses = one.value["responses"].as_object().unwrap();
        let statuses = responses.keys().map(String::as_str).collect::<Vec<_>>().join(" ");
        all.push_str(&format!("{}: {statuses}\n", one.id()));
    }
    insta::assert_snapshot!(all, @r"
    createApiKey: 401 405 500
    createGeneration: 202 400 401 405 408 413 415 500 502 503
    generationStatus: 200 401 404 405 500 503
    openapi: 200 304 405 500
    listPrompts: 200 400 401 405 500 503
    createPrompt: 201 400 401 405 408 413 415 500 503
    deletePrompt: 200 401 404 405 500 503
    getPrompt: 200 401 404 405 500 503
    updatePrompt: 200 400 401 404 405 408 413 415 500 503
    savePrompt: 200 400 401 404 405 408 413 415 500 503
    createUploadSlot: 201 400 401 405 408 413 415 500 503
    listVaults: 200 401 405 500 503
    createVault: 201 400 401 405 408 413 415 500 503
    deleteVault: 200 400 401 404 405 500 503
    getVault: 200 401 404 405 500 503
    updateVault: 200 400 401 404 405 408 413 415 500 503
    forkVault: 201 400 401 404 405 500 503
    listVaultPrompts: 200 401 404 405 500 503
    addVaultPrompts: 201 400 401 404 405 408 413 415 500 503
    removeVaultPrompt: 200 401 404 405 500 503
    moveVaultPrompt: 200 400 401 404 405 408 413 415 500 503
    unpinVaultPrompt: 200 401 404 405 500 503
    pinVaultPrompt: 200 401 404 405 500 503
    getAsset: 200 206 304 404 405 416 500 503
    headAsset: 200 304 404 405 500 503
    health: 200 405 500
    readiness: 200 405 500 503
    putUpload: 200 400 401 405 408 413 415 500 503
    ");
}

#[test]
fn links_lead_to_operations_that_take_what_they_bring() {
    let document = described();
    let mut links = 0;
    for one in operations(&document) {
        for response in one.value["responses"].as_object().unwrap().values() {
            for link in response["links"].as_object().into_iter().flatten().map(|(_, link)| link) {
                links += 1;
                let target = operation(&document, link["operationId"].as_str().unwrap());
                let parameters = target.parameters(&document);
                for name in link["parameters"].as_object().unwrap().keys() {
                    let taken = parameters.iter().any(|parameter| parameter["name"] == **name);
                    assert!(taken, "{} leads to {} with {name}", one.id(), target.id());
                }
            }
        }
    }
    assert!(links > 50, "{links}");
}
