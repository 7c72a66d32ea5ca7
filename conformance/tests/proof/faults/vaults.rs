//! Faults in vaults (VA, LI-06, LI-07): the fields that come in and their limits.

pub(super) mod changes;
pub(super) mod copies;
pub(super) mod counts;
pub(super) mod deletion;
pub(super) mod forks;
pub(super) mod list;
pub(super) mod object;
pub(super) mod values;

use http::Method;
use serde_json::{Value, json};

use crate::bounds::{bytes, characters, ignored, ignored_if, text_refused, text_taken};
use crate::entries::without;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits, instead, whole};

/// Where a vault's fields come in.
const WRITES: &str = "POST /vaults, PATCH /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-51" ["LI-06"] text_taken(WRITES, "name", 50),
        "A vault's name of 51 characters is accepted." },
    fault! { "vaults.name-50" ["LI-06"] text_refused(WRITES, "name", 49, characters),
        "A vault's name of 50 characters is refused." },
    fault! { "vaults.name-bytes" ["LI-06"] text_refused(WRITES, "name", 50, bytes),
        "The 50 characters of a name are counted in bytes." },
    fault! { "vaults.name-utf16" ["LI-06"] instead(WRITES, |ask| {
        let over = |text: &str| text.encode_utf16().count() > 50 && text.chars().count() <= 50;
        refused(ask, "name", over)
    }),
        "A name is counted in UTF-16 units." },
    fault! { "vaults.name-empty" ["LI-06"]
        ignored_if("PATCH /vaults/*", "name", |value| value == ""),
        "An update to the empty name is passed over and answered 200." },
    fault! { "vaults.name-trimmed" ["VA-02"] edits(WRITES, |body| {
        if let Some(name) = body["name"].as_str().filter(|name| name.trim() != "") {
            body["name"] = name.trim().into();
        }
    }),
        "White space around a name is cut off." },
    fault! { "vaults.name-missing" ["VA-17"] edits("POST /vaults", |body| {
        if body.is_object() && body.get("name").is_none() {
            body["name"] = "Untitled".into();
        }
    }),
        "A vault without a name is made as \"Untitled\"." },
    fault! { "vaults.name-number" ["ER-05"] edits("POST /vaults", |body| {
        if body["name"].is_number() {
            body["name"] = body["name"].to_string().into();
        }
    }),
        "A number is taken as a name." },
    fault! { "vaults.description-201" ["LI-07"] text_taken(WRITES, "description", 200),
        "A description of 201 characters is accepted." },
    fault! { "vaults.description-200" ["LI-07"]
        text_refused(WRITES, "description", 199, characters),
        "A description of 200 characters is refused." },
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
            let before = upstream.send(&ask.another(Method::GET, ask.path.as_str())).await;
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
    fault! { "vaults.visible-by-default" ["VA-19"] edits("POST /vaults", |body| {
        if body.is_object() && body.get("visibility").is_none() {
            body["visibility"] = "unlisted".into();
        }
    }),
        "A new vault is unlisted by default." },
    fault! { "vaults.visibility-private" ["VA-20"] edits("POST /vaults", |body| {
        if body["visibility"].as_str().is_some_and(unknown) {
            body["visibility"] = "private".into();
        }
    }),
        "An unknown visibility of a create is private." },
    fault! { "vaults.visibility-kept" ["VA-20"]
        ignored_if("PATCH /vaults/*", "visibility", |value| value.as_str().is_some_and(unknown)),
        "An unknown visibility of an update is passed over." },
    fault! { "vaults.visibility-case" ["VA-20"] edits(WRITES, |body| {
        let lower = body["visibility"].as_str().map(str::to_lowercase);
        if let Some(lower) = lower.filter(|lower| !unknown(lower)) {
            body["visibility"] = lower.into();
        }
    }),
        "A visibility may be in upper case." },
    fault! { "vaults.general-deleted" ["VA-12"] general_deleted(),
        "The General vault can be deleted." },
];

fn unknown(visibility: &str) -> bool {
    !["private", "unlisted", "public"].contains(&visibility)
}

/// A refusal if the field has such a text.
pub(super) fn refused(
    ask: &Request,
    field: &str,
    bad: impl FnOnce(&str) -> bool,
) -> Option<Response> {
    let bad = ask.text(field).is_some_and(|text| bad(&text));
    bad.then(|| Response::refusal(400, &format!("{field} is too long")))
}

/// It only says so; the vault is there again with the next output.
fn general_deleted() -> Intercept {
    whole("DELETE /vaults/*", |ask, upstream| async move {
        let vault = upstream.send(&ask.another(Method::GET, ask.path.as_str())).await;
        if vault.json()["data"]["isSystem"] == true {
            return Response::data(200, &json!({ "id": ask.id(1), "deleted": true }));
        }
        upstream.send(&ask).await
    })
}
