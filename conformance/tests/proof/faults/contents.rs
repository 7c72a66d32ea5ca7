//! Faults in the contents of vaults (VC, LI-08): listings, adding and removing.

pub(super) mod moves;

use self::moves::entry_of;
use crate::faults::prompts::leaves_others;
use crate::prelude::*;

const LISTING: &str = "GET /vaults/*/prompts";
const ADD: &str = "POST /vaults/*/prompts";
const MEMBERSHIP: &str = "* /vaults/*/prompts/*, * /vaults/*/prompts/*/*";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "contents.pinned-flag" ["VC-06"]
        edits_each(LISTING, |entry| entry["isPinned"] = false.into()) },
    fault! { "contents.pinned-everywhere" ["VC-06"] moves::everywhere() },
    // vaultIds of an entry names the listed vault alone.
    fault! { "contents.entries-one-vault" ["VC-04"] answers(LISTING, |request, response| {
        let vault = request.id(1);
        response.each(|entry| entry["vaultIds"] = vec![vault].into());
    }) },
    // The listing of an empty vault is null.
    fault! { "contents.empty-null" ["VC-04"] edits_data(LISTING, |data| {
        if data.as_array().is_some_and(Vec::is_empty) {
            *data = Value::Null;
        }
    }) },
    fault! { "contents.listing-100" ["VC-05"]
        edits_entries(LISTING, |members| members.truncate(100)) },
    // A listing takes a limit.
    fault! { "contents.listing-limit" ["VC-05"] answers(LISTING, |request, response| {
        if let Some(limit) = request.parameter("limit").and_then(|limit| limit.parse().ok()) {
            entries(response, |members| members.truncate(limit));
        }
    }) },
    fault! { "contents.oldest-first" ["VC-09"]
        answers(LISTING, |_, response| loose(response, <[serde_json::Value]>::reverse)) },
    // A listing goes by the prompts' titles.
    fault! { "contents.by-title" ["VC-09"] answers(LISTING, |_, response| {
        loose(response, |loose| loose.sort_by_key(|entry| text(entry, "title").to_owned()));
    }) },
    fault! { "contents.pins-among-others" ["VC-07"]
        edits_entries(LISTING, |members| members.sort_by_key(|entry| Reverse(membership(entry)))) },
    fault! { "contents.pins-last" ["VC-07"]
        edits_entries(LISTING, |members| members.sort_by_key(|entry| entry["isPinned"] == true)) },
    // Pinned prompts go by the date they were added.
    fault! { "contents.pins-by-adding" ["VC-08"] answers(LISTING, |_, response| {
        pinned(response, |pinned| pinned.sort_by_key(|entry| Reverse(membership(entry))));
    }) },
    fault! { "contents.pins-oldest-first" ["VC-08"]
        answers(LISTING, |_, response| pinned(response, <[serde_json::Value]>::reverse)) },
    // promptIds with 50 entries is refused.
    fault! { "contents.add-50" ["LI-08"] value_refused(ADD, "promptIds", |ids| {
        ids.as_array().is_some_and(|ids| ids.len() > 49)
    }) },
    // added is the list of the ids.
    fault! { "contents.add-answers-list" ["VC-11"] answers(ADD, |request, response| {
        let ids = request.json()["promptIds"].clone();
        response.edit_data(|data| data["added"] = ids);
    }) },
    // added counts prompts that were there already.
    fault! { "contents.add-counts-sent" ["VC-11"] answers(ADD, |request, response| {
        let sent = request.json()["promptIds"].as_array().map_or(0, Vec::len);
        response.edit_data(|data| data["added"] = sent.into());
    }) },
    // Ids that cannot be added are passed over with 201.
    fault! { "contents.add-passes-over" ["VC-14"] whole(ADD, |request, upstream| async move {
        let known = known(&request, &upstream).await;
        match known.len() {
            0 if asked(&request) > 0 => added_none(&request, &upstream).await,
            some if some < asked(&request) => {
                let body = json!({ "promptIds": known });
                upstream.send(&request.another_with(Method::POST, &*request.path, &body)).await
            }
            _ => upstream.send(&request).await,
        }
    }) },
    fault! { "contents.add-again-new" ["VC-03"] and_takes_out(|other, vault| other == vault) },
    fault! { "contents.add-takes-away" ["VC-02"] and_takes_out(|other, vault| other != vault) },
    fault! { "contents.save-takes-away" ["VC-03"] whole("POST /prompts/*/save", leaves_others) },
    fault! { "contents.add-200" ["VC-10"] status_instead(ADD, 200) },
    // A removal deletes a prompt that is in no other vault.
    fault! { "contents.remove-deletes" ["VC-16"] and_then(|it| async move {
        if ids_of(&it.entry, "vaultIds").len() == 1 {
            it.upstream.delete(&it.request, format!("/prompts/{}", it.entry["id"])).await;
        }
    }) },
    // A removal takes the prompt out of all vaults.
    fault! { "contents.remove-everywhere" ["VC-16"] and_then(|it| async move {
        it.upstream.take_out(&it.request, &it.entry["id"], |_| true).await;
    }) },
    // A removal unpins the other prompts of the vault.
    fault! { "contents.remove-neighbour" ["VC-16"] and_then(|it| async move {
        let there = it.upstream.members(&it.request, it.request.id(1)).await;
        for one in there.iter().filter(|one| one["isPinned"] == true) {
            let path = format!("/vaults/{}/prompts/{}/pin", it.request.id(1), one["vaultPromptId"]);
            it.upstream.delete(&it.request, path).await;
        }
    }) },
    // A removal answers deleted in place of removed.
    fault! { "contents.remove-deleted" ["VC-15"] answers(REMOVE, |request, response| {
        response.edit_data(|data| {
            *data = json!({ "vaultPromptId": request.id(3), "deleted": true });
        });
    }) },
    // Remove, move and pin take the prompt's id too.
    fault! { "contents.prompt-id-named" ["VC-01"] whole(MEMBERSHIP, |mut request, upstream| async move {
        let there = upstream.members(&request, request.id(1)).await;
        let by_prompt = there.iter().find(|one| one["id"] == request.id(3));
        let held = there.iter().any(|one| membership(one) == request.id(3));
        if let Some(one) = by_prompt.filter(|_| !held) {
            at(&mut request, &one["vaultPromptId"], 3);
        }
        upstream.send(&request).await
    }) },
];

