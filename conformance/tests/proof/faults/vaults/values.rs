//! Faults in the values that a vault shows, and in what a listing says beside them.

use serde_json::{Value, json};

use crate::bounds::shown_as;
use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, code_instead, edits_data, refused};

const READ: &str = "GET /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-cut" ["VA-02"] shown_as(READ, "name", |name| {
        let mut name = name.as_str()?.to_owned();
        name.pop().map(|_| name.into())
    }),
        "A vault is read without the last character of its name." },
    fault! { "vaults.visibility-secret" ["VA-05"] shown_as(READ, "visibility", |visibility| {
        (visibility == "private").then(|| "secret".into())
    }),
        "A private vault is read with the visibility secret." },
    fault! { "vaults.not-updated-yet" ["VA-11"] edits_data(READ, |vault| {
        if vault["updatedAt"] == vault["createdAt"] {
            vault["updatedAt"] = Value::Null;
        }
    }),
        "A vault that was never updated is read with the updatedAt null." },
    fault! { "vaults.count-from-one" ["VA-10"]
        shown_as(READ, "promptCount", |count| (*count == 0).then(|| 1.into())),
        "A vault is read with a count of one when it is empty." },
    fault! { "vaults.list-with-pagination" ["VA-15"]
        answers("GET /vaults", |_, answer| paginated(answer)),
        "The list of vaults has a pagination." },
    fault! { "contents.listing-with-pagination" ["VC-05"]
        answers("GET /vaults/*/prompts", |_, answer| paginated(answer)),
        "A listing has a pagination." },
    fault! { "contents.remove-id-400" ["VC-15"]
        refused("DELETE /vaults/*/prompts/*", 400, |ask| ask.id(3) <= 0),
        "A membership's id that no membership can have is answered 400." },
    fault! { "contents.wrong-type-422" ["VC-13"]
        code_instead("POST /vaults/*/prompts", 400, 422, |ask| !ask.json()["promptIds"].is_array()),
        "promptIds that are no list are answered 422." },
];

fn paginated(answer: &mut Response) {
    if answer.is_success() {
        answer.edit(|body| body["pagination"] = json!({ "nextCursor": null }));
    }
}
