//! Faults in the filters of the list of prompts, and in deleting a prompt.

use crate::prelude::*;

const LIST: &str = "GET /prompts";
const DELETE: &str = "DELETE /prompts/*";

#[rustfmt::skip]
pub(in crate::faults) const ALL: &[Fault] = &[
    fault! { "prompts.list-201" ["PR-13"] status_instead(LIST, 206) },
    fault! { "prompts.list-short" ["PR-13"] edits_each(LIST, |prompt| without(prompt, "updatedAt")) },
    // With vaultId the filter type is ignored.
    fault! { "prompts.type-ignored-with-vault" ["PR-16"] asks(LIST, |request| {
        if request.parameter("vaultId").is_some() && is_type(request) {
            request.set_parameter("type", None);
        }
    }) },
    // A vaultId is read up to its first sign that is no digit.
    fault! { "prompts.vault-id-cut" ["PR-17"] asks(LIST, |request| {
        let id = request.parameter("vaultId").unwrap_or_default();
        let end = id.find(|c: char| !c.is_ascii_digit()).unwrap_or(id.len());
        let digits = id[..end].to_owned();
        if !digits.is_empty() {
            request.set_parameter("vaultId", Some(&digits));
        }
    }) },
    // The filter type leaves out what was updated.
    fault! { "prompts.type-of-updated" ["PR-16"] answers(LIST, |request, response| {
        if request.parameter("type").is_some() {
            entries(response, |list| list.retain(|one| one["updatedAt"] == one["createdAt"]));
        }
    }) },
    fault! { "existing-data.vault-and-one" ["PR-15"] answers(LIST, |request, response| {
        if request.parameter("vaultId").is_some() {
            entries(response, |found| found.extend(found.first().cloned().map(nowhere)));
        }
    }) },
    fault! { "prompts.search-ignored" ["PR-13"] search_as(|_| None) },
    // Words between quotation marks are found in any order.
    fault! { "prompts.search-without-phrases" ["PR-13"]
        search_as(|text| Some(text.replace("%22", ""))) },
    // A search is in ASCII.
    fault! { "prompts.search-ascii" ["PR-13"]
        search_as(|text| Some(text.split('%').next().unwrap_or_default().to_owned())) },
    // Only the first word counts.
    fault! { "prompts.search-first-word" ["PR-13"]
        search_as(|text| Some(text.split('+').next().unwrap_or_default().to_owned())) },
    // A search takes no notice of a type.
    fault! { "prompts.search-any-type" ["PR-16"] asks(LIST, |request| {
        if request.parameter("q").is_some() && is_type(request) {
            request.set_parameter("type", None);
        }
    }) },
    fault! { "prompts.delete-soft" ["PR-41"] kept("GET /prompts/*, DELETE /prompts/*") },
    fault! { "prompts.delete-still-listed" ["PR-42"]
        listed_on("GET /prompts, DELETE /prompts/*", in_vault) },
    // A deleted prompt with images stays in the list of prompts with a vaultId.
    fault! { "prompts.delete-keeps-images" ["PR-43"]
        listed_on("GET /prompts, DELETE /prompts/*", |request, prompt| {
            in_vault(request, prompt) && prompt["images"] != json!([])
        }) },
    // Deleting a prompt takes the next one out of its vaults too.
    fault! { "prompts.delete-takes-others" ["PR-42"] whole(DELETE, |request, upstream| async move {
        let before = upstream.get(&request, &*request.path).await.json();
        let response = upstream.send(&request).await;
        for vault in ids_of(&before["data"], "vaultIds").into_iter().filter(|_| response.is_success()) {
            if let Some(first) = upstream.members(&request, vault).await.first() {
                let member = format!("/vaults/{vault}/prompts/{}", first["vaultPromptId"]);
                upstream.delete(&request, member).await;
            }
        }
        response
    }) },
];

/// Searches for another text; both have percent-encoding.
fn search_as(taken: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Intercept {
    parameter_as(LIST, "q", taken)
}

const KINDS: [&str; 3] = ["image", "text", "video"];

fn is_type(request: &Request) -> bool {
    request.parameter("type").is_some_and(|kind| KINDS.contains(&kind))
}

/// The prompt as another one that is in no vault.
fn nowhere(mut prompt: Value) -> Value {
    prompt["id"] = (prompt["id"].as_i64().unwrap_or_default() + 1_000_000).into();
    prompt["vaultIds"] = Value::Array(Vec::new());
    prompt
}

/// Reads of an address answer what they answered before a deletion.
pub(in crate::faults) fn kept(routes: &'static str) -> Intercept {
    whole_with(routes, |request, upstream, gone: Shared<HashMap<String, Response>>| async move {
        // Each account has things of its own.
        let at = format!("{} {}", request.authorization(), request.path);
        if request.method == Method::GET {
            let response = upstream.send(&request).await;
            let kept = gone.with(|gone| gone.get(&at).cloned());
            return kept.filter(|_| response.code() == 404).unwrap_or(response);
        }
        let before = upstream.get(&request, &*request.path).await;
        let response = upstream.send(&request).await;
        if response.is_success() {
            gone.with(|gone| gone.insert(at, before));
        }
        response
    })
}

fn in_vault(request: &Request, prompt: &Value) -> bool {
    let vault = request.parameter("vaultId").and_then(|id| id.parse().ok());
    vault.is_some_and(|id| ids_of(prompt, "vaultIds").contains(&id))
}

/// Lists hold what their caller has deleted, if it is `shown`.
pub(in crate::faults) fn listed_on(
    routes: &'static str,
    shown: fn(&Request, &Value) -> bool,
) -> Intercept {
    whole_with(routes, move |request, upstream, gone: Shared<Vec<(String, Value)>>| async move {
        let by = request.authorization().to_owned();
        if request.method == Method::GET {
            let mut response = upstream.send(&request).await;
            let mut left = gone.with(|gone| gone.clone());
            left.retain(|(owner, thing)| *owner == by && shown(&request, thing));
            entries(&mut response, |list| list.extend(left.into_iter().map(|(_, thing)| thing)));
            return response;
        }
        let thing = upstream.get(&request, &*request.path).await.json()["data"].take();
        let response = upstream.send(&request).await;
        if response.is_success() {
            gone.with(|gone| gone.push((by, thing)));
        }
        response
    })
}
