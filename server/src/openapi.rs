//! The service described by itself: an OpenAPI 3.1 document, built once.
//!
//! It cannot say other than what is served. Paths, names and security come from the
//! table of routes, limits from [`promptarium::limits`], words from the handlers that
//! take them; `tests` hold the rest. Serving it is for `api::openapi`.

mod about;
mod assets;
mod contents;
mod generations;
mod operation;
mod parameters;
mod prompts;
mod refusals;
mod schema;
mod security;
mod uploads;
mod vaults;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::operation::Operation;
use crate::domain::{ModelNamespace, PublicUrl};
use crate::serve::routes;

/// Something with the name that others find it by.
type Named<T> = (&'static str, T);

/// What a document depends on.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// How clients reach the service; an address relative to the document if absent.
    pub public: Option<&'a PublicUrl>,
    /// The prefix of the provider's models (PR-25).
    pub model_namespace: &'a ModelNamespace,
}

const ABOUT: &str = "Stores AI prompts, sorts them into vaults, and queues the generation of \
images and videos.\n\nIds such as `PR-19` are rules of `docs/api.md`, ids such as `S-57` entries \
of `docs/silent-points.md`. Lengths are counted in Unicode scalar values (S-66). Requests that are \
no HTTP at all, or whose head is too large, are answered below this description, without a body.";

const TAGS: [Named<&str>; 7] = [
    ("Prompts", "Stored instructions for a model."),
    ("Vaults", "Named collections of prompts."),
    ("Vault contents", "Which prompts are in a vault, and which of them are pinned."),
    ("Generations", "Images and videos made in the background."),
    ("Uploads", "Images of the caller's own, in two steps."),
    ("Assets", "Files that were uploaded or made."),
    ("API keys", "What authenticates requests."),
];

/// The document.
///
/// ```
/// use promptarium_server::openapi::{Described, document};
/// use promptarium_server::start::ModelNamespace;
///
/// let model_namespace = &ModelNamespace::new("local").ok_or("not a namespace")?;
/// let document = document(Described { public: None, model_namespace });
/// assert_eq!(document["paths"]["/api/v1/prompts"]["post"]["operationId"], "createPrompt");
/// # Ok::<_, &str>(())
/// ```
pub fn document(described: Described<'_>) -> Value {
    let server = described.public.map_or("/", |public| public.url().as_str().trim_end_matches('/'));
    let tags = TAGS.iter().chain(&[("Service", "What the server says of itself.")]);
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Promptarium",
            "version": "v1",
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": server }],
        "tags": tags
            .map(|(name, means)| json!({ "name": name, "description": means }))
            .collect::<Vec<_>>(),
        "paths": paths(),
        "components": {
            "schemas": schemas(described.model_namespace.as_str()),
            "parameters": parameters::shared(),
            "responses": refusals::responses(),
            "headers": refusals::headers(),
            "securitySchemes": security::schemes(),
        },
    })
}

/// Every route with the operation of its name. One without shows as an empty
/// description, which `tests` do not let pass.
fn paths() -> Value {
    let operations = operations();
    let mut paths = Map::new();
    for route in routes::table() {
        let operation = operations.get(route.name).map(|operation| operation.write(&route));
        let at_path = paths.entry(route.template()).or_insert_with(|| json!({}));
        at_path[route.method.as_str().to_ascii_lowercase()] = operation.unwrap_or_default();
    }
    Value::Object(paths)
}

fn operations() -> BTreeMap<&'static str, Operation> {
    let rooms = [
        prompts::operations(),
        vaults::operations(),
        contents::operations(),
        generations::operations(),
        uploads::operations(),
        assets::operations(),
        about::operations(),
    ];
    rooms.into_iter().flatten().collect()
}

fn schemas(model_namespace: &str) -> Value {
    let id = json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": i64::MAX });
    let id = |means: &str| schema::with(id.clone(), json!({ "description": means }));
    let ids = vec![
        ("PromptId", id("The id of a prompt (EN-08, PR-01, S-64, S-65).")),
        ("VaultId", id("The id of a vault (EN-08, VA-01, S-64, S-65).")),
        ("MembershipId", id("The id of a prompt's place in a vault (EN-08, VC-01, S-64).")),
    ];
    let rooms = [
        ids,
        prompts::schemas(model_namespace),
        vaults::schemas(),
        contents::schemas(),
        generations::schemas(),
        uploads::schemas(),
        assets::schemas(),
        refusals::schemas().into(),
    ];
    rooms.into_iter().flatten().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

#[cfg(test)]
mod tests;
