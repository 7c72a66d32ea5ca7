//! Faults in the contents of vaults (VC, LI-08): what a listing shows, and in which
//! order.

pub(super) mod adding;
pub(super) mod moves;
pub(super) mod pins;
pub(super) mod removal;

use std::cmp::Reverse;
use std::collections::HashMap;

use futures::StreamExt;
use promptarium::VaultId;
use promptarium_server::store::Store;
use promptarium_server::store::{Caller, ListedPrompt};
use serde_json::{Map, Value};

use crate::ask::Answer;
use crate::entries::{entries, text};
use crate::fault::{Fault, How, fault};
use crate::front::answers;
use crate::shared::Shared;

const LISTING: &str = "GET /vaults/*/prompts";

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "contents.pinned-missing",
        "isPinned is left out where it is false.",
        [
            "VC-04", "VC-20", "VC-27", "VC-01", "VC-03", "VC-15", "VC-16", "VC-19", "VC-21",
            "VC-25", "VC-06", "VC-09", "VC-11", "VC-23", "VC-24", "VC-28", "VC-29", "VC-30",
            "VA-33"
        ],
        {
            answers(LISTING, |_, answer| {
                answer.each(|entry| keep(entry, |key, value| key != "isPinned" || *value == true));
            })
        }
    ),
    fault!(
        "contents.pinned-flag",
        "isPinned is false for pinned prompts too.",
        ["VC-06", "VC-27"],
        { answers(LISTING, |_, answer| answer.each(|entry| entry["isPinned"] = false.into())) }
    ),
    fault!(
        "contents.pinned-everywhere",
        "isPinned tells of a pin in any vault.",
        ["VC-06", "VC-19", "VC-25"],
        { pins::everywhere() }
    ),
    fault!(
        "contents.entries-short",
        "Entries of a listing leave the prompt's text out.",
        ["VC-04", "GE-29", "VA-33"],
        {
            answers(LISTING, |_, answer| answer.each(|entry| keep(entry, |key, _| key != "prompt")))
        }
    ),
    fault!(
        "contents.entries-one-vault",
        "vaultIds of an entry names the listed vault alone.",
        ["VC-04"],
        answers(LISTING, |ask, answer| {
            let vault = ask.id(1);
            answer.each(|entry| entry["vaultIds"] = vec![vault].into());
        })
    ),
    fault!(
        "contents.empty-null",
        "The listing of an empty vault is null.",
        [
            "VC-04", "VC-21", "VC-14", "ER-05", "LI-08", "PR-42", "VC-15", "VC-20", "VC-23",
            "VC-24", "GE-29", "EN-02", "VA-33", "AU-09", "EN-05", "GE-22", "PR-20", "PR-27",
            "PR-44", "VA-04", "VA-29", "VA-32", "HT-22", "HT-04", "HT-23", "HT-06", "HT-05",
            "HT-03", "HT-09", "HT-08", "HT-07", "HT-10", "HT-24", "HT-02", "HT-01", "HT-15",
            "HT-16", "HT-20", "HT-14", "HT-13"
        ],
        {
            answers(LISTING, |_, answer| {
                answer.edit_data(|data| {
                    if data.as_array().is_some_and(Vec::is_empty) {
                        *data = Value::Null;
                    }
                });
            })
        }
    ),
    fault!("contents.listing-100", "A listing ends after 100 prompts.", ["VC-05"], {
        answers(LISTING, |_, answer| entries(answer, |members| members.truncate(100)))
    }),
    fault!("contents.listing-limit", "A listing takes a limit.", ["VC-05"], {
        answers(LISTING, |ask, answer| {
            if let Some(limit) = ask.parameter("limit").and_then(|limit| limit.parse().ok()) {
                entries(answer, |members| members.truncate(limit));
            }
        })
    }),
    fault!(
        "contents.oldest-first",
        "Prompts that are not pinned are oldest first.",
        ["VC-09", "VC-19", "VC-25"],
        { answers(LISTING, |_, answer| loose(answer, <[serde_json::Value]>::reverse)) }
    ),
    fault!(
        "contents.by-creation",
        "A listing goes by the prompts' creation.",
        ["VC-09", "VC-19", "VA-33"],
        {
            answers(LISTING, |_, answer| {
                loose(answer, |loose| loose.sort_by_key(|entry| Reverse(entry["id"].as_i64())));
            })
        }
    ),
    fault!(
        "contents.by-update",
        "A listing goes by the prompts' last update.",
        ["VC-09", "VC-19", "VC-03", "PR-38", "VA-33"],
        {
            answers(LISTING, |_, answer| {
                loose(answer, |loose| {
                    loose.sort_by_key(|entry| Reverse(text(entry, "updatedAt").to_owned()));
                });
            })
        }
    ),
    fault!(
        "contents.by-title",
        "A listing goes by the prompts' titles.",
        ["VC-09", "VC-19", "VC-25"],
        {
            answers(LISTING, |_, answer| {
                loose(answer, |loose| loose.sort_by_key(|entry| text(entry, "title").to_owned()));
            })
        }
    ),
    fault!(
        "contents.moved-keeps-date",
        "A moved prompt keeps the date it was added.",
        ["VC-09", "VC-19"],
        { moved_keeps_date() }
    ),
    fault!(
        "contents.pins-among-others",
        "Pinned prompts are where they were.",
        ["VC-07", "VC-27", "VC-08", "VC-09"],
        {
            answers(LISTING, |_, answer| {
                entries(answer, |members| members.sort_by_key(|entry| Reverse(membership(entry))));
            })
        }
    ),
    fault!(
        "contents.pins-last",
        "Pinned prompts come after all others.",
        ["VC-07", "VC-27", "VC-09"],
        {
            answers(LISTING, |_, answer| {
                entries(answer, |members| members.sort_by_key(|entry| entry["isPinned"] == true));
            })
        }
    ),
    fault!(
        "contents.pins-by-adding",
        "Pinned prompts go by the date they were added.",
        ["VC-08"],
        {
            answers(LISTING, |_, answer| {
                pinned(answer, |pinned| pinned.sort_by_key(|entry| Reverse(membership(entry))));
            })
        }
    ),
    fault!(
        "contents.pins-oldest-first",
        "The prompt pinned first is on top.",
        ["VC-08", "VC-27"],
        { answers(LISTING, |_, answer| pinned(answer, <[serde_json::Value]>::reverse)) }
    ),
];

