//! Races about what is in a vault: adds, saves, removals, moves and pins, and their count.

use super::crowd::{crowded, is};
use super::{by_owner, by_path, gave_way, ids};
use crate::prelude::*;

const ADD: &str = "POST /vaults/*/prompts";
const SAVE: &str = "POST /prompts/*/save";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";
const PIN: &str = "POST /vaults/*/prompts/*/pin";
const UNPIN: &str = "DELETE /vaults/*/prompts/*/pin";

const COUNTED: &str =
    "POST /vaults/*/prompts, DELETE /vaults/*/prompts/*, POST /vaults/*/prompts/*/move";

const MOVE: &str = "POST /vaults/*/prompts/*/move";
const VAULT: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.adds-lost" ["VC-10"]
        crowded(ADD, ADD, by_owner, |request, upstream, place| async move {
            if place.is_last() {
                return upstream.send(&request).await;
            }
            let added = ids(&request).len();
            Response::data(
                201,
                &json!({ "added": added, "vaultId": request.id(1), "promptCount": added }),
            )
        }),
        "Of adds to one vault at once only the last is kept." },
    fault! { "races.added-twice" ["VC-10"] doubled(ADD),
        "A prompt that is added to one vault by two calls at once is in it twice." },
    fault! { "races.saved-and-added" ["VC-03"] doubled(SAVE),
        "A prompt that is saved and added to one vault at once is in it twice." },
    fault! { "races.added-by-each" ["VC-11"]
        crowded(ADD, ADD, by_owner, |request, upstream, place| async move {
            let mut response = upstream.send(&request).await;
            if !place.is_alone() {
                response.edit_data(|data| data["added"] = ids(&request).len().into());
            }
            response
        }),
        "Of adds of one prompt at once each says that it has added it." },
    fault! { "races.removals-block" ["VC-15"]
        crowded(REMOVE, REMOVE, by_path, |request, upstream, place| async move {
            if place.is_alone() { upstream.send(&request).await } else { gave_way() }
        }),
        "Removals of one membership at once are all refused." },
    fault! { "races.pins-refused" ["VC-27"]
        crowded(PIN, PIN, by_path, |request, upstream, place| async move {
            if place.nth == 0 { upstream.send(&request).await } else { gave_way() }
        }),
        "Of pins of one prompt at once all but the first are refused." },
    fault! { "races.pin-answers-unpinned" ["VC-25"] crowded(
        "POST /vaults/*/prompts/*/pin, DELETE /vaults/*/prompts/*/pin",
        PIN,
        by_path,
        |request, upstream, place| async move {
            let mut response = upstream.send(&request).await;
            if is(&request, PIN) && place.has(UNPIN) {
                response.edit_data(|data| data["isPinned"] = false.into());
            }
            response
        },
    ),
        "A pin that comes at once with an unpin answers with the other's state." },
    fault! { "races.count-drifts" ["VA-10"] drifting(),
        "A vault counts one prompt too many after each time that several changes came at once." },
    fault! { "races.move-too-late-409" ["VC-21"]
        crowded(MOVE, MOVE, by_path, |request, upstream, place| async move {
            let response = upstream.send(&request).await;
            if response.code() == 404 && !place.is_alone() { gave_way() } else { response }
        }),
        "A move that comes too late among moves of its membership at once is refused with 409." },
    fault! { "races.move-too-late-200" ["VC-21"]
        crowded(MOVE, MOVE, by_path, |request, upstream, place| async move {
            let response = upstream.send(&request).await;
            if response.code() == 404 && place.asks().len() > 8 {
                return Response::data(200, &json!({ "vaultPromptId": request.id(3) }));
            }
            response
        }),
        "Each of many moves of one membership at once is told that it was the one." },
    fault! { "races.moved-into-nothing" ["VC-21"] {
        let about = |request: &Request| match is(request, MOVE) {
            true => request.json()["targetVaultId"].as_i64().map(|vault| vault.to_string()),
            false => Some(request.segment(1).to_owned()),
        };
        let routes = "DELETE /vaults/*, POST /vaults/*/prompts/*/move";
        crowded(routes, VAULT, about, |request, upstream, place| async move {
            if !is(&request, MOVE) || !place.has(VAULT) {
                return upstream.send(&request).await;
            }
            let membership = request.path.trim_end_matches("/move");
            upstream.delete(&request, membership).await;
            Response::refusal(404, "There is no such vault.")
        })
    },
        "A move into a vault that is deleted at once is refused, and takes the prompt out of its \
         source." },
    fault! { "races.moves-cross-refused" ["VC-20"] {
        let about = |request: &Request| {
            let target = request.json()["targetVaultId"].as_i64()?;
            Some(format!("{} {}", target.min(request.id(1)), target.max(request.id(1))))
        };
        crowded(MOVE, MOVE, about, |request, upstream, place| async move {
            let other_way = place.asks().iter().any(|other| other.id(1) != request.id(1));
            if place.nth > 0 && other_way { gave_way() } else { upstream.send(&request).await }
        })
    },
        "Of moves between two vaults in both directions at once all but one are refused." },
    fault! { "races.moves-meet-refused" ["VC-20"] {
        let about = |request: &Request| request.json()["targetVaultId"].as_i64().map(|vault| vault.to_string());
        crowded(MOVE, MOVE, about, |request, upstream, place| async move {
            let elsewhere = place.asks().iter().any(|other| other.id(1) != request.id(1));
            if place.nth > 0 && elsewhere { gave_way() } else { upstream.send(&request).await }
        })
    },
        "Of moves from several vaults into one at once all but one are refused." },
];

