//! Races about what is in a vault: adds, saves, removals, and pins.

use serde_json::json;

use super::crowd::{crowded, is};
use super::{by_owner, by_path, gave_way, ids};
use crate::entries::entries;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;

const ADD: &str = "POST /vaults/*/prompts";
const SAVE: &str = "POST /prompts/*/save";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";
const PIN: &str = "POST /vaults/*/prompts/*/pin";
const UNPIN: &str = "DELETE /vaults/*/prompts/*/pin";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.adds-lost" ["VC-10"]
        crowded(ADD, ADD, by_owner, |ask, upstream, place| async move {
            if place.is_last() {
                return upstream.send(&ask).await;
            }
            let added = ids(&ask).len();
            Response::data(
                201,
                &json!({ "added": added, "vaultId": ask.id(1), "promptCount": added }),
            )
        }),
        "Of adds to one vault at once only the last is kept." },
    fault! { "races.added-twice" ["VC-10"] doubled(ADD),
        "A prompt that is added to one vault by two calls at once is in it twice." },
    fault! { "races.saved-and-added" ["VC-03"] doubled(SAVE),
        "A prompt that is saved and added to one vault at once is in it twice." },
    fault! { "races.added-by-each" ["VC-11"]
        crowded(ADD, ADD, by_owner, |ask, upstream, place| async move {
            let mut answer = upstream.send(&ask).await;
            if !place.is_alone() {
                answer.edit_data(|data| data["added"] = ids(&ask).len().into());
            }
            answer
        }),
        "Of adds of one prompt at once each says that it has added it." },
    fault! { "races.removals-block" ["VC-15"]
        crowded(REMOVE, REMOVE, by_path, |ask, upstream, place| async move {
            if place.is_alone() { upstream.send(&ask).await } else { gave_way() }
        }),
        "Removals of one membership at once are all refused." },
    fault! { "races.pins-refused" ["VC-27"]
        crowded(PIN, PIN, by_path, |ask, upstream, place| async move {
            if place.nth == 0 { upstream.send(&ask).await } else { gave_way() }
        }),
        "Of pins of one prompt at once all but the first are refused." },
    fault! { "races.pin-answers-unpinned" ["VC-25"] crowded(
        "POST /vaults/*/prompts/*/pin, DELETE /vaults/*/prompts/*/pin",
        PIN,
        by_path,
        |ask, upstream, place| async move {
            let mut answer = upstream.send(&ask).await;
            if is(&ask, PIN) && place.has(UNPIN) {
                answer.edit_data(|data| data["isPinned"] = false.into());
            }
            answer
        },
    ),
        "A pin that comes at once with an unpin answers with the other's state." },
];

/// The vault that an add or a save puts prompts into, and the prompts.
fn put(ask: &Request) -> Option<(i64, Vec<i64>)> {
    if is(ask, ADD) {
        return Some((ask.id(1), ids(ask)));
    }
    Some((ask.json()["vaultId"].as_i64()?, vec![ask.id(1)]))
}

/// What an add puts into a vault at once with another call of the route is listed
/// twice from then on.
fn doubled(other: &'static str) -> Intercept {
    let twice = Shared::<Vec<(i64, i64)>>::default();
    let about = |ask: &Request| put(ask).map(|(vault, _)| vault.to_string());
    let routes = "POST /vaults/*/prompts, POST /prompts/*/save, GET /vaults/*/prompts";
    crowded(routes, other, about, move |ask, upstream, place| {
        let twice = twice.clone();
        async move {
            let mut answer = upstream.send(&ask).await;
            let (vault, mine) = put(&ask).unwrap_or_default();
            let others = place.asks().iter().enumerate();
            let others = others.filter(|(nth, ask)| *nth != place.nth && is(ask, other));
            let others: Vec<_> =
                others.filter_map(|(_, ask)| put(ask)).flat_map(|(_, theirs)| theirs).collect();
            twice.with(|twice| {
                if is(&ask, ADD) {
                    let shared = mine.into_iter().filter(|id| others.contains(id));
                    twice.extend(shared.map(|id| (vault, id)));
                } else if ask.method == http::Method::GET {
                    let listed = |id: &i64| twice.contains(&(ask.id(1), *id));
                    entries(&mut answer, |list| {
                        let again = list
                            .iter()
                            .filter(|one| one["id"].as_i64().as_ref().is_some_and(listed));
                        let again: Vec<_> = again.cloned().collect();
                        list.extend(again);
                    });
                }
            });
            answer
        }
    })
}
