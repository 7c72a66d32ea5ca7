//! Faults in what a read shows of what was stored, and to whom.

use std::collections::HashSet;

use http::Method;
use serde_json::{Value, json};

use crate::bounds::shown_as;
use crate::entries::list_of;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{refused, whole, whole_with};
use crate::keys::READ_ONLY;
use crate::shared::Shared;

use super::CREATE;

const READ: &str = "GET /prompts/*";
/// How far the next one may be: others make prompts at the same time.
const NEXT: i64 = 60;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.text-cut" ["PR-02"] shown_as(READ, "prompt", |text| {
        Some(text.as_str()?.chars().take(14).collect::<String>().into())
    }),
        "A read shows the first 14 characters of a text." },
    fault! { "prompts.title-of-the-next" ["PR-30"] whole(READ, |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        let title = response.json()["data"]["title"].as_str().map(str::to_owned);
        for id in (1..NEXT).map(|step| request.id(1).saturating_add(step)) {
            let next = request.another(Method::GET, format!("/prompts/{id}"));
            let next = upstream.send(&next).await.json()["data"]["title"].take();
            if next
                .as_str()
                .is_some_and(|next| title.as_deref().is_some_and(|own| alike(own, next)))
            {
                response.edit_data(|prompt| prompt["title"] = next);
                break;
            }
        }
        response
    }),
        "A prompt is read with the title of the next one that has a like title." },
    fault! { "prompts.read-needs-scope" ["AU-01"]
        refused(READ, 401, |request| request.authorization().ends_with(READ_ONLY)),
        "A key that may only read does not read a prompt." },
    fault! { "prompts.read-with-query" ["PR-30"] refused(READ, 400, |request| request.query.is_some()),
        "A read with a query is refused." },
    fault! { "prompts.created-before-updated" ["PR-09"] shown_as(CREATE, "updatedAt", |time| {
        let later = time.as_str()?.replacen(".", ".9", 1);
        Some(later.chars().take(26).chain(['Z']).collect::<String>().into())
    }),
        "A new prompt was updated a moment after it was made." },
    fault! { "prompts.save-adds-nothing" ["PR-44"]
        whole("POST /prompts/*/save", |request, upstream| async move {
            let vault = request.json()["vaultId"].as_i64().unwrap_or_default();
            let path = format!("/vaults/{vault}/prompts");
            let before = upstream.get(&request, path.clone()).await;
            let response = upstream.send(&request).await;
            if before.json()["data"] == json!([]) && response.is_success() {
                let entries = upstream.get(&request, path.clone()).await.json();
                let membership = &entries["data"][0]["vaultPromptId"];
                upstream.delete(&request, format!("{path}/{membership}")).await;
            }
            response
        }),
        "A save into an empty vault is answered, and not done." },
    fault! { "prompts.put-twice" ["PR-08"] put_twice(),
        "A prompt that is put into its vault again has the vault twice in vaultIds." },
];

/// Whether two titles have the same word before their last one.
fn alike(own: &str, other: &str) -> bool {
    let word = |title: &str| title.rsplit(' ').nth(1).map(str::to_owned);
    word(own).is_some() && word(own) == word(other)
}

/// Remembers which prompt was put into which vault more than once.
fn put_twice() -> Intercept {
    let routes = "POST /prompts/*/save, GET /prompts/*";
    whole_with(routes, |request, upstream, twice: Shared<HashSet<(i64, i64)>>| async move {
        let prompt = request.id(1);
        if request.method == Method::POST {
            let vault = request.json()["vaultId"].as_i64().unwrap_or_default();
            let before = upstream.get(&request, format!("/prompts/{prompt}")).await.json();
            let response = upstream.send(&request).await;
            let vaults = before["data"]["vaultIds"].as_array().cloned().unwrap_or_default();
            if vaults.contains(&vault.into()) && response.is_success() {
                twice.with(|twice| twice.insert((prompt, vault)));
            }
            return response;
        }
        let mut response = upstream.send(&request).await;
        response.edit_data(|shown| {
            let again = |vault: &i64| twice.with(|twice| twice.contains(&(prompt, *vault)));
            if let Some(ids) = list_of(shown, "vaultIds") {
                let more: Vec<_> = ids.iter().filter_map(Value::as_i64).filter(again).collect();
                ids.extend(more.into_iter().map(Value::from));
            }
        });
        response
    })
}
