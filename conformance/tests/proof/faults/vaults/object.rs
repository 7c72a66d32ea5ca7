//! Faults in the vault object and the list of vaults (VA-01 to VA-15).

use std::iter::repeat_n;

use crate::prelude::*;

const READ: &str = "GET /vaults/*";
const LIST: &str = "GET /vaults";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.description-key" ["VA-03"] edits_data("GET /vaults/*", |vault| {
        if vault["description"].is_null() {
            without(vault, "description");
        }
    }),
        "A vault without a description has no such key." },
    fault! { in "vaults.slug.url-safe" "vaults.slug-same" ["VA-04"]
        edits_each("GET /vaults/*, POST /vaults", |vault| vault["slug"] = "vault".into()),
        "The slug of every vault is the same." },
    fault! { in "generations.vault.general" "vaults.general-no-system" ["VA-12"]
        edits_each("GET /vaults", |vault| vault["isSystem"] = false.into()),
        "The General vault is no system vault." },
    fault! { "vaults.slug-name" ["VA-04"]
        edits_data("GET /vaults/*, POST /vaults", |vault| vault["slug"] = vault["name"].clone()),
        "A slug is the name, spaces and all." },
    fault! { "vaults.slug-id" ["VA-04"] edits_data("GET /vaults/*, POST /vaults", |vault| {
        vault["slug"] = format!("v{}", vault["id"]).into();
    }),
        "A slug is made from the id." },
    fault! { "vaults.slug-null" ["VA-04"]
        edits_each("GET /vaults/*, POST /vaults, GET /vaults", |vault| {
            let name = vault["name"].as_str().unwrap_or_default();
            if !name.contains(|c: char| c.is_ascii_alphanumeric()) {
                vault["slug"] = Value::Null;
            }
        }),
        "A vault whose name has no letters has a slug of null." },
    fault! { "vaults.id-text" ["VA-01"] shown_as("GET /vaults/*", "id", as_text),
        "GET shows a vault's id as a string." },
    fault! { "vaults.cover-missing" ["VA-08"]
        edits_data("GET /vaults/*", |vault| without(vault, "coverImageUrl")),
        "A vault without a cover has no coverImageUrl." },
    fault! { "vaults.created-anew" ["VA-11"]
        edits_each("GET /vaults/*, PATCH /vaults/*, GET /vaults", |vault| {
            vault["createdAt"] = vault["updatedAt"].clone();
        }),
        "An update moves createdAt too." },
    fault! { "vaults.read-unlisted" ["VA-21"] answers("GET /vaults/*", |_, response| {
        if response.json()["data"]["visibility"] == "unlisted" {
            *response = Response::refusal(404, "no such vault");
        }
    }),
        "An unlisted vault is not read at its address." },
    fault! { "vaults.visibility-word" ["VA-13"]
        shown_as("GET /vaults", "visibility", |word| Some(word.as_str()?.to_uppercase().into())),
        "The list has visibilities in capitals." },
    fault! { "vaults.name-cut" ["VA-02"] shown_as(READ, "name", |name| {
        let mut name = name.as_str()?.to_owned();
        name.pop().map(|_| name.into())
    }),
        "A vault is read without the last character of its name." },
    fault! { "vaults.not-updated-yet" ["VA-11"] edits_data(READ, |vault| {
        if vault["updatedAt"] == vault["createdAt"] {
            vault["updatedAt"] = Value::Null;
        }
    }),
        "A vault that was never updated is read with the updatedAt null." },
    fault! { "vaults.count-from-one" ["VA-10"]
        shown_as(READ, "promptCount", |count| (*count == 0).then(|| 1.into())),
        "A vault is read with a count of one when it is empty." },
    fault! { "vaults.list-with-pagination" ["VA-15"] edits_success("GET /vaults", paginated),
        "The list of vaults has a pagination." },
    fault! { "contents.listing-with-pagination" ["VC-05"]
        edits_success("GET /vaults/*/prompts", paginated),
        "A listing has a pagination." },
    fault! { "contents.remove-id-400" ["ER-08"]
        refused("DELETE /vaults/*/prompts/*", 400, |request| request.id(3) <= 0),
        "A membership's id that no membership can have is answered 400." },
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

fn paginated(body: &mut Value) {
    body["pagination"] = json!({ "nextCursor": null });
}
