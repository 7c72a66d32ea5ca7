//! Fields of a body that are missing, of a wrong type or out of their range.

use http::Method;
use serde_json::{Value, json};

use crate::scenario::core;
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.missing.create-prompt" ["ER-04", "PR-20"] missing_in_prompt,
        "A prompt without title or without text is refused" },
    core! { "errors.missing.save" ["ER-04", "PR-47"] missing_in_save,
        "Save without vaultId is refused" },
    core! { "errors.missing.create-vault" ["ER-04", "VA-17"] missing_in_vault,
        "A vault without name is refused" },
    core! { "errors.missing.add" ["ER-04", "VC-12"] missing_in_add,
        "Adding without promptIds is refused" },
    core! { "errors.missing.move" ["ER-04", "VC-22"] missing_in_move,
        "A move without targetVaultId is refused" },
    core! { "errors.wrong-type.create-prompt" ["ER-05"] type_in_prompt,
        "A new prompt with a field of a wrong type is refused" },
    core! { "errors.wrong-type.update-prompt" ["ER-05"] type_in_prompt_update,
        "An update of a prompt with a field of a wrong type is refused" },
    core! { "errors.wrong-type.save" ["ER-05", "PR-47"] type_in_save,
        "Save with a vaultId of a wrong type is refused" },
    core! { "errors.wrong-type.create-vault" ["ER-05"] type_in_vault,
        "A new vault with a field of a wrong type is refused" },
    core! { "errors.wrong-type.update-vault" ["ER-05"] type_in_vault_update,
        "An update of a vault with a field of a wrong type is refused" },
    core! { "errors.wrong-type.add" ["ER-05", "VC-13"] type_in_add,
        "Adding with promptIds of a wrong type is refused" },
    core! { "errors.wrong-type.move" ["ER-05", "VC-22"] type_in_move,
        "A move with a targetVaultId of a wrong type is refused" },
    core! { "errors.wrong-type.changes-nothing" ["ER-05"] changes_nothing,
        "An update with one right and one wrong field changes nothing" },
];

const PROMPT: &str = "/prompts/{promptId}";
const SAVE: &str = "/prompts/{promptId}/save";
const VAULT: &str = "/vaults/{vaultId}";
const CONTENTS: &str = "/vaults/{vaultId}/prompts";
const MOVE: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/move";

/// The type a field has.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Texts,
    Integer,
    Integers,
}

const OF_PROMPT: &[(&str, Kind)] = &[
    ("title", Kind::Text),
    ("prompt", Kind::Text),
    ("promptType", Kind::Text),
    ("platform", Kind::Text),
    ("modelId", Kind::Text),
    ("aspectRatio", Kind::Text),
    ("vaultId", Kind::Integer),
    ("imageUrl", Kind::Text),
    ("referenceMediaUrls", Kind::Texts),
];
const OF_VAULT: &[(&str, Kind)] =
    &[("name", Kind::Text), ("description", Kind::Text), ("visibility", Kind::Text)];

/// Values of other types. `null` is not among them, for a server may take it
/// as a field that is not there.
fn not(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Text => vec![json!(5), json!(true), json!(["a"]), json!({ "a": "b" })],
        Kind::Texts => {
            vec![json!("https://a.example/b"), json!(5), json!({}), json!([5]), json!([["a"]])]
        }
        Kind::Integer => {
            vec![json!("word"), json!("1"), json!(true), json!([1]), json!({}), json!(1.5)]
        }
        Kind::Integers => vec![
            json!(1),
            json!("1"),
            json!({}),
            json!(true),
            json!(["word"]),
            json!(["1"]),
            json!([true]),
            json!([[1]]),
            json!([1.5]),
        ],
    }
}

async fn endpoint(case: &Case, method: Method, template: &str) -> Result<Endpoint, Failure> {
    let ids = Ids::make(case, &case.wire()).await?;
    endpoints::one(case, &ids, &method, template)
}

/// Each of the fields in turn is left out of a body that is right otherwise.
async fn missing(case: Case, template: &str, fields: &[&str]) -> Result<(), Failure> {
    let right = endpoint(&case, Method::POST, template).await?;
    for field in fields {
        let mut faulty = right.clone();
        if let Some(body) = faulty.body.as_mut().and_then(Value::as_object_mut) {
            body.remove(*field);
        }
        let reply = faulty.send(&case.wire()).await?;
        check::about(format!("without {field}"), reply.status(400))?;
    }
    Ok(())
}

/// Each of the fields in turn gets values of other types.
async fn wrong_type(
    case: Case,
    method: Method,
    template: &str,
    fields: &[(&str, Kind)],
) -> Result<(), Failure> {
    let right = endpoint(&case, method, template).await?;
    for (field, kind) in fields {
        for value in not(*kind) {
            let mut faulty = right.clone();
            if let Some(body) = faulty.body.as_mut() {
                body[*field] = value.clone();
            }
            let reply = faulty.send(&case.wire()).await?;
            check::about(format!("{field} {value}"), reply.status(400))?;
        }
    }
    Ok(())
}

async fn missing_in_prompt(case: Case) -> Result<(), Failure> {
    missing(case, "/prompts", &["title", "prompt"]).await
}

async fn missing_in_save(case: Case) -> Result<(), Failure> {
    missing(case, SAVE, &["vaultId"]).await
}

async fn missing_in_vault(case: Case) -> Result<(), Failure> {
    missing(case, "/vaults", &["name"]).await
}

async fn missing_in_add(case: Case) -> Result<(), Failure> {
    missing(case, CONTENTS, &["promptIds"]).await
}

async fn missing_in_move(case: Case) -> Result<(), Failure> {
    missing(case, MOVE, &["targetVaultId"]).await
}

async fn type_in_prompt(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::POST, "/prompts", OF_PROMPT).await
}

async fn type_in_prompt_update(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::PATCH, PROMPT, OF_PROMPT).await
}

async fn type_in_save(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::POST, SAVE, &[("vaultId", Kind::Integer)]).await
}

async fn type_in_vault(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::POST, "/vaults", OF_VAULT).await
}

async fn type_in_vault_update(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::PATCH, VAULT, OF_VAULT).await
}

async fn type_in_add(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::POST, CONTENTS, &[("promptIds", Kind::Integers)]).await
}

async fn type_in_move(case: Case) -> Result<(), Failure> {
    wrong_type(case, Method::POST, MOVE, &[("targetVaultId", Kind::Integer)]).await
}

async fn changes_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    let (prompt, vault) = (format!("/prompts/{}", ids.prompt), format!("/vaults/{}", ids.vault));
    for (path, body) in [
        (&prompt, json!({ "title": "changed", "vaultId": ids.target, "prompt": 5 })),
        (&prompt, json!({ "platform": "changed", "referenceMediaUrls": [5] })),
        (&vault, json!({ "name": "changed", "visibility": "public", "description": 5 })),
        (&vault, json!({ "description": "changed", "visibility": 5 })),
    ] {
        wire.patch(path, body).await?;
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}
