//! Faults in moves (VC-17 to VC-24).

mod slips;

use http::Method;
use serde_json::Value;

use super::pins::mistaken;
use crate::ask::Ask;
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, whole};
use crate::proxy::Upstream;
use crate::store::twisted;

use self::slips::{Moves, Slip};

const MOVE: &str = "POST /vaults/*/prompts/*/move";

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "contents.move-201",
        "A move answers 201.",
        ["VC-17", "VC-20", "VC-21", "VC-19", "PR-10", "VA-10", "VA-11"],
        {
            answers(MOVE, |_, answer| {
                if answer.is_success() {
                    answer.set_code(201);
                }
            })
        }
    ),
    fault!(
        "contents.move-answers-ids-as-text",
        "A move answers with vault ids as strings.",
        ["VC-17", "VC-18", "EN-08"],
        {
            answers(MOVE, |_, answer| {
                answer.edit_data(|data| {
                    for key in ["sourceVaultId", "targetVaultId"] {
                        data[key] = data[key].to_string().into();
                    }
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-swapped",
        "A move answers with source and target swapped.",
        ["VC-18"],
        {
            answers(MOVE, |_, answer| {
                answer.edit_data(|data| {
                    let source = data["sourceVaultId"].take();
                    data["sourceVaultId"] = data["targetVaultId"].take();
                    data["targetVaultId"] = source;
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-membership",
        "A move answers with the membership as the prompt.",
        ["VC-18"],
        {
            answers(MOVE, |ask, answer| {
                answer.edit_data(|data| {
                    let right = data["promptId"].as_i64().unwrap_or_default();
                    data["promptId"] = mistaken(&ask.id(3).into(), right);
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-old",
        "A move answers with the old membership.",
        ["VC-19", "VC-21", "PR-10"],
        {
            answers(MOVE, |ask, answer| {
                answer.edit_data(|data| data["vaultPromptId"] = ask.id(3).into());
            })
        }
    ),
    fault!(
        "contents.move-target-text",
        "targetVaultId may be a string of digits.",
        ["VC-22", "ER-05"],
        {
            asks(MOVE, |ask| {
                ask.edit(|body| {
                    let number =
                        body["targetVaultId"].as_str().and_then(|text| text.parse::<i64>().ok());
                    if let Some(number) = number {
                        body["targetVaultId"] = number.into();
                    }
                });
            })
        }
    ),
    fault!(
        "contents.move-target-0",
        "targetVaultId 0 stands for the General vault.",
        ["VC-22", "ER-06", "VC-21", "ER-03", "ER-05"],
        {
            whole(MOVE, |ask, upstream| {
                to_general(ask, upstream, |body| body["targetVaultId"] == 0)
            })
        }
    ),
    fault!(
        "contents.move-no-target",
        "A move without a target goes to the General vault.",
        ["VC-22", "ER-04", "VC-21"],
        {
            whole(MOVE, |ask, upstream| {
                to_general(ask, upstream, |body| {
                    body.is_object() && body.get("targetVaultId").is_none()
                })
            })
        }
    ),
    fault!(
        "contents.move-copies",
        "A move leaves the prompt in the source.",
        ["VC-20", "VC-21"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Copies))
            })
        }
    ),
    fault!("contents.move-pins", "A move of a pinned prompt keeps the pin.", ["VC-20"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::KeepsPin))
        })
    }),
    fault!("contents.move-all", "A move takes the prompt out of all other vaults.", ["VC-20"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::TakesAll))
        })
    }),
    fault!(
        "contents.move-loses",
        "A move to no vault of the caller's is refused, and the prompt is gone.",
        ["VC-21", "VC-24", "ER-03", "ER-08"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Loses))
            })
        }
    ),
    fault!(
        "contents.move-claims",
        "A move to no vault of the caller's is answered 200.",
        ["VC-24", "VC-21", "ER-03"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Claims))
            })
        }
    ),
    fault!(
        "contents.move-gap",
        "For a moment of a move the prompt is in neither vault.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Gap))
            })
        }
    ),
    fault!(
        "contents.move-overlap",
        "For a moment of a move the prompt is in both vaults.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Overlap))
            })
        }
    ),
    fault!("contents.move-again", "A move that was done is answered again.", ["VC-20", "VC-21"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::Replays))
        })
    }),
    fault!(
        "contents.move-within",
        "A move within one vault takes the prompt out of it.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::WithinLoses))
            })
        }
    ),
    fault!(
        "contents.move-into-holder",
        "A move to a vault that holds the prompt takes it out of both.",
        ["VC-21", "VC-20"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::HolderLoses))
            })
        }
    ),
    fault!(
        "contents.move-foreign-source",
        "Whoever knows the ids takes a prompt out of a foreign vault.",
        ["VC-23", "ER-10"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::ForeignSource))
            })
        }
    ),
];

/// Sends the move to the General vault if its body asks for that.
async fn to_general(
    mut ask: Ask,
    upstream: Upstream,
    meant: fn(&Value) -> bool,
) -> crate::ask::Answer {
    if meant(&ask.json()) {
        let vaults = upstream.send(&ask.another(Method::GET, "/vaults")).await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        if let Some(general) = vaults.find(|vault| vault["isSystem"] == true) {
            ask.edit(|body| body["targetVaultId"] = general["id"].clone());
        }
    }
    upstream.send(&ask).await
}
