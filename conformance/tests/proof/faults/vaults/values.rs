//! Faults in the values that a vault shows, and in what a listing says beside them.

use serde_json::{Value, json};

use crate::ask::Answer;
use crate::fault::{Fault, fault};
use crate::front::{answers, instead};

const READ: &str = "GET /vaults/*";

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "vaults.name-cut",
        "A vault is read without the last character of its name.",
        [
            "VA-02", "VA-21", "LI-06", "VA-16", "VA-24", "ER-10", "VA-12", "VA-13", "VA-20",
            "VA-22", "VA-23", "VA-29"
        ],
        answers(READ, |_, answer| {
            answer.edit_data(|vault| {
                let mut name = vault["name"].as_str().unwrap_or_default().to_owned();
                name.pop();
                vault["name"] = name.into();
            });
        })
    ),
    fault!(
        "vaults.visibility-secret",
        "A private vault is read with the visibility secret.",
        ["VA-05", "VA-21", "VA-24", "VA-13", "VA-16", "VA-19", "VA-29", "VA-31"],
        answers(READ, |_, answer| {
            answer.edit_data(|vault| {
                if vault["visibility"] == "private" {
                    vault["visibility"] = json!("secret");
                }
            });
        })
    ),
    fault!(
        "vaults.not-updated-yet",
        "A vault that was never updated is read with the updatedAt null.",
        ["VA-11", "VA-21", "EN-09", "VA-16", "VA-23", "VA-29"],
        answers(READ, |_, answer| {
            answer.edit_data(|vault| {
                if vault["updatedAt"] == vault["createdAt"] {
                    vault["updatedAt"] = Value::Null;
                }
            });
        })
    ),
    fault!(
        "vaults.count-from-one",
        "A vault is read with a count of one when it is empty.",
        ["VA-10", "VA-16", "VA-13", "VA-23", "VA-32", "VC-20", "HT-20"],
        answers(READ, |_, answer| answer.edit_data(|vault| {
            if vault["promptCount"] == 0 {
                vault["promptCount"] = json!(1);
            }
        }))
    ),
    fault!(
        "vaults.list-with-pagination",
        "The list of vaults has a pagination.",
        ["VA-15", "EN-03"],
        answers("GET /vaults", |_, answer| paginated(answer))
    ),
    fault!(
        "contents.listing-with-pagination",
        "A listing has a pagination.",
        ["VC-05", "EN-03"],
        answers("GET /vaults/*/prompts", |_, answer| paginated(answer))
    ),
    fault!(
        "contents.remove-id-400",
        "A membership's id that no membership can have is answered 400.",
        ["VC-15", "AU-02", "AU-07", "ER-08"],
        instead("DELETE /vaults/*/prompts/*", |ask| {
            (ask.id(3) <= 0).then(|| Answer::refusal(400, "That is no id of a membership."))
        })
    ),
    fault!(
        "contents.wrong-type-422",
        "promptIds that are no list are answered 422.",
        ["VC-13", "ER-05", "ER-04", "EN-02"],
        answers("POST /vaults/*/prompts", |ask, answer| {
            if answer.code() == 400 && !ask.json()["promptIds"].is_array() {
                answer.set_code(422);
            }
        })
    ),
];

fn paginated(answer: &mut Answer) {
    if answer.is_success() {
        answer.edit(|body| body["pagination"] = json!({ "nextCursor": null }));
    }
}
