//! Faults in pins (VC-25 to VC-30).

use std::sync::Arc;

use async_trait::async_trait;
use http::Method;
use promptarium::{VaultId, VaultPromptId};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{loose, membership};
use crate::entries::entries;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

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
    fault! { "contents.pin-one-only" ["VC-27"] pins(Slip::OneOnly),
        "A pin takes the pin of all others away." },
    fault! { "contents.pin-five" ["VC-27"] five(),
        "A vault takes five pins and refuses the sixth." },
    fault! { "contents.pin-toggles" ["VC-29"] pins(Slip::Toggle),
        "Pinning a pinned prompt unpins it." },
    fault! { "contents.pin-redates" ["VC-29"] pins(Slip::Redate),
        "Pinning a pinned prompt brings it to the top." },
    fault! { "contents.pin-again-400" ["VC-29"]
        of_entry(PIN, |entry| entry["isPinned"] == true, 400),
        "Pinning a pinned prompt is refused." },
    fault! { "contents.unpin-again-404" ["VC-30"]
        of_entry(UNPIN, |entry| entry["isPinned"] == false, 404),
        "Unpinning what is not pinned answers 404." },
    fault! { "contents.unpin-again-pins" ["VC-30"] pins(Slip::UnpinToggles),
        "Unpinning what is not pinned pins it." },
    fault! { "contents.unpin-to-top" ["VC-28"] unpinned(true),
        "An unpinned prompt counts as added now." },
    fault! { "contents.unpin-to-bottom" ["VC-28"] unpinned(false),
        "An unpinned prompt goes to the end." },
    fault! { "contents.unpin-ignored" ["VC-28"] pins(Slip::Stays),
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

async fn listing(request: &Request, upstream: &Upstream) -> Vec<Value> {
    upstream.list(request, format!("/vaults/{}/prompts", request.segment(1))).await
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

/// One pin at a time, so that the sixth is the sixth also among pins at once.
fn five() -> Intercept {
    let turn = Arc::new(Mutex::new(()));
    whole(PIN, move |request, upstream| {
        let turn = Arc::clone(&turn);
        async move {
            let _turn = turn.lock().await;
            let there = listing(&request, &upstream).await;
            let pinned = there.iter().filter(|entry| entry["isPinned"] == true).count();
            let this = there.iter().find(|entry| membership(entry) == request.id(3));
            if pinned >= 5 && this.is_some_and(|entry| entry["isPinned"] == false) {
                return Response::refusal(400, "there are five pins already");
            }
            upstream.send(&request).await
        }
    })
}

/// Prompts that were unpinned lose their place.
fn unpinned(to_top: bool) -> Intercept {
    let done = Shared::<Vec<i64>>::default();
    answers("GET /vaults/*/prompts, DELETE /vaults/*/prompts/*/pin", move |request, response| {
        if request.method == Method::DELETE {
            done.with(|done| done.push(request.id(3)));
            return;
        }
        done.with(|done| {
            let rank = |entry: &Value| {
                let place = done.iter().rposition(|id| *id == membership(entry));
                match place {
                    None => 0,
                    Some(place) if to_top => -1 - i64::try_from(place).unwrap_or_default(),
                    Some(_) => 1,
                }
            };
            loose(response, |loose| loose.sort_by_key(rank));
        });
    })
}

/// A pin is kept with the prompt, and not with the membership.
pub(super) fn everywhere() -> Intercept {
    let pins = Shared::<Vec<i64>>::default();
    answers("GET /vaults/*/prompts", move |_, response| {
        pins.with(|pins| {
            entries(response, |members| {
                for entry in members.iter_mut() {
                    let id = entry["id"].as_i64().unwrap_or_default();
                    if entry["isPinned"] == true && !pins.contains(&id) {
                        pins.push(id);
                    }
                    entry["isPinned"] = pins.contains(&id).into();
                }
            });
        });
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    OneOnly,
    Toggle,
    Redate,
    UnpinToggles,
    Stays,
}

struct Pins(Slip);

fn pins(slip: Slip) -> Intercept {
    in_store("* /vaults/*/prompts/*/pin", Pins(slip))
}

#[async_trait]
impl FaultyStore for Pins {
    async fn set_pinned(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result {
        let there = good.held(vault).await;
        let this = there.iter().find(|entry| entry.membership == membership);
        let is_pinned = this.is_some_and(|entry| entry.pinned);
        let pinned = match self.0 {
            Slip::Toggle if pinned => !is_pinned,
            Slip::UnpinToggles if !pinned => !is_pinned,
            Slip::Stays if is_pinned => true,
            Slip::Redate if pinned && is_pinned => {
                good.set_pinned(vault, membership, false).await?;
                true
            }
            Slip::OneOnly if pinned => {
                for other in there.iter().filter(|entry| entry.pinned) {
                    good.set_pinned(vault, other.membership, false).await?;
                }
                true
            }
            _ => pinned,
        };
        good.set_pinned(vault, membership, pinned).await
    }
}
