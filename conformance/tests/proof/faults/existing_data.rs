//! Faults for scenarios that look at what is there already.

use serde_json::Value;

use crate::entries::entries;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{foreseen, whole};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "existing-data.vault-and-one" ["PR-15"] and_one(),
        "The end of a list by vaultId alone has a prompt that is not in the vault." },
];

fn and_one() -> Intercept {
    let how = whole("GET /prompts", |ask, upstream| async move {
        let mut answer = upstream.send(&ask).await;
        if is_end_by_vault(&ask, &answer) {
            let all = upstream.get(&ask, "/prompts").await.json();
            let mut all = all["data"].as_array().into_iter().flatten();
            let elsewhere = |one: &&Value| {
                let vaults = one["vaultIds"].as_array().into_iter().flatten();
                let vault = ask.parameter("vaultId").unwrap_or_default();
                vaults.map(Value::to_string).all(|id| id != vault)
            };
            let one = all.find(elsewhere).cloned();
            entries(&mut answer, |found| {
                let one = one.or_else(|| found.first().cloned().map(nowhere));
                found.extend(one);
            });
        }
        answer
    });
    foreseen(how, is_end_by_vault)
}

/// The prompt as another one that is in no vault.
fn nowhere(mut prompt: Value) -> Value {
    prompt["id"] = (prompt["id"].as_i64().unwrap_or_default() + 1_000_000).into();
    prompt["vaultIds"] = Value::Array(Vec::new());
    prompt
}

/// Whether prompts were found by their vault, and there are no more.
fn is_end_by_vault(ask: &Request, answer: &Response) -> bool {
    let query = ask.query.as_deref().unwrap_or_default();
    let alone = query.starts_with("vaultId=") && !query.contains('&');
    let body = answer.json();
    let found = body["data"].as_array().is_some_and(|found| !found.is_empty());
    alone && found && body["pagination"]["nextCursor"].is_null()
}
