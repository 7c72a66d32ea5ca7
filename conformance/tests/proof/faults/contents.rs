//! Faults in the contents of vaults (VC, LI-08): what a listing shows, and in which
//! order.

pub(super) mod adding;
pub(super) mod moves;
pub(super) mod pins;
pub(super) mod removal;

use crate::prelude::*;

const LISTING: &str = "GET /vaults/*/prompts";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.pinned-flag" ["VC-06"]
        edits_each(LISTING, |entry| entry["isPinned"] = false.into()),
        "isPinned is false for pinned prompts too." },
    fault! { "contents.pinned-everywhere" ["VC-06"] pins::everywhere(),
        "isPinned tells of a pin in any vault." },
    fault! { "contents.entries-one-vault" ["VC-04"] answers(LISTING, |request, response| {
        let vault = request.id(1);
        response.each(|entry| entry["vaultIds"] = vec![vault].into());
    }),
        "vaultIds of an entry names the listed vault alone." },
    fault! { "contents.empty-null" ["VC-04"] edits_data(LISTING, |data| {
        if data.as_array().is_some_and(Vec::is_empty) {
            *data = Value::Null;
        }
    }),
        "The listing of an empty vault is null." },
    fault! { "contents.listing-100" ["VC-05"]
        edits_entries(LISTING, |members| members.truncate(100)),
        "A listing ends after 100 prompts." },
    fault! { "contents.listing-limit" ["VC-05"] answers(LISTING, |request, response| {
        if let Some(limit) = request.parameter("limit").and_then(|limit| limit.parse().ok()) {
            entries(response, |members| members.truncate(limit));
        }
    }),
        "A listing takes a limit." },
    fault! { "contents.oldest-first" ["VC-09"]
        answers(LISTING, |_, response| loose(response, <[serde_json::Value]>::reverse)),
        "Prompts that are not pinned are oldest first." },
    fault! { "contents.by-creation" ["VC-09"] answers(LISTING, |_, response| {
        loose(response, |loose| loose.sort_by_key(|entry| Reverse(entry["id"].as_i64())));
    }),
        "A listing goes by the prompts' creation." },
    fault! { "contents.by-title" ["VC-09"] answers(LISTING, |_, response| {
        loose(response, |loose| loose.sort_by_key(|entry| text(entry, "title").to_owned()));
    }),
        "A listing goes by the prompts' titles." },
    fault! { "contents.moved-keeps-date" ["VC-09"] moved_keeps_date(),
        "A moved prompt keeps the date it was added." },
    fault! { "contents.pins-among-others" ["VC-07"]
        edits_entries(LISTING, |members| members.sort_by_key(|entry| Reverse(membership(entry)))),
        "Pinned prompts are where they were." },
    fault! { "contents.pins-last" ["VC-07"]
        edits_entries(LISTING, |members| members.sort_by_key(|entry| entry["isPinned"] == true)),
        "Pinned prompts come after all others." },
    fault! { "contents.pins-by-adding" ["VC-08"] answers(LISTING, |_, response| {
        pinned(response, |pinned| pinned.sort_by_key(|entry| Reverse(membership(entry))));
    }),
        "Pinned prompts go by the date they were added." },
    fault! { "contents.pins-oldest-first" ["VC-08"]
        answers(LISTING, |_, response| pinned(response, <[serde_json::Value]>::reverse)),
        "The prompt pinned first is on top." },
];

fn membership(entry: &Value) -> i64 {
    entry["vaultPromptId"].as_i64().unwrap_or_default()
}

/// Changes the part that is not pinned.
pub(super) fn loose(response: &mut Response, change: impl FnOnce(&mut [Value])) {
    entries(response, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[pinned..]);
    });
}

/// Changes the pinned part.
fn pinned(response: &mut Response, change: impl FnOnce(&mut [Value])) {
    entries(response, |members| {
        let pinned = members.iter().take_while(|entry| entry["isPinned"] == true).count();
        change(&mut members[..pinned]);
    });
}

/// New memberships go by the age of those they come from.
fn moved_keeps_date() -> Intercept {
    answers_with(
        "GET /vaults/*/prompts, POST /vaults/*/prompts/*/move",
        move |ages: &mut HashMap<i64, i64>, request, response| {
            let age = |id: i64| ages.get(&id).copied().unwrap_or(id);
            if request.segment(4) != "move" {
                loose(response, |loose| loose.sort_by_key(|entry| Reverse(age(membership(entry)))));
            } else if response.is_success() {
                let new = response.json()["data"]["vaultPromptId"].as_i64().unwrap_or_default();
                let old = age(request.id(3));
                ages.insert(new, old);
            }
        },
    )
}
