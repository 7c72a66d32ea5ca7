//! Faults in the values that a vault shows, and in what a listing says beside them.

use serde_json::{Value, json};

use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_data, instead};

const READ: &str = "GET /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-cut" ["VA-02"] edits_data(READ, |vault| {
        let mut name = vault["name"].as_str().unwrap_or_default().to_owned();
        name.pop();
        vault["name"] = name.into();
    }),
        "A vault is read without the last character of its name." },
    fault! { "vaults.visibility-secret" ["VA-05"] edits_data(READ, |vault| {
        if vault["visibility"] == "private" {
            vault["visibility"] = json!("secret");
        }
    }),
        "A private vault is read with the visibility secret." },
    fault! { "vaults.not-updated-yet" ["VA-11"] edits_data(READ, |vault| {
        if vault["updatedAt"] == vault["createdAt"] {
            vault["updatedAt"] = Value::Null;
        }
    }),
        "A vault that was never updated is read with the updatedAt null." },
    fault! { "vaults.count-from-one" ["VA-10"] edits_data(READ, |vault| {
        if vault["promptCount"] == 0 {
            vault["promptCount"] = json!(1);
        }
    }),
        "A vault is read with a count of one when it is empty." },
    fault! { "vaults.list-with-pagination" ["VA-15"]
        answers("GET /vaults", |_, answer| paginated(answer)),
        "The list of vaults has a pagination." },
    fault! { "contents.listing-with-pagination" ["VC-05"]
        answers("GET /vaults/*/prompts", |_, answer| paginated(answer)),
        "A listing has a pagination." },
    fault! { "contents.remove-id-400" ["ER-08"] instead("DELETE /vaults/*/prompts/*", |ask| {
        (ask.id(3) <= 0).then(|| Response::refusal(400, "That is no id of a membership."))
    }),
        "A membership's id that no membership can have is answered 400." },
    fault! { "contents.wrong-type-422" ["VC-13"] answers("POST /vaults/*/prompts", |ask, answer| {
        if answer.code() == 400 && !ask.json()["promptIds"].is_array() {
            answer.set_code(422);
        }
    }),
        "promptIds that are no list are answered 422." },
];

fn paginated(answer: &mut Response) {
    if answer.is_success() {
        answer.edit(|body| body["pagination"] = json!({ "nextCursor": null }));
    }
}
