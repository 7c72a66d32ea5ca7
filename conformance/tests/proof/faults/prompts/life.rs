//! Faults in deleting a prompt.

use std::collections::HashMap;

use http::Method;
use serde_json::Value;

use crate::entries::entries;
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, code_instead, whole, whole_with};
use crate::shared::Shared;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.delete-soft" ["PR-41"] kept(),
        "A deleted prompt can still be read." },
    fault! { "prompts.delete-again" ["ER-09"] again(),
        "Deleting a deleted prompt answers 200 again." },
    fault! { "prompts.delete-still-listed" ["PR-42"] still_listed(|_| true),
        "A deleted prompt stays in the list of prompts with a vaultId." },
    fault! { "prompts.delete-keeps-images" ["PR-43"]
        still_listed(|prompt| prompt["images"] != serde_json::json!([])),
        "A deleted prompt with images stays in the list of prompts with a vaultId." },
    fault! { "prompts.delete-still-in-vaults" ["PR-42"] still_in_vaults(),
        "A deleted prompt stays in the listings of its vaults." },
    fault! { "prompts.delete-still-counted" ["PR-42"] still_counted(),
        "A deleted prompt still counts in promptCount." },
    fault! { "prompts.delete-takes-others" ["PR-42"] takes_others(),
        "Deleting a prompt takes the next one out of its vaults too." },
    fault! { "prompts.save-of-deleted" ["ER-09"] code_instead("POST /prompts/*/save", 404, 400, |_| true),
        "Saving a deleted prompt answers 400." },
];

/// Reads answer what they answered before a prompt was deleted.
fn kept() -> Intercept {
    let routes = "GET /prompts/*, DELETE /prompts/*";
    whole_with(routes, |request, upstream, gone: Shared<HashMap<String, Response>>| async move {
        if request.method == Method::GET {
            let response = upstream.send(&request).await;
            let kept = gone.with(|gone| gone.get(&request.path).cloned());
            return kept.filter(|_| response.code() == 404).unwrap_or(response);
        }
        let before = upstream.get(&request, &*request.path).await;
        let response = upstream.send(&request).await;
        if response.is_success() {
            gone.with(|gone| gone.insert(request.path, before));
        }
        response
    })
}

fn again() -> Intercept {
    let gone = Shared::<HashMap<String, Response>>::default();
    answers("DELETE /prompts/*", move |request, response| {
        if response.is_success() {
            gone.with(|gone| gone.insert(request.path.clone(), response.clone()));
        } else if let (404, Some(before)) =
            (response.code(), gone.with(|gone| gone.get(&request.path).cloned()))
        {
            *response = before;
        }
    })
}

/// Lists with a vaultId hold what was in that vault when it was deleted.
fn still_listed(kept: fn(&Value) -> bool) -> Intercept {
    let routes = "GET /prompts, DELETE /prompts/*";
    whole_with(routes, move |request, upstream, gone: Shared<Vec<Value>>| async move {
        if request.method == Method::GET {
            let vault: Option<i64> = request.parameter("vaultId").and_then(|id| id.parse().ok());
            let mut response = upstream.send(&request).await;
            let of_vault = |prompt: &Value| vault.is_some_and(|id| vaults_of(prompt).contains(&id));
            let left = gone.with(|gone| gone.clone()).into_iter().filter(of_vault);
            entries(&mut response, |list| list.extend(left));
            return response;
        }
        let prompt = upstream.get(&request, &*request.path).await.json()["data"].take();
        let response = upstream.send(&request).await;
        if response.is_success() && kept(&prompt) {
            gone.with(|gone| gone.push(prompt));
        }
        response
    })
}

fn still_counted() -> Intercept {
    let routes = "GET /vaults/*, DELETE /prompts/*";
    whole_with(routes, |request, upstream, counted: Shared<HashMap<i64, i64>>| async move {
        if request.method == Method::GET {
            let mut response = upstream.send(&request).await;
            let more = counted.with(|all| all.get(&request.id(1)).copied().unwrap_or_default());
            response.edit_data(|vault| {
                if let Some(count) = vault["promptCount"].as_i64() {
                    vault["promptCount"] = (count + more).into();
                }
            });
            return response;
        }
        let before = upstream.get(&request, &*request.path).await.json();
        let response = upstream.send(&request).await;
        for vault in vaults_of(&before["data"]).into_iter().filter(|_| response.is_success()) {
            counted.with(|counted| *counted.entry(vault).or_default() += 1);
        }
        response
    })
}

fn takes_others() -> Intercept {
    whole("DELETE /prompts/*", |request, upstream| async move {
        let before = upstream.get(&request, &*request.path).await.json();
        let response = upstream.send(&request).await;
        for vault in vaults_of(&before["data"]).into_iter().filter(|_| response.is_success()) {
            let listing = format!("/vaults/{vault}/prompts");
            if let Some(first) = upstream.list(&request, &*listing).await.first() {
                upstream.delete(&request, format!("{listing}/{}", first["vaultPromptId"])).await;
            }
        }
        response
    })
}

fn still_in_vaults() -> Intercept {
    let routes = "DELETE /prompts/*, GET /vaults/*/prompts";
    // By the path of the listing.
    whole_with(routes, |request, upstream, gone: Shared<HashMap<String, Vec<Value>>>| async move {
        if request.method == Method::GET {
            let mut listing = upstream.send(&request).await;
            let left = gone.with(|gone| gone.get(&request.path).cloned().unwrap_or_default());
            entries(&mut listing, |there| there.extend(left));
            return listing;
        }
        let prompt = upstream.get(&request, &*request.path).await.json();
        for vault in vaults_of(&prompt["data"]) {
            let path = format!("/vaults/{vault}/prompts");
            let mut there = upstream.list(&request, &*path).await;
            there.retain(|member| member["id"] == prompt["data"]["id"]);
            gone.with(|gone| gone.entry(path).or_default().append(&mut there));
        }
        upstream.send(&request).await
    })
}

fn vaults_of(prompt: &Value) -> Vec<i64> {
    let vaults = prompt["vaultIds"].as_array().into_iter().flatten();
    vaults.filter_map(Value::as_i64).collect()
}
