//! Faults in the filters of the list of prompts.

use crate::prelude::*;

const LIST: &str = "GET /prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.list-201" ["PR-13"] status_instead(LIST, 206),
        "The list of prompts answers 206." },
    fault! { "prompts.list-short" ["PR-13"] edits_each(LIST, |prompt| without(prompt, "updatedAt")),
        "The entries of the list lack updatedAt." },
    fault! { "prompts.type-ignored-with-vault" ["PR-16"] asks(LIST, |request| {
        if request.parameter("vaultId").is_some() && is_type(request) {
            request.set_parameter("type", None);
        }
    }),
        "With vaultId the filter type is ignored." },
    fault! { "prompts.vault-ignored-with-type" ["PR-15"] asks(LIST, |request| {
        if is_vault(request) && is_type(request) {
            request.set_parameter("vaultId", None);
        }
    }),
        "With type the filter vaultId is ignored." },
    fault! { "prompts.type-in-capitals" ["PR-18"] asks(LIST, |request| {
        let lower = request.parameter("type").map(str::to_lowercase);
        request.set_parameter("type", lower.as_deref());
    }),
        "The filter type takes capitals." },
    fault! { "prompts.vault-id-cut" ["PR-17"] asks(LIST, |request| {
        let id = request.parameter("vaultId").unwrap_or_default();
        let end = id.find(|c: char| !c.is_ascii_digit()).unwrap_or(id.len());
        let digits = id[..end].to_owned();
        if !digits.is_empty() {
            request.set_parameter("vaultId", Some(&digits));
        }
    }),
        "A vaultId is read up to its first sign that is no digit." },
    fault! { "prompts.type-by-first-type" ["PR-16"] first_type(),
        "The filter type finds prompts by the type they were made with." },
    fault! { "existing-data.vault-and-one" ["PR-15"] and_one(),
        "The end of a list by vaultId alone has a prompt that is not in the vault." },
];

const KINDS: [&str; 3] = ["image", "text", "video"];

fn is_type(request: &Request) -> bool {
    request.parameter("type").is_some_and(|kind| KINDS.contains(&kind))
}

fn is_vault(request: &Request) -> bool {
    request.parameter("vaultId").is_some_and(|id| id.parse::<i64>().is_ok())
}

fn first_type() -> Intercept {
    answers_with(
        "POST /prompts, GET /prompts",
        move |first: &mut HashMap<i64, String>, request, response| {
            if request.method == Method::POST {
                let kind = response.json()["data"]["promptType"].as_str().map(str::to_owned);
                first.extend(kind.map(|kind| (response.id(), kind)));
            } else if let Some(wanted) = request.parameter("type") {
                let kind = |prompt: &Value| first.get(&prompt["id"].as_i64()?);
                entries(response, |list| {
                    list.retain(|prompt| kind(prompt).is_none_or(|kind| kind == wanted));
                });
            }
        },
    )
}

fn and_one() -> Intercept {
    let how = whole("GET /prompts", |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        if is_end_by_vault(&request, &response) {
            let all = upstream.get(&request, "/prompts").await.json();
            let mut all = all["data"].as_array().into_iter().flatten();
            let elsewhere = |one: &&Value| {
                let vaults = one["vaultIds"].as_array().into_iter().flatten();
                let vault = request.parameter("vaultId").unwrap_or_default();
                vaults.map(Value::to_string).all(|id| id != vault)
            };
            let one = all.find(elsewhere).cloned();
            entries(&mut response, |found| {
                let one = one.or_else(|| found.first().cloned().map(nowhere));
                found.extend(one);
            });
        }
        response
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
fn is_end_by_vault(request: &Request, response: &Response) -> bool {
    let query = request.query.as_deref().unwrap_or_default();
    let alone = query.starts_with("vaultId=") && !query.contains('&');
    let body = response.json();
    let found = body["data"].as_array().is_some_and(|found| !found.is_empty());
    alone && found && body["pagination"]["nextCursor"].is_null()
}