fn membership(entry: &Value) -> i64 {
    entry["vaultPromptId"].as_i64().unwrap_or_default()
}

/// Changes the part that is not pinned.
pub(super) fn loose(response: &mut Response, change: impl FnOnce(&mut [Value])) {
    entries(response, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[pinned..]);
    });
}

/// Changes the pinned part.
fn pinned(response: &mut Response, change: impl FnOnce(&mut [Value])) {
    entries(response, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[..pinned]);
    });
}

/// How many whole numbers `promptIds` has.
fn asked(request: &Request) -> usize {
    ids(request).len()
}

fn ids(request: &Request) -> Vec<i64> {
    let body = request.json();
    let ids = body["promptIds"].as_array().cloned().unwrap_or_default();
    let numbers: Option<Vec<_>> = ids.iter().map(Value::as_i64).collect();
    numbers.filter(|numbers| numbers.len() <= 50).unwrap_or_default()
}

/// Those that are prompts of the good.caller.
async fn known(request: &Request, upstream: &Upstream) -> Vec<i64> {
    let mut known = Vec::new();
    for id in ids(request) {
        let prompt = upstream.get(request, format!("/prompts/{id}")).await;
        if prompt.is_success() {
            known.push(id);
        }
    }
    known
}

/// The answer for nothing, if the vault is there.
async fn added_none(request: &Request, upstream: &Upstream) -> Response {
    let vault = upstream.get(request, format!("/vaults/{}", request.segment(1))).await;
    if !vault.is_success() {
        return vault;
    }
    let count = &vault.json()["data"]["promptCount"];
    Response::data(201, &json!({ "added": 0, "vaultId": request.id(1), "promptCount": count }))
}

/// What was added is taken out of such vaults, and then added again.
fn and_takes_out(from: fn(i64, i64) -> bool) -> Intercept {
    whole(ADD, move |request, upstream| async move {
        let (added, vault) = (upstream.send(&request).await, request.id(1));
        for id in ids(&request).into_iter().filter(|_| added.is_success()) {
            upstream.take_out(&request, &id.into(), |other| from(other, vault)).await;
        }
        if added.is_success() {
            upstream.send(&request).await;
        }
        added
    })
}

/// A removal that was done.
struct Removal {
    request: Request,
    upstream: Upstream,
    entry: Value,
}

/// Does something more after each removal.
fn and_then<F>(more: impl Fn(Removal) -> F + Copy + Send + Sync + 'static) -> Intercept
where
    F: Future<Output = ()> + Send + 'static,
{
    whole(REMOVE, move |request, upstream| async move {
        let entry = entry_of(&request, &upstream).await;
        let response = upstream.send(&request).await;
        if let Some(entry) = entry.filter(|_| response.is_success()) {
            more(Removal { request, upstream, entry }).await;
        }
        response
    })
}

/// Puts another id at a place of the path.
fn at(request: &mut Request, id: &Value, place: usize) {
    let mut parts: Vec<_> = request.path.split('/').map(str::to_owned).collect();
    parts[place + 1] = id.to_string();
    request.path = parts.join("/");
}
