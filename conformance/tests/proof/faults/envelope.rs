//! Faults in the envelope and its conventions, and in the version's prefix (EN, VE).

use http::header::CONTENT_TYPE;

use crate::exchange::ROOT;
use crate::prelude::*;

/// Above every id that a server has given out so far.
const MOST: i64 = 1 << 40;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "envelope.list-moved" ["EN-01"] refused("GET /vaults", 308, |_| true) },
    // A Content-Type with parameters is refused.
    fault! { "envelope.no-charset" ["EN-02"] instead("POST /**, PATCH /**", |request| {
        let kind = request.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        (kind.starts_with("application/json") && kind.contains(';'))
            .then(|| Response::refusal(415, "Content-Type has to be application/json."))
    }) },
    // Bodies are read as Latin-1.
    fault! { "envelope.latin1" ["PR-02"] edits("POST /prompts, PATCH /prompts/*", |body| {
        for name in ["title", "prompt"] {
            if let Some(text) = body[name].as_str().filter(|text| text.len() <= 120) {
                body[name] = text.bytes().map(char::from).collect::<String>().into();
            }
        }
    }) },
    // An error of a prompt's path lacks the key data.
    fault! { "envelope.error-without-data" ["EN-03"] answers("* /prompts/*", |_, response| {
        if !response.is_success() {
            response.edit(|body| without(body, "data"));
        }
    }) },
    // An empty vault is listed with data null.
    fault! { "envelope.empty-list-null" ["EN-05"] edits_data("GET /vaults/*/prompts", |data| {
        if *data == json!([]) {
            *data = Value::Null;
        }
    }) },
    // A 404 has an empty object as data.
    fault! { "envelope.error-with-data" ["EN-06"] answers("* /prompts/*, * /vaults/*", |_, response| {
        if response.code() == 404 {
            response.edit(|body| body["data"] = json!({}));
        }
    }) },
    // The last page has no pagination.
    fault! { "envelope.last-without-pagination" ["EN-07"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_null() {
            without(body, "pagination");
        }
    }) },
    // The last page has no nextCursor instead of null.
    fault! { "envelope.next-cursor-left-out" ["PG-01"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_null() && body["pagination"].is_object() {
            body["pagination"] = json!({});
        }
    }) },
    fault! { "envelope.time-swapped" ["EN-09"]
        edits_data("POST /prompts", |prompt| times(prompt, |time| time.replacen('-', "/", 2))) },
    // The same API answers under /api/v2.
    fault! { "envelope.version-2-too" ["VE-02"] asks("* /api/v2/**", |request| {
        request.path = request.path.replacen("/api/v2", "", 1);
        request.of_api = true;
    }) },
    // The API answers under /api without its version.
    fault! { "envelope.version-left-out" ["VE-01"] asks("* /api/vaults", |request| {
        request.path = request.path.replacen("/api", ROOT, 1);
    }) },
    fault! { in "envelope.ids.ascending" "ids.memberships-descend" ["EN-08"]
        edits_each("GET /vaults/*/prompts", |one| descends(one, "vaultPromptId")) },
    // A 400 of a new vault has the refused body as data.
    fault! { "envelope.refused-body-back" ["EN-06"] answers("POST /vaults", |request, response| {
        if response.code() == 400 {
            let body = request.json();
            response.edit(|response| response["data"] = body);
        }
    }) },
];

fn times(object: &mut Value, form: impl Fn(&str) -> String) {
    for name in ["createdAt", "updatedAt"] {
        if let Some(time) = object[name].as_str() {
            object[name] = form(time).into();
        }
    }
}

/// An id is counted down.
fn descends(object: &mut Value, name: &str) {
    object[name] = (MOST - object[name].as_i64().unwrap_or_default()).into();
}