fn keep(entry: &mut Value, wanted: impl Fn(&str, &Value) -> bool) {
    if let Value::Object(members) = entry {
        let all = std::mem::replace(members, Map::new());
        members.extend(all.into_iter().filter(|(key, value)| wanted(key, value)));
    }
}

fn membership(entry: &Value) -> i64 {
    entry["vaultPromptId"].as_i64().unwrap_or_default()
}

/// Changes the part that is not pinned.
pub(super) fn loose(answer: &mut Answer, change: impl FnOnce(&mut [Value])) {
    entries(answer, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[pinned..]);
    });
}

/// Changes the pinned part.
fn pinned(answer: &mut Answer, change: impl FnOnce(&mut [Value])) {
    entries(answer, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[..pinned]);
    });
}

/// New memberships go by the age of those they come from.
fn moved_keeps_date() -> How {
    let ages = Shared::<HashMap<i64, i64>>::default();
    answers("GET /vaults/*/prompts, POST /vaults/*/prompts/*/move", move |ask, answer| {
        ages.with(|ages| {
            let age = |id: i64| ages.get(&id).copied().unwrap_or(id);
            if ask.segment(4) != "move" {
                loose(answer, |loose| loose.sort_by_key(|entry| Reverse(age(membership(entry)))));
            } else if answer.is_success() {
                let new = answer.json()["data"]["vaultPromptId"].as_i64().unwrap_or_default();
                let old = age(ask.id(3));
                ages.insert(new, old);
            }
        });
    })
}

/// What a vault holds, by the store itself.
pub(super) async fn held(inner: &dyn Store, caller: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
    let Ok(contents) = inner.contents(caller, vault).await else { return Vec::new() };
    contents.filter_map(|entry| async { entry.ok() }).collect().await
}
