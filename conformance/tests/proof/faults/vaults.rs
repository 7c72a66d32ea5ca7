//! Faults in vaults (VA, LI-06, LI-07): the fields that come in and their limits.

pub(super) mod changes;
pub(super) mod copies;
pub(super) mod counts;
pub(super) mod deletion;
pub(super) mod forks;
pub(super) mod list;
pub(super) mod object;

use serde_json::{Value, json};

use crate::bounds::{
    bytes, characters, defaulted, ignored, ignored_if, taken_as, text_is_refused, text_refused,
    text_taken, utf16_units,
};
use crate::entries::without;
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits, whole};

/// Where a vault's fields come in.
const WRITES: &str = "POST /vaults, PATCH /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-51" ["LI-06"] text_taken(WRITES, "name", 50),
        "A vault's name of 51 characters is accepted." },
    fault! { "vaults.name-bytes" ["LI-06"] text_refused(WRITES, "name", 50, bytes),
        "The 50 characters of a name are counted in bytes." },
    fault! { "vaults.name-utf16" ["LI-06"]
        text_is_refused(WRITES, "name", |name| utf16_units(name) > 50 && characters(name) <= 50),
        "A name is counted in UTF-16 units." },
    fault! { "vaults.name-empty" ["LI-06"]
        ignored_if("PATCH /vaults/*", "name", |value| value == ""),
        "An update to the empty name is passed over and answered 200." },
    fault! { "vaults.name-trimmed" ["VA-02"] taken_as(WRITES, "name", |name| {
        name.as_str().map(str::trim).filter(|name| !name.is_empty()).map(Into::into)
    }),
        "White space around a name is cut off." },
    fault! { "vaults.name-missing" ["VA-17"] defaulted("POST /vaults", "name", "Untitled"),
        "A vault without a name is made as \"Untitled\"." },
    fault! { "vaults.name-number" ["ER-05"]
        taken_as("POST /vaults", "name", |name| name.is_number().then(|| name.to_string().into())),
        "A number is taken as a name." },
    fault! { "vaults.description-201" ["LI-07"] text_taken(WRITES, "description", 200),
        "A description of 201 characters is accepted." },
    fault! { "vaults.description-bytes" ["LI-07"] text_refused(WRITES, "description", 200, bytes),
        "A description is counted in bytes." },
    fault! { "vaults.description-dropped" ["VA-18"] ignored("POST /vaults", "description"),
        "A create forgets the description." },
    fault! { "vaults.null-kept" ["VA-25"]
        ignored_if("PATCH /vaults/*", "description", Value::is_null),
        "description: null in an update is passed over." },
    fault! { "vaults.patch-clears" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("name").is_some() && body.get("description").is_none() {
            body["description"] = Value::Null;
        }
    }),
        "An update that leaves the description out clears it." },
    fault! { "vaults.patch-hides" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("description").is_some() && body.get("visibility").is_none() {
            body["visibility"] = "private".into();
        }
    }),
        "An update that leaves the visibility out makes the vault private." },
    fault! { "vaults.patch-first-field" ["VA-24"] edits("PATCH /vaults/*", |body| {
        if body["name"].as_str().is_some_and(|name| !name.is_empty()) {
            without(body, "visibility");
        }
    }),
        "An update with a name takes no other field." },
    fault! { "vaults.patch-answers-old" ["VA-22"]
        whole("PATCH /vaults/*", |ask, upstream| async move {
            let before = upstream.get(&ask, &*ask.path).await;
            let answer = upstream.send(&ask).await;
            if answer.is_success() { before } else { answer }
        }),
        "An update answers with the vault before it." },
    fault! { "vaults.patch-answers-part" ["VA-22"] answers("PATCH /vaults/*", |ask, answer| {
        let body = ask.json();
        answer.edit_data(|vault| {
            let kept = |key: &str| key == "id" || body.get(key).is_some();
            if let Value::Object(fields) = vault {
                fields.retain(|key, _| kept(key));
            }
        });
    }),
        "An update answers with the id and what it brought." },
    fault! { "vaults.visible-by-default" ["VA-19"]
        defaulted("POST /vaults", "visibility", "unlisted"),
        "A new vault is unlisted by default." },
    fault! { "vaults.visibility-private" ["VA-20"]
        taken_as("POST /vaults", "visibility", |visibility| {
        unknown(visibility.as_str()?).then(|| "private".into())
    }),
        "An unknown visibility of a create is private." },
    fault! { "vaults.visibility-kept" ["VA-20"]
        ignored_if("PATCH /vaults/*", "visibility", |value| value.as_str().is_some_and(unknown)),
        "An unknown visibility of an update is passed over." },
    fault! { "vaults.visibility-case" ["VA-20"] taken_as(WRITES, "visibility", |visibility| {
        let lower = visibility.as_str()?.to_lowercase();
        (!unknown(&lower)).then(|| lower.into())
    }),
        "A visibility may be in upper case." },
    fault! { "vaults.general-deleted" ["VA-12"] general_deleted(),
        "The General vault can be deleted." },
];

fn unknown(visibility: &str) -> bool {
    !["private", "unlisted", "public"].contains(&visibility)
}

/// It only says so; the vault is there again with the next output.
fn general_deleted() -> Intercept {
    whole("DELETE /vaults/*", |ask, upstream| async move {
        let vault = upstream.get(&ask, &*ask.path).await;
        if vault.json()["data"]["isSystem"] == true {
            return Response::data(200, &json!({ "id": ask.id(1), "deleted": true }));
        }
        upstream.send(&ask).await
    })
}
