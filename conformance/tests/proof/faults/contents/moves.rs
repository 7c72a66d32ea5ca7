//! Faults in moves (VC-17 to VC-24) and in pins (VC-25 to VC-30).

use std::time::Duration;

use super::{loose, membership};
use crate::faults::isolation::of_the_other;
use crate::prelude::*;

const MOVE: &str = "POST /vaults/*/prompts/*/move";
const PIN: &str = "POST /vaults/*/prompts/*/pin";
const UNPIN: &str = "DELETE /vaults/*/prompts/*/pin";

#[rustfmt::skip]
pub(in crate::faults) const ALL: &[Fault] = &[
    // A move answers with source and target swapped.
    fault! { "contents.move-answers-swapped" ["VC-18"] edits_data(MOVE, |data| {
        let source = data["sourceVaultId"].take();
        data["sourceVaultId"] = data["targetVaultId"].take();
        data["targetVaultId"] = source;
    }) },
    // A move answers with the old membership.
    fault! { "contents.move-answers-old" ["VC-19"] answers(MOVE, |request, response| {
        response.edit_data(|data| data["vaultPromptId"] = request.id(3).into());
    }) },
    // A move leaves the prompt in the source.
    fault! { "contents.move-copies" ["VC-20"] moves(|it| async move {
        if it.may_be_halved().await { it.told(it.save(it.target).await) } else { it.done().await }
    }) },
    // A move takes the prompt out of all other vaults.
    fault! { "contents.move-all" ["VC-20"] moves(|it| async move {
        let moved = it.done().await;
        if moved.is_success() {
            it.upstream.take_out(&it.request, &it.entry["id"], |vault| vault != it.target).await;
        }
        moved
    }) },
    // A move to no vault of the caller's is refused, and the prompt is gone.
    fault! { "contents.move-loses" ["VC-24"] moves(|it| async move {
        let moved = it.done().await;
        if !moved.is_success() && it.target > 0 {
            it.remove(it.source(), it.request.id(3)).await;
        }
        moved
    }) },
    // A move to no vault of the caller's is answered 200.
    fault! { "contents.move-claims" ["VC-24"] moves(|it| async move {
        let moved = it.done().await;
        let claims = !moved.is_success() && it.target > 0 && it.entry.is_object();
        if claims { it.told(it.request.id(3)) } else { moved }
    }) },
    // For a moment of a move the prompt is in neither vault.
    fault! { "contents.move-gap" ["VC-21"] moves(|it| async move {
        if !it.may_be_halved().await {
            return it.done().await;
        }
        it.remove(it.source(), it.request.id(3)).await;
        tokio::time::sleep(BETWEEN_HALVES).await;
        it.told(it.save(it.target).await)
    }) },
    // For a moment of a move the prompt is in both vaults.
    fault! { "contents.move-overlap" ["VC-21"] moves(|it| async move {
        if !it.may_be_halved().await {
            return it.done().await;
        }
        let told = it.told(it.save(it.target).await);
        tokio::time::sleep(BETWEEN_HALVES).await;
        it.remove(it.source(), it.request.id(3)).await;
        told
    }) },
    // A move within one vault takes the prompt out of it.
    fault! { "contents.move-within" ["VC-21"] moves(|it| async move {
        let moved = it.done().await;
        if it.within() {
            it.remove(it.target, member(&moved)).await;
        }
        moved
    }) },
    // Whoever knows the ids takes a prompt out of a foreign vault.
    fault! { "contents.move-foreign-source" ["VC-23"] moves(|it| async move {
        let (moved, path) = (it.done().await, it.request.path.trim_end_matches("/move"));
        let taken = it.upstream.delete(&of_the_other(&it.request), path).await;
        if taken.is_success() { it.told(it.request.id(3)) } else { moved }
    }) },
    // An unpin answers with the state before it.
    fault! { "contents.unpin-answers-old" ["VC-26"] whole(UNPIN, |request, upstream| async move {
        let before = entry_of(&request, &upstream).await;
        let mut response = upstream.send(&request).await;
        if let Some(entry) = before {
            response.edit_data(|data| data["isPinned"] = entry["isPinned"].clone());
        }
        response
    }) },
    fault! { "contents.pin-toggles" ["VC-29"] done_as(PIN, true, &[Method::DELETE]) },
    fault! { "contents.pin-redates" ["VC-29"] done_as(PIN, true, &[Method::DELETE, Method::POST]) },
    fault! { "contents.unpin-again-404" ["VC-30"]
        of_entry(UNPIN, |entry| entry["isPinned"] == false, 404) },
    fault! { "contents.unpin-again-pins" ["VC-30"] done_as(UNPIN, false, &[Method::POST]) },
    fault! { "contents.unpin-to-bottom" ["VC-28"] unpinned(false) },
    fault! { "contents.unpin-ignored" ["VC-28"] done_as(UNPIN, true, &[Method::POST]) },
];

