//! Faults in pins (VC-25 to VC-30).

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{loose, membership};
use crate::prelude::*;

const PIN: &str = "POST /vaults/*/prompts/*/pin";
const UNPIN: &str = "DELETE /vaults/*/prompts/*/pin";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.pin-answers-prompt" ["VC-25"] whole(PIN, |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        if let Some(entry) = entry_of(&request, &upstream).await {
            response.edit_data(|data| {
                data["vaultPromptId"] = mistaken(&entry["id"], request.id(3));
            });
        }
        response
    }),
        "A pin answers with the prompt's id." },
    fault! { "contents.unpin-answers-old" ["VC-26"] whole(UNPIN, |request, upstream| async move {
        let before = entry_of(&request, &upstream).await;
        let mut response = upstream.send(&request).await;
        if let Some(entry) = before {
            response.edit_data(|data| data["isPinned"] = entry["isPinned"].clone());
        }
        response
    }),
        "An unpin answers with the state before it." },
    fault! { "contents.pin-one-only" ["VC-27"] one_only(),
        "A pin takes the pin of all others away." },
    fault! { "contents.pin-toggles" ["VC-29"] done_as(PIN, true, &[Method::DELETE]),
        "Pinning a pinned prompt unpins it." },
    fault! { "contents.pin-redates" ["VC-29"] done_as(PIN, true, &[Method::DELETE, Method::POST]),
        "Pinning a pinned prompt brings it to the top." },
    fault! { "contents.pin-again-400" ["VC-29"]
        of_entry(PIN, |entry| entry["isPinned"] == true, 400),
        "Pinning a pinned prompt is refused." },
    fault! { "contents.unpin-again-404" ["VC-30"]
        of_entry(UNPIN, |entry| entry["isPinned"] == false, 404),
        "Unpinning what is not pinned answers 404." },
    fault! { "contents.unpin-again-pins" ["VC-30"] done_as(UNPIN, false, &[Method::POST]),
        "Unpinning what is not pinned pins it." },
    fault! { "contents.unpin-to-top" ["VC-28"] unpinned(true),
        "An unpinned prompt counts as added now." },
    fault! { "contents.unpin-to-bottom" ["VC-28"] unpinned(false),
        "An unpinned prompt goes to the end." },
    fault! { "contents.unpin-ignored" ["VC-28"] done_as(UNPIN, true, &[Method::POST]),
        "An unpin is answered and not done." },
];

/// Refuses requests about such a membership.
fn of_entry(routes: &'static str, is_such: fn(&Value) -> bool, code: u16) -> Intercept {
    whole(routes, move |request, upstream| async move {
        if entry_of(&request, &upstream).await.is_some_and(|entry| is_such(&entry)) {
            return Response::refusal(code, "It is so already.");
        }
        upstream.send(&request).await
    })
}

/// One pin at a time, so that one is left also of pins at once.
fn one_only() -> Intercept {
    let turn = Arc::new(Mutex::new(()));
    whole(PIN, move |request, upstream| {
        let turn = Arc::clone(&turn);
        async move {
            let _turn = turn.lock().await;
            let there = listing(&request, &upstream).await;
            for one in there.iter().filter(|one| one["isPinned"] == true) {
                let path = format!("/vaults/{}/prompts/{}/pin", request.id(1), membership(one));
                upstream.delete(&request, path).await;
            }
            upstream.send(&request).await
        }
    })
}

/// What is asked for a membership in such a state is answered, and these are done in its place.
fn done_as(routes: &'static str, pinned: bool, methods: &'static [Method]) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let entry = entry_of(&request, &upstream).await;
        if entry.is_none_or(|entry| entry["isPinned"] != pinned) {
            return upstream.send(&request).await;
        }
        for method in methods {
            upstream.send(&request.another(method.clone(), &*request.path)).await;
        }
        let is_pinned = request.method == Method::POST;
        let data = json!({ "vaultPromptId": request.id(3), "isPinned": is_pinned });
        Response::data(200, &data)
    })
}

async fn listing(request: &Request, upstream: &Upstream) -> Vec<Value> {
    upstream.members(request, request.segment(1)).await
}

/// A number that was taken for another one; where the two are equal, the next one,
/// so that the fault shows in every run.
pub(super) fn mistaken(taken: &Value, right: i64) -> Value {
    let taken = taken.as_i64().unwrap_or_default();
    if taken == right { (taken + 1).into() } else { taken.into() }
}

/// The entry of the vault's listing that the path names.
pub(super) async fn entry_of(request: &Request, upstream: &Upstream) -> Option<Value> {
    listing(request, upstream).await.into_iter().find(|entry| membership(entry) == request.id(3))
}

/// Prompts that were unpinned lose their place.
fn unpinned(to_top: bool) -> Intercept {
    let routes = "GET /vaults/*/prompts, DELETE /vaults/*/prompts/*/pin";
    answers_with(routes, move |done: &mut Vec<i64>, request, response| {
        if request.method == Method::DELETE {
            done.push(request.id(3));
            return;
        }
        let rank = |entry: &Value| {
            let place = done.iter().rposition(|id| *id == membership(entry));
            place.map_or(0, |place| if to_top { -1 - place as i64 } else { 1 })
        };
        loose(response, |loose| loose.sort_by_key(rank));
    })
}

/// A pin is kept with the prompt, and not with the membership.
pub(super) fn everywhere() -> Intercept {
    answers_with("GET /vaults/*/prompts", |pins: &mut Vec<Value>, _, response| {
        response.each(|entry| {
            if entry["isPinned"] == true {
                pins.push(entry["id"].clone());
            }
            entry["isPinned"] = pins.contains(&entry["id"]).into();
        });
    })
}
