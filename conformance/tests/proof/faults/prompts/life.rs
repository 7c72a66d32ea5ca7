//! Faults in deleting a prompt.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::Method;
use serde_json::Value;

use crate::entries::entries;
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, whole};
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
    fault! { "prompts.save-of-deleted" ["ER-09"] answers("POST /prompts/*/save", |_, answer| {
        if answer.code() == 404 {
            answer.set_code(400);
        }
    }),
        "Saving a deleted prompt answers 400." },
];

/// Reads answer what they answered before a prompt was deleted.
fn kept() -> Intercept {
    let gone: Arc<Mutex<HashMap<String, Response>>> = Arc::default();
    whole("GET /prompts/*, DELETE /prompts/*", move |ask, upstream| {
        let gone = Arc::clone(&gone);
        async move {
            if ask.method == Method::GET {
                let kept =
                    gone.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.path).cloned();
                let answer = upstream.send(&ask).await;
                return kept.filter(|_| answer.code() == 404).unwrap_or(answer);
            }
            let before = upstream.send(&ask.another(Method::GET, ask.path.clone())).await;
            let answer = upstream.send(&ask).await;
            if answer.is_success() {
                gone.lock().unwrap_or_else(PoisonError::into_inner).insert(ask.path, before);
            }
            answer
        }
    })
}

fn again() -> Intercept {
    let gone: Mutex<HashMap<String, Response>> = Mutex::default();
    answers("DELETE /prompts/*", move |ask, answer| {
        let mut gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.is_success() {
            gone.insert(ask.path.clone(), answer.clone());
        } else if let (404, Some(before)) = (answer.code(), gone.get(&ask.path)) {
            *answer = before.clone();
        }
    })
}

/// Lists with a vaultId hold what was in that vault when it was deleted.
fn still_listed(kept: fn(&Value) -> bool) -> Intercept {
    let gone: Arc<Mutex<Vec<Value>>> = Arc::default();
    whole("GET /prompts, DELETE /prompts/*", move |ask, upstream| {
        let gone = Arc::clone(&gone);
        async move {
            if ask.method == Method::GET {
                let vault: Option<i64> = ask.parameter("vaultId").and_then(|id| id.parse().ok());
                let mut answer = upstream.send(&ask).await;
                let gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
                let of_vault = |prompt: &&Value| {
                    prompt["vaultIds"].as_array().is_some_and(|ids| {
                        ids.iter().any(|id| id.as_i64() == vault && vault.is_some())
                    })
                };
                answer.edit_data(|list| {
                    if let Some(list) = list.as_array_mut() {
                        list.extend(gone.iter().filter(of_vault).cloned());
                    }
                });
                return answer;
            }
            let before = upstream.send(&ask.another(Method::GET, ask.path.clone())).await;
            let answer = upstream.send(&ask).await;
            let prompt = before.json()["data"].take();
            if answer.is_success() && kept(&prompt) {
                gone.lock().unwrap_or_else(PoisonError::into_inner).push(prompt);
            }
            answer
        }
    })
}

fn still_counted() -> Intercept {
    let counted: Arc<Mutex<HashMap<i64, i64>>> = Arc::default();
    whole("GET /vaults/*, DELETE /prompts/*", move |ask, upstream| {
        let counted = Arc::clone(&counted);
        async move {
            if ask.method == Method::GET {
                let mut answer = upstream.send(&ask).await;
                let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                let more = counted.get(&ask.id(1)).copied().unwrap_or_default();
                answer.edit_data(|vault| {
                    if let Some(count) = vault["promptCount"].as_i64() {
                        vault["promptCount"] = (count + more).into();
                    }
                });
                return answer;
            }
            let before = upstream.send(&ask.another(Method::GET, ask.path.clone())).await.json();
            let answer = upstream.send(&ask).await;
            if answer.is_success() {
                let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                let vaults = before["data"]["vaultIds"].as_array().into_iter().flatten();
                for vault in vaults.filter_map(Value::as_i64) {
                    *counted.entry(vault).or_default() += 1;
                }
            }
            answer
        }
    })
}

fn takes_others() -> Intercept {
    whole("DELETE /prompts/*", |ask, upstream| async move {
        let before = upstream.send(&ask.another(Method::GET, ask.path.clone())).await.json();
        let answer = upstream.send(&ask).await;
        let vaults = before["data"]["vaultIds"].as_array().into_iter().flatten();
        for vault in vaults.filter(|_| answer.is_success()) {
            let listing = format!("/vaults/{vault}/prompts");
            let listed = upstream.send(&ask.another(Method::GET, &*listing)).await.json();
            if let Some(membership) = listed["data"][0]["vaultPromptId"].as_i64() {
                upstream
                    .send(&ask.another(Method::DELETE, format!("{listing}/{membership}")))
                    .await;
            }
        }
        answer
    })
}

fn still_in_vaults() -> Intercept {
    // By the path of the listing.
    let gone = Shared::<HashMap<String, Vec<Value>>>::default();
    whole("DELETE /prompts/*, GET /vaults/*/prompts", move |ask, upstream| {
        let gone = gone.clone();
        async move {
            if ask.method == Method::GET {
                let mut listing = upstream.send(&ask).await;
                let left = gone.with(|gone| gone.get(&ask.path).cloned().unwrap_or_default());
                entries(&mut listing, |there| there.extend(left));
                return listing;
            }
            let prompt = upstream.send(&ask.another(Method::GET, ask.path.clone())).await.json();
            for vault in prompt["data"]["vaultIds"].as_array().into_iter().flatten() {
                let path = format!("/vaults/{vault}/prompts");
                let mut listing = upstream.send(&ask.another(Method::GET, path.clone())).await;
                entries(&mut listing, |there| {
                    there.retain(|member| member["id"] == prompt["data"]["id"]);
                    gone.with(|gone| gone.entry(path).or_default().append(there));
                });
            }
            upstream.send(&ask).await
        }
    })
}
