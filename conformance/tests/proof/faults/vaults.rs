//! Faults in vaults (VA, LI-06, LI-07): what comes in, what is shown, counts and deletion.

pub(super) mod forks;

use std::iter::repeat_n;

use crate::faults::prompts::lists::{kept, listed_on};
use crate::prelude::*;

const UPDATE: &str = "PATCH /vaults/*";
const SHOWN: &str = "POST /vaults, GET /vaults/*, PATCH /vaults/*";
const READ: &str = "GET /vaults/*";
const LIST: &str = "GET /vaults";
const DELETE: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "vaults.null-kept" ["VA-25"]
        ignored_if("PATCH /vaults/*", "description", Value::is_null) },
    // An update that leaves the description out clears it.
    fault! { "vaults.patch-clears" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("name").is_some() && body.get("description").is_none() {
            body["description"] = Value::Null;
        }
    }) },
    // An update that leaves the visibility out makes the vault private.
    fault! { "vaults.patch-hides" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("description").is_some() && body.get("visibility").is_none() {
            body["visibility"] = "private".into();
        }
    }) },
    // An update with a name takes no other field.
    fault! { "vaults.patch-first-field" ["VA-24"] edits("PATCH /vaults/*", |body| {
        if body["name"].as_str().is_some_and(|name| !name.is_empty()) {
            without(body, "visibility");
        }
    }) },
    // An update answers with the vault before it.
    fault! { "vaults.patch-answers-old" ["VA-22"]
        whole("PATCH /vaults/*", |request, upstream| async move {
            let before = upstream.get(&request, &*request.path).await;
            let response = upstream.send(&request).await;
            if response.is_success() { before } else { response }
        }) },
    fault! { "vaults.visible-by-default" ["VA-19"]
        defaulted("POST /vaults", "visibility", "unlisted") },
    // An unknown visibility of a create is private.
    fault! { "vaults.visibility-private" ["VA-20"]
        taken_as("POST /vaults", "visibility", |visibility| {
        unknown(visibility.as_str()?).then(|| "private".into())
    }) },
    // The slug is made from the first name, and a rename leaves it.
    fault! { "vaults.slug-first" ["VA-04"] {
        answers_with(SHOWN, move |firsts: &mut HashMap<i64, Value>, _, response| {
            let id = response.id();
            response.edit_data(|vault| {
                let slug = vault["slug"].clone();
                vault["slug"] = firsts.entry(id).or_insert(slug).clone();
            });
        })
    } },
    fault! { "vaults.general-named" ["VA-12"] of_general(|request| refuses(request, "name")) },
    // A vault without a description has no such key.
    fault! { "vaults.description-key" ["VA-03"] edits_data("GET /vaults/*", |vault| {
        if vault["description"].is_null() {
            without(vault, "description");
        }
    }) },
    fault! { in "vaults.slug." "vaults.slug-same" ["VA-04"]
        edits_each("GET /vaults/*, POST /vaults", |vault| vault["slug"] = "vault".into()) },
    fault! { "vaults.slug-name" ["VA-04"]
        edits_data("GET /vaults/*, POST /vaults", |vault| vault["slug"] = vault["name"].clone()) },
    // A vault whose name has no letters has a slug of null.
    fault! { "vaults.slug-null" ["VA-04"]
        edits_each("GET /vaults/*, POST /vaults, GET /vaults", |vault| {
            let name = vault["name"].as_str().unwrap_or_default();
            if !name.contains(|c: char| c.is_ascii_alphanumeric()) {
                vault["slug"] = Value::Null;
            }
        }) },
    fault! { "vaults.id-text" ["VA-01"] shown_as("GET /vaults/*", "id", as_text) },
    fault! { "vaults.visibility-word" ["VA-13"]
        shown_as("GET /vaults", "visibility", |word| Some(word.as_str()?.to_uppercase().into())) },
    // A vault is read without the last character of its name.
    fault! { "vaults.name-cut" ["VA-02"] shown_as(READ, "name", |name| {
        let mut name = name.as_str()?.to_owned();
        name.pop().map(|_| name.into())
    }) },
    // A vault that was never updated is read with the updatedAt null.
    fault! { "vaults.not-updated-yet" ["VA-11"] edits_data(READ, |vault| {
        if vault["updatedAt"] == vault["createdAt"] {
            vault["updatedAt"] = Value::Null;
        }
    }) },
    fault! { "vaults.count-from-one" ["VA-10"]
        shown_as(READ, "promptCount", |count| (*count == 0).then(|| 1.into())) },
    fault! { "vaults.list-oldest-first" ["VA-14"] edits_entries(LIST, |vaults| vaults.reverse()) },
    // Vaults of the same hour go by their ids.
    fault! { "vaults.list-ties" ["VA-14"] edits_entries(LIST, |vaults| {
        // An hour, as two vaults that are made one after the other are seldom of two.
        let hour = |vault: &Value| text(vault, "createdAt").chars().take(13).collect();
        vaults.sort_by_key(|vault| (Reverse::<String>(hour(vault)), vault["id"].as_i64()));
    }) },
    // The list has a pagination.
    fault! { "vaults.list-paginated" ["VA-15"]
        edits_answer(LIST, |body| body["pagination"] = json!({ "nextCursor": null })) },
    fault! { "vaults.list-100" ["VA-15"] edits_entries(LIST, |vaults| vaults.truncate(100)) },
    fault! { "vaults.list-no-system" ["VA-13"]
        edits_entries(LIST, |vaults| vaults.retain(|vault| vault["isSystem"] == false)) },
    fault! { "vaults.list-no-unlisted" ["VA-13"]
        edits_entries(LIST, |vaults| vaults.retain(|vault| vault["visibility"] != "unlisted")) },
    // The list has a vault once for each of its prompts.
    fault! { "vaults.list-joined" ["VA-13"] edits_entries(LIST, |vaults| {
        let times = |vault: &Value| vault["promptCount"].as_u64().unwrap_or(1).clamp(1, 9);
        let joined = vaults
            .iter()
            .flat_map(|vault| repeat_n(vault.clone(), usize::try_from(times(vault)).unwrap_or(1)));
        *vaults = joined.collect();
    }) },
    // The list takes a limit.
    fault! { "vaults.list-limit" ["VA-15"] answers(LIST, |request, response| {
        if let Some(limit) = request.parameter("limit").and_then(|limit| limit.parse().ok()) {
            entries(response, |vaults| vaults.truncate(limit));
        }
    }) },
    fault! { "vaults.count-removed" ["VA-10"]
        off("GET /vaults, GET /vaults/*, DELETE /vaults/*/prompts/*", |request, _| (request.id(1), 1)) },
    // A save leaves the vault's count.
    fault! { "vaults.count-saved" ["VA-10"]
        off("GET /vaults, GET /vaults/*, POST /prompts/*/save", |request, _| {
            (request.json()["vaultId"].as_i64().unwrap_or_default(), -1)
        }) },
    fault! { "vaults.count-listed" ["VA-10"]
        shown_as("GET /vaults", "promptCount", |count| Some((count.as_i64()? - 1).max(0).into())) },
    fault! { "vaults.count-alone" ["VA-10"]
        shown_as("GET /vaults/*", "promptCount", |count| Some(count.as_i64()?.min(2).into())) },
    fault! { "vaults.deleted-flag" ["VA-26"] edits_data(DELETE, |data| without(data, "deleted")) },
    // A fork of a deleted vault is a new vault without prompts.
    fault! { in "ids.deleted.fork-vault" "vaults.deleted-forked" ["ER-09"]
        whole("POST /vaults/*/fork", |request, upstream| async move {
            let response = upstream.send(&request).await;
            let name = json!({ "name": "Fork" });
            if response.is_success() { response } else { upstream.post(&request, "/vaults", &name).await }
        }) },
    fault! { "vaults.deleted-read" ["VA-27"] kept("GET /vaults/*, DELETE /vaults/*") },
    fault! { "vaults.deleted-listed" ["VA-27"] listed_on("GET /vaults, DELETE /vaults/*", |_, _| true) },
    fault! { "vaults.deletes-prompts" ["VA-28"] takes_along(|_| true) },
    fault! { "vaults.deletes-orphans" ["VA-28"] takes_along(|one| ids_of(one, "vaultIds").len() == 1) },
];

