//! Faults in deleting a prompt.

use crate::prelude::*;

const DELETE: &str = "DELETE /prompts/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.delete-soft" ["PR-41"] kept("GET /prompts/*, DELETE /prompts/*"),
        "A deleted prompt can still be read." },
    fault! { "prompts.delete-again" ["ER-09"] again(),
        "Deleting a deleted prompt answers 200 again." },
    fault! { "prompts.delete-still-listed" ["PR-42"]
        listed_on("GET /prompts, DELETE /prompts/*", in_vault),
        "A deleted prompt stays in the list of prompts with a vaultId." },
    fault! { "prompts.delete-keeps-images" ["PR-43"]
        listed_on("GET /prompts, DELETE /prompts/*", |request, prompt| {
            in_vault(request, prompt) && prompt["images"] != json!([])
        }),
        "A deleted prompt with images stays in the list of prompts with a vaultId." },
    fault! { "prompts.delete-still-in-vaults" ["PR-42"] still_in_vaults(),
        "A deleted prompt stays in the listings of its vaults." },
    fault! { "prompts.delete-still-counted" ["PR-42"] still_counted(),
        "A deleted prompt still counts in promptCount." },
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
    }),
        "Deleting a prompt takes the next one out of its vaults too." },
    fault! { "prompts.save-of-deleted" ["ER-09"] code_instead("POST /prompts/*/save", 404, 400, |_| true),
        "Saving a deleted prompt answers 400." },
];

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

fn again() -> Intercept {
    answers_with(DELETE, |gone: &mut HashMap<String, Response>, request, response| {
        if response.is_success() {
            gone.insert(request.path.clone(), response.clone());
        } else if let Some(before) = gone.get(&request.path).filter(|_| response.code() == 404) {
            *response = before.clone();
        }
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

fn still_counted() -> Intercept {
    let routes = "GET /vaults/*, DELETE /prompts/*";
    whole_with(routes, |request, upstream, counted: Shared<Vec<i64>>| async move {
        if request.method == Method::GET {
            let mut response = upstream.send(&request).await;
            let more = counted.with(|all| all.iter().filter(|id| **id == request.id(1)).count());
            response.edit_data(|vault| {
                let count = vault["promptCount"].as_u64().map(|count| count + more as u64);
                vault["promptCount"] = json!(count);
            });
            return response;
        }
        let before = upstream.get(&request, &*request.path).await.json();
        let response = upstream.send(&request).await;
        if response.is_success() {
            counted.with(|counted| counted.extend(ids_of(&before["data"], "vaultIds")));
        }
        response
    })
}

fn still_in_vaults() -> Intercept {
    let routes = "DELETE /prompts/*, GET /vaults/*/prompts";
    whole_with(routes, |request, upstream, gone: Shared<Vec<(i64, Value)>>| async move {
        if request.method == Method::GET {
            let mut listing = upstream.send(&request).await;
            let left = gone.with(|gone| gone.clone()).into_iter();
            let left = left.filter(|(vault, _)| *vault == request.id(1)).map(|(_, member)| member);
            entries(&mut listing, |there| there.extend(left));
            return listing;
        }
        let prompt = upstream.get(&request, &*request.path).await.json();
        for vault in ids_of(&prompt["data"], "vaultIds") {
            let there = upstream.members(&request, vault).await.into_iter();
            let own = there.filter(|member| member["id"] == prompt["data"]["id"]);
            gone.with(|gone| gone.extend(own.map(|member| (vault, member))));
        }
        upstream.send(&request).await
    })
}
