//! The API document: served, printed, and true of required fields.

use std::collections::BTreeSet;

use promptarium_server::EmbeddedServer;
use serde_json::Value;

use crate::support::browser::{Browser, JSON, OWN, request, send};
use crate::support::client::Slot;
use crate::support::program::{output, program};

/// A request for the document without a key.
fn get(method: &str, headers: &str) -> String {
    request(method, "/api/v1/openapi.json", headers, "")
}

async fn printed(arguments: &str) -> String {
    let output = output(program(&format!("openapi {arguments}"))).await;
    assert_eq!((output.code, &*output.stderr), (Some(0), ""));
    output.stdout
}

#[tokio::test]
async fn the_document_is_served_without_key_and_envelope_and_can_be_cached() {
    let server = EmbeddedServer::start().await.unwrap();
    let first = send(&server, get("GET", "")).await;
    assert_eq!((first.status, first.header("content-type")), (200, Some("application/json")));
    assert_eq!(first.json()["openapi"], "3.1.1");
    let root = server.base_url().strip_suffix("/api/v1").unwrap();
    assert_eq!(first.json()["servers"][0]["url"], root);
    assert_eq!(first.header("cache-control"), Some("no-cache"));

    let tag = first.header("etag").unwrap();
    let same = send(&server, get("GET", &format!("if-none-match: {tag}\r\n"))).await;
    assert_eq!((same.status, same.bytes.len(), same.header("etag")), (304, 0, Some(tag)));
    let other = send(&server, get("GET", "if-none-match: \"other\"\r\n")).await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn the_printed_document_is_the_served_one() {
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind/");
    let server = builder.model_namespace("acme").start().await.unwrap();
    let served = send(&server, get("GET", "")).await.json();
    let arguments = "--public-url=https://prompts.example/behind --model-namespace=acme";
    assert_eq!(printed(arguments).await.parse::<Value>().unwrap(), served);

    let text = printed("").await;
    assert!(text.starts_with("{\n  \"components\"") && text.ends_with("}\n"), "{text:.80}");
    assert_eq!(text.parse::<Value>().unwrap()["servers"][0]["url"], "/");
}

/// Generated clients know one content type for bytes.
#[tokio::test]
async fn an_upload_may_have_the_content_type_of_the_document() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut slot = Slot::of(server.base_url(), server.api_key(), "image/webp", 4).await;
    for (content_type, status) in [("image/png", 415), ("application/octet-stream", 200)] {
        content_type.clone_into(&mut slot.content_type);
        assert_eq!(slot.put(b"1234").await.status, status, "{content_type}");
    }
    assert_eq!(slot.get().await.header("content-type"), Some("image/webp"));
}

/// The fields that an empty body lacks are those that the document requires.
#[tokio::test]
async fn required_fields_are_those_of_the_document() {
    let Browser { server, cookie } = Browser::open().await;
    let document = send(&server, get("GET", "")).await.json();
    let mut checked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let content = &operation["requestBody"]["content"]["application/json"];
            let Some(mut schema) = content.get("schema") else { continue };
            if let Some(reference) = schema["$ref"].as_str() {
                schema = document.pointer(&reference[1..]).unwrap();
            }
            let required = schema["required"].as_array().into_iter().flatten();
            let required: BTreeSet<_> = required.filter_map(Value::as_str).collect();
            let path = ["{promptId}", "{vaultId}", "{vaultPromptId}", "{webhookId}"]
                .iter()
                .fold(path.clone(), |path, id| path.replace(id, "1"));
            let credentials = match operation["security"][0].get("browserSession") {
                Some(_) => cookie.clone(),
                None => format!("authorization: Bearer {}\r\n", server.api_key()),
            };
            let headers = format!("{JSON}{OWN}{credentials}");
            let sent = request(&method.to_uppercase(), &path, &headers, "{}");
            let response = send(&server, sent).await.json();
            let details = response["details"].as_object().into_iter().flatten();
            let missing: BTreeSet<_> = details.map(|(name, _)| name.as_str()).collect();
            assert_eq!(missing, required, "{method} {path}: {response}");
            checked += 1;
        }
    }
    assert_eq!(checked, 12);
}
