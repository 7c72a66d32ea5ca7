//! Faults in moves (VC-17 to VC-24).

use std::time::Duration;

use super::membership;
use super::pins::entry_of;
use crate::faults::isolation::of_the_other;
use crate::prelude::*;

const MOVE: &str = "POST /vaults/*/prompts/*/move";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.move-answers-swapped" ["VC-18"] edits_data(MOVE, |data| {
        let source = data["sourceVaultId"].take();
        data["sourceVaultId"] = data["targetVaultId"].take();
        data["targetVaultId"] = source;
    }),
        "A move answers with source and target swapped." },
    fault! { "contents.move-answers-old" ["VC-19"] answers(MOVE, |request, response| {
        response.edit_data(|data| data["vaultPromptId"] = request.id(3).into());
    }),
        "A move answers with the old membership." },
    fault! { "contents.move-copies" ["VC-20"] moves(|it| async move {
        if it.may_be_halved().await { it.told(it.save(it.target).await) } else { it.done().await }
    }),
        "A move leaves the prompt in the source." },
    fault! { "contents.move-pins" ["VC-20"] moves(|it| async move {
        let moved = it.done().await;
        if it.entry["isPinned"] == true && moved.is_success() {
            let path = format!("/vaults/{}/prompts/{}/pin", it.target, member(&moved));
            it.upstream.send(&it.request.another(Method::POST, path)).await;
        }
        moved
    }),
        "A move of a pinned prompt keeps the pin." },
    fault! { "contents.move-all" ["VC-20"] moves(|it| async move {
        let moved = it.done().await;
        if moved.is_success() {
            it.upstream.take_out(&it.request, &it.entry["id"], |vault| vault != it.target).await;
        }
        moved
    }),
        "A move takes the prompt out of all other vaults." },
    fault! { "contents.move-loses" ["VC-24"] moves(|it| async move {
        let moved = it.done().await;
        if !moved.is_success() && it.target > 0 {
            it.remove(it.source(), it.request.id(3)).await;
        }
        moved
    }),
        "A move to no vault of the caller's is refused, and the prompt is gone." },
    fault! { "contents.move-claims" ["VC-24"] moves(|it| async move {
        let moved = it.done().await;
        let claims = !moved.is_success() && it.target > 0 && it.entry.is_object();
        if claims { it.told(it.request.id(3)) } else { moved }
    }),
        "A move to no vault of the caller's is answered 200." },
    fault! { "contents.move-gap" ["VC-21"] moves(|it| async move {
        if !it.may_be_halved().await {
            return it.done().await;
        }
        it.remove(it.source(), it.request.id(3)).await;
        tokio::time::sleep(BETWEEN_HALVES).await;
        it.told(it.save(it.target).await)
    }),
        "For a moment of a move the prompt is in neither vault." },
    fault! { "contents.move-overlap" ["VC-21"] moves(|it| async move {
        if !it.may_be_halved().await {
            return it.done().await;
        }
        let told = it.told(it.save(it.target).await);
        tokio::time::sleep(BETWEEN_HALVES).await;
        it.remove(it.source(), it.request.id(3)).await;
        told
    }),
        "For a moment of a move the prompt is in both vaults." },
    fault! { "contents.move-again" ["VC-20"]
        answers_with(MOVE, |done: &mut HashMap<String, Response>, request, response| {
            if response.is_success() {
                done.insert(request.path.clone(), response.clone());
            } else if let Some(before) = done.get(&request.path) {
                *response = before.clone();
            }
        }),
        "A move that was done is answered again." },
    fault! { "contents.move-within" ["VC-21"] moves(|it| async move {
        let moved = it.done().await;
        if it.within() {
            it.remove(it.target, member(&moved)).await;
        }
        moved
    }),
        "A move within one vault takes the prompt out of it." },
    fault! { "contents.move-into-holder" ["VC-21"] moves(|it| async move {
        let holds = ids_of(&it.entry, "vaultIds").contains(&it.target) && !it.within();
        let moved = it.done().await;
        if holds {
            it.remove(it.target, member(&moved)).await;
        }
        moved
    }),
        "A move to a vault that holds the prompt takes it out of both." },
    fault! { "contents.move-foreign-source" ["VC-23"] moves(|it| async move {
        let (moved, path) = (it.done().await, it.request.path.trim_end_matches("/move"));
        let taken = it.upstream.delete(&of_the_other(&it.request), path).await;
        if taken.is_success() { it.told(it.request.id(3)) } else { moved }
    }),
        "Whoever knows the ids takes a prompt out of a foreign vault." },
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