fn unknown(visibility: &str) -> bool {
    !["private", "unlisted", "public"].contains(&visibility)
}

fn refuses(request: &Request, field: &str) -> Option<Response> {
    request.json().get(field).map(|_| refusal(field))
}

/// Changes updates of the system vault, or answers them.
fn of_general(change: fn(&mut Request) -> Option<Response>) -> Intercept {
    whole(UPDATE, move |mut request, upstream| async move {
        let vault = upstream.get(&request, &*request.path).await;
        let system = vault.json()["data"]["isSystem"] == true;
        match system.then(|| change(&mut request)).flatten() {
            Some(response) => response,
            None => upstream.send(&request).await,
        }
    })
}

/// Each success of the last route adds to the count that a vault is shown with.
fn off(routes: &'static str, by: fn(&Request, &Response) -> (i64, i64)) -> Intercept {
    answers_with(routes, move |off: &mut HashMap<i64, i64>, request, response| {
        if request.method != Method::GET {
            if response.is_success() {
                let (vault, by) = by(request, response);
                *off.entry(vault).or_default() += by;
            }
            return;
        }
        response.each(|vault| {
            let off = vault["id"].as_i64().and_then(|id| off.get(&id)).copied();
            if let (Some(off), Some(count)) = (off, vault["promptCount"].as_i64()) {
                vault["promptCount"] = json!(count + off);
            }
        });
    })
}

/// Deletes such prompts with their vault.
fn takes_along(such: fn(&Value) -> bool) -> Intercept {
    whole(DELETE, move |request, upstream| async move {
        let there = upstream.members(&request, request.id(1)).await;
        let response = upstream.send(&request).await;
        for one in there.iter().filter(|one| response.is_success() && such(one)) {
            upstream.delete(&request, format!("/prompts/{}", one["id"])).await;
        }
        response
    })
}
