//! Faults in moves (VC-17 to VC-24).

mod slips;

use serde_json::Value;

use super::pins::mistaken;
use crate::bounds::{from_digits, taken_as};
use crate::exchange::Request;
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_data, status_instead, whole};
use crate::proxy::Upstream;

use self::slips::{Slip, moves};

const MOVE: &str = "POST /vaults/*/prompts/*/move";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.move-201" ["VC-17"] status_instead(MOVE, 201),
        "A move answers 201." },
    fault! { "contents.move-answers-ids-as-text" ["VC-17"] edits_data(MOVE, |data| {
        for key in ["sourceVaultId", "targetVaultId"] {
            data[key] = data[key].to_string().into();
        }
    }),
        "A move answers with vault ids as strings." },
    fault! { "contents.move-answers-swapped" ["VC-18"] edits_data(MOVE, |data| {
        let source = data["sourceVaultId"].take();
        data["sourceVaultId"] = data["targetVaultId"].take();
        data["targetVaultId"] = source;
    }),
        "A move answers with source and target swapped." },
    fault! { "contents.move-answers-membership" ["VC-18"] answers(MOVE, |ask, answer| {
        answer.edit_data(|data| {
            let right = data["promptId"].as_i64().unwrap_or_default();
            data["promptId"] = mistaken(&ask.id(3).into(), right);
        });
    }),
        "A move answers with the membership as the prompt." },
    fault! { "contents.move-answers-old" ["VC-19"] answers(MOVE, |ask, answer| {
        answer.edit_data(|data| data["vaultPromptId"] = ask.id(3).into());
    }),
        "A move answers with the old membership." },
    fault! { "contents.move-target-text" ["VC-22"] taken_as(MOVE, "targetVaultId", from_digits),
        "targetVaultId may be a string of digits." },
    fault! { "contents.move-target-0" ["VC-22"]
        whole(MOVE, |ask, upstream| to_general(ask, upstream, |body| body["targetVaultId"] == 0)),
        "targetVaultId 0 stands for the General vault." },
    fault! { "contents.move-no-target" ["VC-22"] whole(MOVE, |ask, upstream| {
        to_general(ask, upstream, |body| body.is_object() && body.get("targetVaultId").is_none())
    }),
        "A move without a target goes to the General vault." },
    fault! { "contents.move-copies" ["VC-20"] moves(Slip::Copies),
        "A move leaves the prompt in the source." },
    fault! { "contents.move-pins" ["VC-20"] moves(Slip::KeepsPin),
        "A move of a pinned prompt keeps the pin." },
    fault! { "contents.move-all" ["VC-20"] moves(Slip::TakesAll),
        "A move takes the prompt out of all other vaults." },
    fault! { "contents.move-loses" ["VC-24"] moves(Slip::Loses),
        "A move to no vault of the caller's is refused, and the prompt is gone." },
    fault! { "contents.move-claims" ["VC-24"] moves(Slip::Claims),
        "A move to no vault of the caller's is answered 200." },
    fault! { "contents.move-gap" ["VC-21"] moves(Slip::Gap),
        "For a moment of a move the prompt is in neither vault." },
    fault! { "contents.move-overlap" ["VC-21"] moves(Slip::Overlap),
        "For a moment of a move the prompt is in both vaults." },
    fault! { "contents.move-again" ["VC-20"] moves(Slip::Replays),
        "A move that was done is answered again." },
    fault! { "contents.move-within" ["VC-21"] moves(Slip::WithinLoses),
        "A move within one vault takes the prompt out of it." },
    fault! { "contents.move-into-holder" ["VC-21"] moves(Slip::HolderLoses),
        "A move to a vault that holds the prompt takes it out of both." },
    fault! { "contents.move-foreign-source" ["VC-23"] moves(Slip::ForeignSource),
        "Whoever knows the ids takes a prompt out of a foreign vault." },
];

/// Sends the move to the General vault if its body asks for that.
async fn to_general(
    mut ask: Request,
    upstream: Upstream,
    meant: fn(&Value) -> bool,
) -> crate::exchange::Response {
    if meant(&ask.json()) {
        let vaults = upstream.get(&ask, "/vaults").await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        if let Some(general) = vaults.find(|vault| vault["isSystem"] == true) {
            ask.edit(|body| body["targetVaultId"] = general["id"].clone());
        }
    }
    upstream.send(&ask).await
}
