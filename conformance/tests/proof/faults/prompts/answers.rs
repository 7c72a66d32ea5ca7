//! Faults in what an answer shows of a prompt, and to whom.

use super::CREATE;
use crate::keys::READ_ONLY;
use crate::prelude::*;

const READ: &str = "GET /prompts/*";
/// How far the next one may be: others make prompts at the same time.
const NEXT: i64 = 60;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.title-trimmed" ["PR-02"] taken_as("POST /prompts", "title", trimmed),
        "A create trims the title." },
    fault! { "prompts.text-trimmed" ["PR-02"] taken_as("PATCH /prompts/*", "prompt", trimmed),
        "An update drops a line break at the end of the text." },
    fault! { "prompts.type-upper-case" ["PR-03"]
        shown_as("GET /prompts", "promptType", |kind| Some(kind.as_str()?.to_uppercase().into())),
        "The list shows the promptType in capitals." },
    fault! { "prompts.platform-missing" ["PR-04"] edits_data("GET /prompts/*", |prompt| {
        if prompt["platform"].is_null() {
            without(prompt, "platform");
        }
    }),
        "A prompt without platform lacks the key." },
    fault! { "prompts.first-vault-only" ["PR-08"] edits_data("GET /prompts/*", |prompt| {
        if let Some(vaults) = list_of(prompt, "vaultIds") {
            vaults.truncate(1);
        }
    }),
        "vaultIds names the first vault of a prompt only." },
    fault! { "prompts.updated-at-stays" ["PR-10"]
        edits_data("GET /prompts/*, PATCH /prompts/*", |prompt| {
            prompt["updatedAt"] = prompt["createdAt"].clone();
        }),
        "updatedAt is the time of creation for ever." },
    fault! { "prompts.pin-everywhere" ["PR-11"]
        edits_data("GET /prompts/*", |prompt| prompt["isPinned"] = false.into()),
        "A read shows isPinned." },
    fault! { "prompts.delete-204" ["PR-40"] no_content("DELETE /prompts/*"),
        "A delete answers 204 without a body." },
    fault! { "prompts.image-size-as-text" ["PR-07"]
        edits_each("GET /prompts/*, GET /vaults/*/prompts", |prompt| {
            for image in list_of(prompt, "images").into_iter().flatten() {
                image["width"] = image["width"].to_string().into();
            }
        }),
        "The width of an image is a string." },
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
];

fn trimmed(text: &Value) -> Option<Value> {
    Some(text.as_str()?.trim().into())
}

/// Whether two titles have the same word before their last one.
fn alike(own: &str, other: &str) -> bool {
    let word = |title: &str| title.rsplit(' ').nth(1).map(str::to_owned);
    word(own).is_some() && word(own) == word(other)
}