/// The vault that an add or a save puts prompts into, and the prompts.
fn put(request: &Request) -> Option<(i64, Vec<i64>)> {
    if is(request, ADD) {
        return Some((request.id(1), ids(request)));
    }
    Some((request.json()["vaultId"].as_i64()?, vec![request.id(1)]))
}

/// What an add puts into a vault at once with another call of the route is listed
/// twice from then on.
fn doubled(other: &'static str) -> Intercept {
    let twice = Shared::<Vec<(i64, i64)>>::default();
    let about = |request: &Request| put(request).map(|(vault, _)| vault.to_string());
    let routes = "POST /vaults/*/prompts, POST /prompts/*/save, GET /vaults/*/prompts";
    crowded(routes, other, about, move |request, upstream, place| {
        let twice = twice.clone();
        async move {
            let mut response = upstream.send(&request).await;
            let (vault, mine) = put(&request).unwrap_or_default();
            let others = place.asks().iter().enumerate();
            let others = others.filter(|(nth, request)| *nth != place.nth && is(request, other));
            let others: Vec<_> = others
                .filter_map(|(_, request)| put(request))
                .flat_map(|(_, theirs)| theirs)
                .collect();
            twice.with(|twice| {
                if is(&request, ADD) {
                    let shared = mine.into_iter().filter(|id| others.contains(id));
                    twice.extend(shared.map(|id| (vault, id)));
                } else if request.method == http::Method::GET {
                    let listed = |id: &i64| twice.contains(&(request.id(1), *id));
                    entries(&mut response, |list| {
                        let again = list
                            .iter()
                            .filter(|one| one["id"].as_i64().as_ref().is_some_and(listed));
                        let again: Vec<_> = again.cloned().collect();
                        list.extend(again);
                    });
                }
            });
            response
        }
    })
}

fn drifting() -> Intercept {
    let off = Shared::<HashMap<i64, i64>>::default();
    let about =
        |request: &Request| (request.method != Method::GET).then(|| request.segment(1).to_owned());
    let routes = "POST /vaults/*/prompts, DELETE /vaults/*/prompts/*, \
                  POST /vaults/*/prompts/*/move, GET /vaults/*";
    crowded(routes, COUNTED, about, move |request, upstream, place| {
        let off = off.clone();
        async move {
            let mut response = upstream.send(&request).await;
            let vault = request.id(1);
            if request.method != Method::GET {
                if place.nth == 0 && !place.is_alone() {
                    off.with(|off| *off.entry(vault).or_default() += 1);
                }
                return response;
            }
            let off = off.with(|off| off.get(&vault).copied().unwrap_or_default());
            response.edit_data(|data| {
                if let Some(count) = data["promptCount"].as_i64().filter(|_| off > 0) {
                    data["promptCount"] = (count + off).into();
                }
            });
            response
        }
    })
}
