//! Faults in the list of vaults (VA-13 to VA-15).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::iter::repeat_n;

use http::Method;
use serde_json::Value;

use crate::entries::{entries, text};
use crate::fault::{Fault, How, fault};
use crate::front::answers;
use crate::shared::Shared;

const LIST: &str = "GET /vaults";

pub(crate) const ALL: &[Fault] = &[
    fault!("vaults.list-oldest-first", "The list has the oldest vault first.", ["VA-14"], {
        answers(LIST, |_, answer| entries(answer, |vaults| vaults.reverse()))
    }),
    fault!("vaults.list-by-update", "The list goes by the last update.", ["VA-14"], {
        answers(LIST, |_, answer| {
            entries(answer, |vaults| {
                vaults.sort_by_key(|vault| Reverse(text(vault, "updatedAt").to_owned()));
            });
        })
    }),
    fault!("vaults.list-by-name", "The list goes by the names.", ["VA-14"], {
        answers(LIST, |_, answer| {
            entries(answer, |vaults| vaults.sort_by_key(|vault| text(vault, "name").to_owned()));
        })
    }),
    fault!("vaults.list-ties", "Vaults of the same second go by their ids.", ["VA-14"], {
        answers(LIST, |_, answer| {
            entries(answer, |vaults| {
                let second = |vault: &Value| text(vault, "createdAt").chars().take(19).collect();
                vaults
                    .sort_by_key(|vault| (Reverse::<String>(second(vault)), vault["id"].as_i64()));
            });
        })
    }),
    fault!("vaults.list-100", "The list ends after 100 vaults.", ["VA-15"], {
        answers(LIST, |_, answer| entries(answer, |vaults| vaults.truncate(100)))
    }),
    fault!(
        "vaults.list-no-system",
        "The list leaves the system vaults out.",
        ["VA-13", "VA-12", "VA-09", "GE-29", "VA-24", "VC-10"],
        answers(LIST, |_, answer| {
            entries(answer, |vaults| vaults.retain(|vault| vault["isSystem"] == false));
        })
    ),
    fault!(
        "vaults.list-no-unlisted",
        "The list leaves unlisted vaults out.",
        ["VA-13", "VA-14", "VA-24"],
        {
            answers(LIST, |_, answer| {
                entries(answer, |vaults| vaults.retain(|vault| vault["visibility"] != "unlisted"));
            })
        }
    ),
    fault!(
        "vaults.list-joined",
        "The list has a vault once for each of its prompts.",
        ["VA-13"],
        answers(LIST, |_, answer| {
            entries(answer, |vaults| {
                let times = |vault: &Value| vault["promptCount"].as_u64().unwrap_or(1).clamp(1, 9);
                let joined = vaults.iter().flat_map(|vault| {
                    repeat_n(vault.clone(), usize::try_from(times(vault)).unwrap_or(1))
                });
                *vaults = joined.collect();
            });
        })
    ),
    fault!(
        "vaults.list-foreign-public",
        "The list has the public vaults of other accounts too.",
        ["VA-13"],
        foreign_public()
    ),
    fault!("vaults.list-limit", "The list takes a limit.", ["VA-15"], {
        answers(LIST, |ask, answer| {
            if let Some(limit) = ask.parameter("limit").and_then(|limit| limit.parse().ok()) {
                entries(answer, |vaults| vaults.truncate(limit));
            }
        })
    }),
    fault!(
        "vaults.list-old-name",
        "The list shows the name a vault was made with.",
        ["VA-13", "VA-24"],
        { old_name() }
    ),
];

/// Public vaults by their ids, each with the key that made it.
fn foreign_public() -> How {
    let made = Shared::<BTreeMap<i64, (String, Value)>>::default();
    answers("GET /vaults, POST /vaults, DELETE /vaults/*", move |ask, answer| {
        let caller = ask.authorization().to_owned();
        match ask.method {
            Method::POST => answer.edit_data(|vault| {
                if vault["visibility"] == "public" {
                    let id = vault["id"].as_i64().unwrap_or_default();
                    made.with(|made| made.insert(id, (caller, vault.clone())));
                }
            }),
            Method::DELETE => made.with(|made| {
                made.remove(&ask.id(1));
            }),
            _ => entries(answer, |vaults| {
                let own =
                    vaults.iter().filter_map(|vault| vault["id"].as_i64()).collect::<Vec<_>>();
                made.with(|made| {
                    let foreign = made.iter().rev();
                    let foreign =
                        foreign.filter(|(id, (by, _))| *by != caller && !own.contains(id));
                    vaults.splice(0..0, foreign.map(|(_, (_, vault))| vault.clone()));
                });
            }),
        }
    })
}

fn old_name() -> How {
    let names = Shared::<HashMap<i64, Value>>::default();
    answers("GET /vaults, POST /vaults", move |ask, answer| match ask.method {
        Method::POST => answer.edit_data(|vault| {
            let id = vault["id"].as_i64().unwrap_or_default();
            names.with(|names| names.insert(id, vault["name"].clone()));
        }),
        _ => answer.each(|vault| {
            let id = vault["id"].as_i64().unwrap_or_default();
            if let Some(name) = names.with(|names| names.get(&id).cloned()) {
                vault["name"] = name;
            }
        }),
    })
}
