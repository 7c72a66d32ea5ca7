//! Faults in making, listing and revoking keys in a browser session (KE, ER-11).

use super::token;
use crate::prelude::*;

const CREATE: &str = "POST /api-keys";
const LIST: &str = "GET /api-keys";
const REVOKE: &str = "DELETE /api-keys/*";
/// What the public ids of generated keys begin with.
pub(in crate::faults) const GENERATED: &str = "promptarium_live_p1";
const LATER: &str = "2030-01-01T00:00:00.000000Z";

pub(in crate::faults) const ALL: &[Fault] = &[
    fault! { "keys.create-200" ["KE-06"] status_instead(CREATE, 200),
    "A new key is answered with 200." },
    fault! { "keys.create-without-name" ["KE-06"] edits_data(CREATE, |data| without(data, "name")),
    "The answer to the creation of a key leaves its name out." },
    fault! { "keys.new-key-unknown" ["KE-06"]
    refused("* /**", 401, |request| token(request).starts_with(GENERATED)),
    "A key that was made in a session is not known." },
    fault! { "keys.all-may-write" ["KE-03"] taken_as(CREATE, "scopes", |scopes| {
        (*scopes == json!([])).then(|| json!(["prompts:write"]))
    }),
        "Every new key has the scope prompts:write." },
    fault! { "keys.none-may-write" ["KE-06"] taken_as(CREATE, "scopes", |scopes| {
        (*scopes == json!(["prompts:write"])).then(|| json!([]))
    }),
        "No new key has a scope, whatever was asked for." },
    fault! { "keys.secret-in-list" ["KE-04"] remembered("POST /api-keys, GET /api-keys"),
    "The list shows every key that was made." },
    fault! { "keys.secret-at-revocation" ["KE-04"] remembered("POST /api-keys, DELETE /api-keys/*"),
    "The revocation of a key shows the key." },
    fault! { "keys.name-101" ["KE-06"] text_taken(CREATE, "name", 100),
    "A name of 101 characters is taken." },
    fault! { "keys.name-100-refused" ["KE-06"] text_refused(CREATE, "name", 100, bytes),
    "The length of a name is counted in bytes." },
    fault! { "keys.name-empty" ["KE-06"] empty_taken(CREATE, "name"),
    "An empty name is taken." },
    fault! { "keys.name-optional" ["KE-06"] defaulted(CREATE, "name", "-"),
    "A key needs no name." },
    fault! { "keys.scopes-unknown" ["KE-03"] taken_as(CREATE, "scopes", |scopes| {
        let known = scopes.as_array()?.iter().filter(|scope| **scope == "prompts:write");
        Some(known.cloned().collect())
    }),
        "Unknown scopes are left out." },
    fault! { "keys.scopes-text" ["KE-03"]
    taken_as(CREATE, "scopes", |scopes| Some(json!([scopes.as_str()?]))),
    "One scope may stand there without a list." },
    fault! { "keys.body-of-any-type" ["KE-06"] asks(CREATE, Request::set_json_type),
    "POST /api-keys takes a body of any type of content." },
    fault! { "keys.oldest-first" ["KE-07"] edits_entries(LIST, |list| list.reverse()),
    "Keys are listed oldest first." },
    fault! { "keys.listed-with-creation-as-use" ["KE-07"] edits_entries(LIST, |list| {
        for key in list.iter_mut().filter(|key| key["lastUsedAt"].is_null()) {
            key["lastUsedAt"] = key["createdAt"].clone();
        }
    }),
        "The list has the time of its creation as the last use of a key that nobody used." },
    fault! { "keys.use-not-recorded" ["KE-07"] shown_as(LIST, "lastUsedAt", |_| Some(Value::Null)),
    "lastUsedAt of every key is null." },
    fault! { "keys.revoked-not-listed" ["KE-07"] edits_entries(LIST, |list| {
        list.retain(|key| key["revokedAt"].is_null());
    }),
        "A revoked key is gone from the list." },
    fault! { "keys.revoked-without-time" ["KE-07"]
    shown_as(REVOKE, "revokedAt", |_| Some(Value::Null)),
    "The answer to a revocation has null as its time." },
    fault! { "keys.revoked-later" ["KE-07"] {
        let revoked = Shared::<Vec<String>>::default();
        answers(REVOKE, move |request, response| {
            let again = revoked.with(|ids| {
                let id = request.segment(1).to_owned();
                ids.push(id.clone());
                ids.iter().filter(|one| **one == id).count() > 1
            });
            if again {
                response.edit_data(|key| key["revokedAt"] = LATER.into());
            }
        })
    },
        "Revoking a key again changes the time of its revocation." },
    fault! { "keys.revoked-works-on" ["KE-07"] whole(REVOKE, |request, upstream| async move {
        let listed = upstream.get(&request, "/api-keys").await.json();
        let id = request.segment(1);
        let mut keys = listed["data"].as_array().into_iter().flatten();
        let own = request.headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
        match keys.find(|key| own && key["publicId"] == id).cloned() {
            Some(mut key) => {
                key["revokedAt"] = key["createdAt"].clone();
                Response::data(200, &key)
            }
            None => upstream.send(&request).await,
        }
    }),
        "A key is answered as revoked and works on." },
    fault! { "keys.revoke-unknown-400" ["ER-11"]
    code_instead(REVOKE, 404, 400, |request| request.segment(1) != "other"),
    "Revoking a key that does not exist is 400." },
    fault! { "keys.revoke-of-others-403" ["ER-11"]
    refused(REVOKE, 403, |request| request.segment(1) == "other"),
    "Revoking a key of another account is 403." },
];

fn is_creation(request: &Request) -> bool {
    request.of_api && request.method == Method::POST && request.path == "/api-keys"
}

/// The answers of these routes have the key of every record whose creation was seen.
fn remembered(routes: &'static str) -> Intercept {
    let keys = Shared::<HashMap<String, Value>>::default();
    answers(routes, move |request, response| {
        if is_creation(request) {
            let data = response.json()["data"].clone();
            keys.with(|keys| keys.insert(text(&data, "publicId").to_owned(), data["key"].clone()));
            return;
        }
        response.each(|record| {
            if let Some(key) = keys.with(|keys| keys.get(text(record, "publicId")).cloned()) {
                record["key"] = key;
            }
        });
    })
}
