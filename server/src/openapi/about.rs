//! What the server says of itself, and the one endpoint that nobody can use yet.

use serde_json::json;

use super::Named;
use super::operation::{Answer, Operation};
use super::schema::{self, Fields, with};

const TAG: &str = "Service";

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![
        ("health", health()),
        ("readiness", readiness()),
        ("openapi", openapi()),
        ("createApiKey", create_api_key()),
    ]
}

fn health() -> Operation {
    Operation::new(TAG, "Does the process answer?", "It needs no key (S-54).")
        .asks_nobody()
        .answer(status("ok", "It does."))
}

fn readiness() -> Operation {
    Operation::new(
        TAG,
        "Does the server want requests?",
        "It does while it is not stopping and its store answers. It needs no key (S-54).",
    )
    .answer(status("ready", "It does."))
}

fn status(word: &str, means: &'static str) -> Answer {
    let status = Fields::new().must("status", schema::only(word), "The one word.").object();
    Answer::new(200, means).data(&status, &json!({ "status": word }))
}

fn openapi() -> Operation {
    let document = Fields::new()
        .must("openapi", json!({ "type": "string", "pattern": r"^3\.1\.\d+$" }), "Its version.")
        .must("info", json!({ "type": "object" }), "What it is about.")
        .must("paths", json!({ "type": "object" }), "The operations, path by path.");
    let document = with(document.object(), json!({ "additionalProperties": true }));
    let example = json!({ "openapi": "3.1.1", "info": {}, "paths": {} });
    let tag = json!({ "type": "string", "pattern": "^\".+\"$" });
    let tagged = |answer: Answer| {
        answer.header("ETag", &tag, "Changes with the document.").header(
            "Cache-Control",
            &schema::only("no-cache"),
            "Ask whether it has changed.",
        )
    };
    Operation::new(
        TAG,
        "Read this document",
        "It needs no key (S-54). It stands alone, outside of the envelope (S-79).",
    )
    .asks_nobody()
    .parameter(
        "header",
        "If-None-Match",
        false,
        &json!({ "type": "string" }),
        "Tags of documents that the client has, or `*`.",
    )
    .answer(tagged(Answer::new(200, "The document.").content(
        "application/json",
        &document,
        &example,
    )))
    .answer(tagged(Answer::new(304, "The client has the document.")))
}

fn create_api_key() -> Operation {
    Operation::new(
        "API keys",
        "Make an API key",
        "It works in a browser session only (KE-05, KE-06). This server has no sign-in yet, so \
         that every request is answered 401, whatever it brings (S-46).",
    )
    .asks_nobody()
}