/// Long enough for whoever looks all the time, short enough to be done 40 times.
const BETWEEN_HALVES: Duration = Duration::from_millis(25);

/// A move that is asked for.
struct Move {
    request: Request,
    upstream: Upstream,
    /// As the source lists it before, or null.
    entry: Value,
    target: i64,
}

fn moves<F>(run: impl Fn(Move) -> F + Copy + Send + Sync + 'static) -> Intercept
where
    F: Future<Output = Response> + Send + 'static,
{
    whole(MOVE, move |request, upstream| async move {
        let entry = entry_of(&request, &upstream).await.unwrap_or_default();
        let target = request.json()["targetVaultId"].as_i64().unwrap_or_default();
        run(Move { request, upstream, entry, target }).await
    })
}

/// The membership that a move answers with.
fn member(moved: &Response) -> i64 {
    moved.json()["data"]["vaultPromptId"].as_i64().unwrap_or_default()
}

impl Move {
    fn source(&self) -> i64 {
        self.request.id(1)
    }

    fn within(&self) -> bool {
        self.source() == self.target
    }

    async fn done(&self) -> Response {
        self.upstream.send(&self.request).await
    }

    /// Whether it is a good one between two vaults.
    async fn may_be_halved(&self) -> bool {
        let target = self.upstream.get(&self.request, format!("/vaults/{}", self.target)).await;
        target.is_success() && self.entry.is_object() && !self.within()
    }

    async fn remove(&self, vault: i64, member: i64) {
        self.upstream.delete(&self.request, format!("/vaults/{vault}/prompts/{member}")).await;
    }

    /// Puts the prompt into a vault as a save does; its membership there.
    async fn save(&self, vault: i64) -> i64 {
        let path = format!("/prompts/{}/save", self.entry["id"]);
        self.upstream.post(&self.request, path, &json!({ "vaultId": vault })).await;
        let there = self.upstream.members(&self.request, vault).await;
        let saved = there.iter().find(|one| one["id"] == self.entry["id"]);
        saved.map(membership).unwrap_or_default()
    }

    /// The answer of a move that gave the prompt this membership.
    fn told(&self, member: i64) -> Response {
        let (source, target, prompt) = (self.source(), self.target, &self.entry["id"]);
        let ids = json!({ "sourceVaultId": source, "targetVaultId": target, "promptId": prompt });
        let mut told = Response::data(200, &ids);
        told.edit_data(|data| data["vaultPromptId"] = member.into());
        told
    }
}

/// Refuses requests about such a membership.
fn of_entry(routes: &'static str, is_such: fn(&Value) -> bool, code: u16) -> Intercept {
    whole(routes, move |request, upstream| async move {
        if entry_of(&request, &upstream).await.is_some_and(|entry| is_such(&entry)) {
            return Response::refusal(code, "It is so already.");
        }
        upstream.send(&request).await
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
