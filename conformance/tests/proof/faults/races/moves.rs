//! Races of moves with moves, with removals, and with the deletion of a vault.

use serde_json::json;

use super::crowd::{crowded, is};
use super::{by_path, gave_way};
use crate::exchange::{Request, Response};
use crate::fault::{Fault, fault};

const MOVE: &str = "POST /vaults/*/prompts/*/move";
const VAULT: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.move-too-late-409" ["VC-21"]
        crowded(MOVE, MOVE, by_path, |ask, upstream, place| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() == 404 && !place.is_alone() { gave_way() } else { answer }
        }),
        "A move that comes too late among moves of its membership at once is refused with 409." },
    fault! { "races.move-too-late-200" ["VC-21"]
        crowded(MOVE, MOVE, by_path, |ask, upstream, place| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() == 404 && place.asks().len() > 8 {
                return Response::data(200, &json!({ "vaultPromptId": ask.id(3) }));
            }
            answer
        }),
        "Each of many moves of one membership at once is told that it was the one." },
    fault! { "races.moved-into-nothing" ["VC-21"] {
        let about = |ask: &Request| match is(ask, MOVE) {
            true => ask.json()["targetVaultId"].as_i64().map(|vault| vault.to_string()),
            false => Some(ask.segment(1).to_owned()),
        };
        let routes = "DELETE /vaults/*, POST /vaults/*/prompts/*/move";
        crowded(routes, VAULT, about, |ask, upstream, place| async move {
            if !is(&ask, MOVE) || !place.has(VAULT) {
                return upstream.send(&ask).await;
            }
            let membership = ask.path.trim_end_matches("/move");
            upstream.delete(&ask, membership).await;
            Response::refusal(404, "There is no such vault.")
        })
    },
        "A move into a vault that is deleted at once is refused, and takes the prompt out of its \
         source." },
    fault! { "races.moves-cross-refused" ["VC-20"] {
        let about = |ask: &Request| {
            let target = ask.json()["targetVaultId"].as_i64()?;
            Some(format!("{} {}", target.min(ask.id(1)), target.max(ask.id(1))))
        };
        crowded(MOVE, MOVE, about, |ask, upstream, place| async move {
            let other_way = place.asks().iter().any(|other| other.id(1) != ask.id(1));
            if place.nth > 0 && other_way { gave_way() } else { upstream.send(&ask).await }
        })
    },
        "Of moves between two vaults in both directions at once all but one are refused." },
    fault! { "races.moves-meet-refused" ["VC-20"] {
        let about = |ask: &Request| ask.json()["targetVaultId"].as_i64().map(|vault| vault.to_string());
        crowded(MOVE, MOVE, about, |ask, upstream, place| async move {
            let elsewhere = place.asks().iter().any(|other| other.id(1) != ask.id(1));
            if place.nth > 0 && elsewhere { gave_way() } else { upstream.send(&ask).await }
        })
    },
        "Of moves from several vaults into one at once all but one are refused." },
];
