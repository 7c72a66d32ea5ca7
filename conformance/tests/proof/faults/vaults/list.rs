//! Faults in the list of vaults (VA-13 to VA-15).

use std::cmp::Reverse;
use std::iter::repeat_n;

use serde_json::Value;

use crate::entries::{entries, text};
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_entries};

const LIST: &str = "GET /vaults";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.list-oldest-first" ["VA-14"] edits_entries(LIST, |vaults| vaults.reverse()),
        "The list has the oldest vault first." },
    fault! { "vaults.list-by-update" ["VA-14"] edits_entries(LIST, |vaults| {
        vaults.sort_by_key(|vault| Reverse(text(vault, "updatedAt").to_owned()));
    }),
        "The list goes by the last update." },
    fault! { "vaults.list-ties" ["VA-14"] edits_entries(LIST, |vaults| {
        // An hour, as two vaults that are made one after the other are seldom of two.
        let hour = |vault: &Value| text(vault, "createdAt").chars().take(13).collect();
        vaults.sort_by_key(|vault| (Reverse::<String>(hour(vault)), vault["id"].as_i64()));
    }),
        "Vaults of the same hour go by their ids." },
    fault! { "vaults.list-100" ["VA-15"] edits_entries(LIST, |vaults| vaults.truncate(100)),
        "The list ends after 100 vaults." },
    fault! { "vaults.list-no-system" ["VA-13"]
        edits_entries(LIST, |vaults| vaults.retain(|vault| vault["isSystem"] == false)),
        "The list leaves the system vaults out." },
    fault! { "vaults.list-no-unlisted" ["VA-13"]
        edits_entries(LIST, |vaults| vaults.retain(|vault| vault["visibility"] != "unlisted")),
        "The list leaves unlisted vaults out." },
    fault! { "vaults.list-joined" ["VA-13"] edits_entries(LIST, |vaults| {
        let times = |vault: &Value| vault["promptCount"].as_u64().unwrap_or(1).clamp(1, 9);
        let joined = vaults
            .iter()
            .flat_map(|vault| repeat_n(vault.clone(), usize::try_from(times(vault)).unwrap_or(1)));
        *vaults = joined.collect();
    }),
        "The list has a vault once for each of its prompts." },
    fault! { "vaults.list-limit" ["VA-15"] answers(LIST, |request, response| {
        if let Some(limit) = request.parameter("limit").and_then(|limit| limit.parse().ok()) {
            entries(response, |vaults| vaults.truncate(limit));
        }
    }),
        "The list takes a limit." },
];
