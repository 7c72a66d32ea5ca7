//! Faults in the vault object (VA-01 to VA-11).

use serde_json::{Value, json};

use crate::ask::Answer;
use crate::entries::{text, without};
use crate::fault::{Fault, fault};
use crate::front::answers;

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "vaults.description-key",
        "A vault without a description has no such key.",
        ["VA-03", "VA-25", "VA-13", "VA-16", "VA-29", "EN-02", "HT-24"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| {
                    if vault["description"].is_null() {
                        without(vault, "description");
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.visibility-unlisted",
        "An unlisted vault reads as public.",
        ["VA-24", "VA-21", "VA-16", "VA-13", "VA-20", "VA-22", "VA-23"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| {
                    if vault["visibility"] == "unlisted" {
                        vault["visibility"] = "public".into();
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.slug-name",
        "A slug is the name, spaces and all.",
        ["VA-04", "VA-23", "VA-13", "VA-22", "VA-29"],
        {
            answers("GET /vaults/*, POST /vaults", |_, answer| {
                answer.edit_data(|vault| vault["slug"] = vault["name"].clone());
            })
        }
    ),
    fault!(
        "vaults.slug-id",
        "A slug is made from the id.",
        ["VA-04", "VA-23", "VA-13", "VA-22", "VA-29"],
        {
            answers("GET /vaults/*, POST /vaults", |_, answer| {
                answer.edit_data(|vault| vault["slug"] = format!("v{}", vault["id"]).into());
            })
        }
    ),
    fault!(
        "vaults.slug-null",
        "A vault whose name has no letters has a slug of null.",
        ["VA-04"],
        {
            answers("GET /vaults/*, POST /vaults, GET /vaults", |_, answer| {
                answer.each(|vault| {
                    let name = vault["name"].as_str().unwrap_or_default();
                    if !name.contains(|c: char| c.is_ascii_alphanumeric()) {
                        vault["slug"] = Value::Null;
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.id-text",
        "GET shows a vault's id as a string.",
        ["VA-01", "EN-08", "VA-21", "VA-16", "VA-13", "VA-22", "VA-23", "VA-29", "HT-11", "HT-17"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| vault["id"] = vault["id"].to_string().into());
            })
        }
    ),
    fault!(
        "vaults.access-type",
        "accessType is an object.",
        ["VA-06", "VA-16", "VA-13", "VA-21", "VA-22", "VA-23", "VA-29"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| vault["accessType"] = json!({ "kind": null }));
            })
        }
    ),
    fault!(
        "vaults.locked-number",
        "isLocked is 0 in place of false.",
        ["VA-07", "VA-16", "VA-13", "VA-21", "VA-22", "VA-23", "VA-29"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| vault["isLocked"] = 0.into());
            })
        }
    ),
    fault!(
        "vaults.cover-missing",
        "A vault without a cover has no coverImageUrl.",
        ["VA-08", "VA-16", "VA-13", "VA-21", "VA-22", "VA-23", "VA-29"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| without(vault, "coverImageUrl"));
            })
        }
    ),
    fault!(
        "vaults.system",
        "A vault made without a description is a system vault.",
        ["VA-09", "VA-13", "VA-16", "VA-23", "VA-29", "VA-31"],
        {
            answers("GET /vaults/*", |_, answer| {
                answer.edit_data(|vault| {
                    if vault["description"].is_null() {
                        vault["isSystem"] = true.into();
                    }
                });
            })
        }
    ),
    fault!("vaults.created-anew", "An update moves createdAt too.", ["VA-11", "VA-14"], {
        answers("GET /vaults/*, PATCH /vaults/*, GET /vaults", |_, answer| {
            answer.each(|vault| vault["createdAt"] = vault["updatedAt"].clone());
        })
    }),
    fault!(
        "vaults.created-200",
        "A create answers 200.",
        ["VA-16", "LI-06", "LI-07", "VA-02", "VA-04", "VA-18", "VA-19", "EN-02"],
        {
            answers("POST /vaults", |_, answer| {
                if answer.is_success() {
                    answer.set_code(200);
                }
            })
        }
    ),
    fault!(
        "vaults.read-unlisted",
        "An unlisted vault is not read at its address.",
        [
            "VA-21", "VA-16", "ER-10", "VA-11", "VA-13", "VA-20", "VA-22", "VA-23", "VA-24",
            "VA-25", "VA-29"
        ],
        {
            answers("GET /vaults/*", |_, answer| {
                if answer.json()["data"]["visibility"] == "unlisted" {
                    *answer = Answer::refusal(404, "no such vault");
                }
            })
        }
    ),
    fault!(
        "vaults.visibility-word",
        "The list has visibilities in capitals.",
        ["VA-13", "VA-05", "VA-24", "VA-29"],
        {
            answers("GET /vaults", |_, answer| {
                answer.each(|vault| {
                    vault["visibility"] = text(vault, "visibility").to_uppercase().into();
                });
            })
        }
    ),
    fault!(
        "vaults.description-number",
        "A description of digits is shown as a number.",
        ["VA-03", "VA-18"],
        {
            answers("GET /vaults/*, POST /vaults", |_, answer| {
                answer.edit_data(|vault| {
                    if let Ok(number) = text(vault, "description").parse::<u64>() {
                        vault["description"] = number.into();
                    }
                });
            })
        }
    ),
];
