//! Faults in what a read shows of what was stored, and to whom.

use std::collections::HashSet;

use http::Method;
use serde_json::{Value, json};

use crate::bounds::shown_as;
use crate::entries::{list_of, without};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, refused, whole, whole_with};
use crate::keys::READ_ONLY;
use crate::shared::Shared;

use super::{CREATE, UPDATE};

const READ: &str = "GET /prompts/*";
/// How far the next one may be: others make prompts at the same time.
const NEXT: i64 = 60;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.text-cut" ["PR-02"] shown_as(READ, "prompt", |text| {
        Some(text.as_str()?.chars().take(14).collect::<String>().into())
    }),
        "A read shows the first 14 characters of a text." },
    fault! { "prompts.title-of-the-next" ["PR-30"] whole(READ, |ask, upstream| async move {
        let mut answer = upstream.send(&ask).await;
        let title = answer.json()["data"]["title"].as_str().map(str::to_owned);
        for id in (1..NEXT).map(|step| ask.id(1).saturating_add(step)) {
            let next = ask.another(Method::GET, format!("/prompts/{id}"));
            let next = upstream.send(&next).await.json()["data"]["title"].take();
            if next
                .as_str()
                .is_some_and(|next| title.as_deref().is_some_and(|own| alike(own, next)))
            {
                answer.edit_data(|prompt| prompt["title"] = next);
                break;
            }
        }
        answer
    }),
        "A prompt is read with the title of the next one that has a like title." },
    fault! { "prompts.read-needs-scope" ["AU-01"]
        refused(READ, 401, |ask| ask.authorization().ends_with(READ_ONLY)),
        "A key that may only read does not read a prompt." },
    fault! { "prompts.read-with-query" ["PR-30"] refused(READ, 400, |ask| ask.query.is_some()),
        "A read with a query is refused." },
    fault! { "prompts.patch-answers-part" ["PR-31"] answers(UPDATE, |ask, answer| {
        if ask.text("title").is_some() {
            answer.edit_data(|prompt| without(prompt, "images"));
        }
    }),
        "An update of the title answers without the images." },
    fault! { "prompts.created-before-updated" ["PR-09"] shown_as(CREATE, "updatedAt", |time| {
        let later = time.as_str()?.replacen(".", ".9", 1);
        Some(later.chars().take(26).chain(['Z']).collect::<String>().into())
    }),
        "A new prompt was updated a moment after it was made." },
    fault! { "prompts.save-adds-nothing" ["PR-44"]
        whole("POST /prompts/*/save", |ask, upstream| async move {
            let vault = ask.json()["vaultId"].as_i64().unwrap_or_default();
            let path = format!("/vaults/{vault}/prompts");
            let before = upstream.get(&ask, path.clone()).await;
            let answer = upstream.send(&ask).await;
            if before.json()["data"] == json!([]) && answer.is_success() {
                let entries = upstream.get(&ask, path.clone()).await.json();
                let membership = &entries["data"][0]["vaultPromptId"];
                upstream.delete(&ask, format!("{path}/{membership}")).await;
            }
            answer
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
    whole_with(routes, |ask, upstream, twice: Shared<HashSet<(i64, i64)>>| async move {
        let prompt = ask.id(1);
        if ask.method == Method::POST {
            let vault = ask.json()["vaultId"].as_i64().unwrap_or_default();
            let before = upstream.get(&ask, format!("/prompts/{prompt}")).await.json();
            let answer = upstream.send(&ask).await;
            let vaults = before["data"]["vaultIds"].as_array().cloned().unwrap_or_default();
            if vaults.contains(&vault.into()) && answer.is_success() {
                twice.with(|twice| twice.insert((prompt, vault)));
            }
            return answer;
        }
        let mut answer = upstream.send(&ask).await;
        answer.edit_data(|shown| {
            let again = |vault: &i64| twice.with(|twice| twice.contains(&(prompt, *vault)));
            if let Some(ids) = list_of(shown, "vaultIds") {
                let more: Vec<_> = ids.iter().filter_map(Value::as_i64).filter(again).collect();
                ids.extend(more.into_iter().map(Value::from));
            }
        });
        answer
    })
}
