//! Faults in making, listing and revoking keys in a browser session (KE, ER-11).

use std::collections::HashMap;

use http::Method;
use serde_json::{Value, json};

use super::token;
use crate::ask::{Answer, Ask};
use crate::bounds::{bytes, empty_taken, refusal, taken_as, text_refused, text_taken};
use crate::entries::{entries, text, without};
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, foreseen, instead, whole};
use crate::shared::Shared;

const CREATE: &str = "POST /api-keys";
const LIST: &str = "GET /api-keys";
const REVOKE: &str = "DELETE /api-keys/*";
/// What the public ids of generated keys begin with.
pub(in crate::faults) const GENERATED: &str = "promptarium_live_p1";
const LATER: &str = "2030-01-01T00:00:00.000000Z";

pub(in crate::faults) const ALL: &[Fault] = &[
    fault!(
        "keys.create-200",
        "A new key is answered with 200.",
        ["KE-06", "KE-05"],
        answers(CREATE, |_, answer| {
            if answer.is_success() {
                answer.set_code(200);
            }
        })
    ),
    fault!(
        "keys.create-without-name",
        "The answer to the creation of a key leaves its name out.",
        ["KE-06", "KE-07"],
        answers(CREATE, |_, answer| answer.edit_data(|data| without(data, "name")))
    ),
    fault!(
        "keys.with-a-point",
        "A new key ends with a point.",
        ["KE-01"],
        foreseen(
            whole("* /**", |mut ask, upstream| async move {
                if let Some(key) = token(&ask).strip_suffix('.').map(str::to_owned) {
                    ask.set_authorization(&format!("Bearer {key}"));
                }
                let mut answer = upstream.send(&ask).await;
                if is_creation(&ask) {
                    answer.edit_data(|data| data["key"] = format!("{}.", text(data, "key")).into());
                }
                answer
            }),
            |ask, _| is_creation(ask)
        )
    ),
    fault!(
        "keys.new-key-unknown",
        "A key that was made in a session is not known.",
        ["KE-06", "KE-03", "KE-07"],
        instead("* /**", |ask| {
            token(ask).starts_with(GENERATED).then(|| Answer::refusal(401, "The key is unknown."))
        })
    ),
    fault!(
        "keys.all-may-write",
        "Every new key has the scope prompts:write.",
        ["KE-03", "AU-08"],
        asks(CREATE, |ask| ask.edit(|body| {
            if body["scopes"] == json!([]) {
                body["scopes"] = json!(["prompts:write"]);
            }
        }))
    ),
    fault!(
        "keys.none-may-write",
        "No new key has a scope, whatever was asked for.",
        ["KE-06"],
        asks(CREATE, |ask| ask.edit(|body| {
            if body["scopes"] == json!(["prompts:write"]) {
                body["scopes"] = json!([]);
            }
        }))
    ),
    fault!(
        "keys.secret-in-list",
        "The list shows every key that was made.",
        ["KE-04", "KE-07"],
        remembered("POST /api-keys, GET /api-keys")
    ),
    fault!(
        "keys.secret-at-revocation",
        "The revocation of a key shows the key.",
        ["KE-04", "KE-07"],
        remembered("POST /api-keys, DELETE /api-keys/*")
    ),
    fault!(
        "keys.name-101",
        "A name of 101 characters is taken.",
        ["KE-06"],
        text_taken(CREATE, "name", 101)
    ),
    fault!(
        "keys.name-100-refused",
        "The length of a name is counted in bytes.",
        ["KE-06"],
        text_refused(CREATE, "name", 100, bytes)
    ),
    fault!("keys.name-empty", "An empty name is taken.", ["KE-06"], empty_taken(CREATE, "name")),
    fault!(
        "keys.name-blank",
        "A name of blanks is taken.",
        ["KE-06"],
        taken_as(CREATE, "name", |name| {
            let blank = name.as_str().is_some_and(|name| name.len() > 1 && name.trim().is_empty());
            blank.then(|| "-".into())
        })
    ),
    fault!(
        "keys.name-number",
        "A number is taken as a name.",
        ["KE-06"],
        taken_as(CREATE, "name", |name| Some(name.as_i64()?.to_string().into()))
    ),
    fault!(
        "keys.name-optional",
        "A key needs no name.",
        ["KE-06"],
        asks(CREATE, |ask| ask.edit(|body| {
            if let Some(body) = body.as_object_mut() {
                body.entry("name").or_insert_with(|| "-".into());
            }
        }))
    ),
    fault!(
        "keys.refused-without-details",
        "The 400 of POST /api-keys names no field.",
        ["KE-06", "KE-03"],
        answers(CREATE, |_, answer| {
            if answer.code() == 400 {
                answer.edit(|body| body["details"] = json!({}));
            }
        })
    ),
    fault!(
        "keys.scopes-optional",
        "A key whose scopes are not said has none.",
        ["KE-03"],
        asks(CREATE, |ask| ask.edit(|body| {
            if let Some(body) = body.as_object_mut().filter(|body| body.contains_key("name")) {
                body.entry("scopes").or_insert_with(|| json!([]));
            }
        }))
    ),
    fault!(
        "keys.scopes-unknown",
        "Unknown scopes are left out.",
        ["KE-03"],
        taken_as(CREATE, "scopes", |scopes| {
            let known = scopes.as_array()?.iter().filter(|scope| **scope == "prompts:write");
            Some(known.cloned().collect())
        })
    ),
    fault!(
        "keys.scopes-repeated",
        "A scope may be said twice.",
        ["KE-03"],
        taken_as(CREATE, "scopes", |scopes| {
            let mut scopes = scopes.as_array()?.clone();
            scopes.dedup();
            Some(scopes.into())
        })
    ),
    fault!(
        "keys.scopes-text",
        "One scope may stand there without a list.",
        ["KE-03"],
        taken_as(CREATE, "scopes", |scopes| Some(json!([scopes.as_str()?])))
    ),
    fault!(
        "keys.body-of-any-type",
        "POST /api-keys takes a body of any type of content.",
        ["KE-06"],
        asks(CREATE, |ask| {
            let json = http::HeaderValue::from_static("application/json");
            ask.headers.insert(http::header::CONTENT_TYPE, json);
        })
    ),
    fault!(
        "keys.oldest-first",
        "Keys are listed oldest first.",
        ["KE-07"],
        answers(LIST, |_, answer| entries(answer, |list| list.reverse()))
    ),
    fault!(
        "keys.listed-with-creation-as-use",
        "The list has the time of its creation as the last use of a key that nobody used.",
        ["KE-07"],
        answers(LIST, |_, answer| entries(answer, |list| {
            for key in list.iter_mut().filter(|key| key["lastUsedAt"].is_null()) {
                key["lastUsedAt"] = key["createdAt"].clone();
            }
        }))
    ),
    fault!(
        "keys.use-not-recorded",
        "lastUsedAt of every key is null.",
        ["KE-07"],
        answers(LIST, |_, answer| answer.each(|key| key["lastUsedAt"] = Value::Null))
    ),
    fault!(
        "keys.revoked-not-listed",
        "A revoked key is gone from the list.",
        ["KE-07"],
        answers(LIST, |_, answer| entries(answer, |list| {
            list.retain(|key| key["revokedAt"].is_null());
        }))
    ),
    fault!(
        "keys.revoked-without-time",
        "The answer to a revocation has null as its time.",
        ["KE-07"],
        answers(REVOKE, |_, answer| answer.edit_data(|key| key["revokedAt"] = Value::Null))
    ),
    fault!(
        "keys.revoked-later",
        "Revoking a key again changes the time of its revocation.",
        ["KE-07"],
        {
            let revoked = Shared::<Vec<String>>::default();
            answers(REVOKE, move |ask, answer| {
                let again = revoked.with(|ids| {
                    let id = ask.segment(1).to_owned();
                    ids.push(id.clone());
                    ids.iter().filter(|one| **one == id).count() > 1
                });
                if again {
                    answer.edit_data(|key| key["revokedAt"] = LATER.into());
                }
            })
        }
    ),
    fault!(
        "keys.revoked-works-on",
        "A key is answered as revoked and works on.",
        ["KE-07", "AU-06"],
        whole(REVOKE, |ask, upstream| async move {
            let listed = upstream.send(&ask.another(Method::GET, "/api-keys")).await.json();
            let id = ask.segment(1);
            let mut keys = listed["data"].as_array().into_iter().flatten();
            let own = ask.headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
            match keys.find(|key| own && key["publicId"] == id).cloned() {
                Some(mut key) => {
                    key["revokedAt"] = key["createdAt"].clone();
                    Answer::data(200, &key)
                }
                None => upstream.send(&ask).await,
            }
        })
    ),
    fault!(
        "keys.revoke-unknown-400",
        "Revoking a key that does not exist is 400.",
        ["ER-11"],
        answers(REVOKE, |ask, answer| {
            if answer.code() == 404 && ask.segment(1) != "other" {
                *answer = refusal("publicId");
            }
        })
    ),
    fault!(
        "keys.revoke-of-others-403",
        "Revoking a key of another account is 403.",
        ["ER-11"],
        instead(REVOKE, |ask| {
            (ask.segment(1) == "other").then(|| Answer::refusal(403, "The key is not yours."))
        })
    ),
];

fn is_creation(ask: &Ask) -> bool {
    ask.of_api && ask.method == Method::POST && ask.path == "/api-keys"
}

/// The answers of these routes have the key of every record whose creation was seen.
fn remembered(routes: &'static str) -> How {
    let keys = Shared::<HashMap<String, Value>>::default();
    answers(routes, move |ask, answer| {
        if is_creation(ask) {
            let data = answer.json()["data"].clone();
            keys.with(|keys| keys.insert(text(&data, "publicId").to_owned(), data["key"].clone()));
            return;
        }
        answer.each(|record| {
            if let Some(key) = keys.with(|keys| keys.get(text(record, "publicId")).cloned()) {
                record["key"] = key;
            }
        });
    })
}
