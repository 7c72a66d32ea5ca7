//! Faults in the envelope and its conventions, and in the version's prefix (EN, VE).

use http::header::CONTENT_TYPE;

use crate::exchange::ROOT;
use crate::prelude::*;

/// Above every id that a server has given out so far.
const MOST: i64 = 1 << 40;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "envelope.list-moved" ["EN-01"] refused("GET /vaults", 308, |_| true),
        "The list of vaults is at /vaults/, and /vaults leads there." },
    fault! { "envelope.no-charset" ["EN-02"] instead("POST /**, PATCH /**", |request| {
        let kind = request.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        (kind.starts_with("application/json") && kind.contains(';'))
            .then(|| Response::refusal(415, "Content-Type has to be application/json."))
    }),
        "A Content-Type with parameters is refused." },
    fault! { "envelope.latin1" ["PR-02"] edits("POST /prompts, PATCH /prompts/*", |body| {
        for name in ["title", "prompt"] {
            if let Some(text) = body[name].as_str().filter(|text| text.len() <= 120) {
                body[name] = text.bytes().map(char::from).collect::<String>().into();
            }
        }
    }),
        "Bodies are read as Latin-1." },
    fault! { "envelope.success-without-error" ["EN-03"]
        edits_success("DELETE /vaults/*", |body| without(body, "error")),
        "The answer of a deleted vault lacks the key error." },
    fault! { "envelope.error-without-data" ["EN-03"] answers("* /prompts/*", |_, response| {
        if !response.is_success() {
            response.edit(|body| without(body, "data"));
        }
    }),
        "An error of a prompt's path lacks the key data." },
    fault! { "envelope.empty-list-null" ["EN-05"] edits_data("GET /vaults/*/prompts", |data| {
        if *data == json!([]) {
            *data = Value::Null;
        }
    }),
        "An empty vault is listed with data null." },
    fault! { "envelope.error-with-data" ["EN-06"] answers("* /prompts/*, * /vaults/*", |_, response| {
        if response.code() == 404 {
            response.edit(|body| body["data"] = json!({}));
        }
    }),
        "A 404 has an empty object as data." },
    fault! { "envelope.last-without-pagination" ["EN-07"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_null() {
            without(body, "pagination");
        }
    }),
        "The last page has no pagination." },
    fault! { "envelope.next-cursor-left-out" ["PG-01"] edits_answer("GET /prompts", |body| {
        if body["pagination"]["nextCursor"].is_null() && body["pagination"].is_object() {
            body["pagination"] = json!({});
        }
    }),
        "The last page has no nextCursor instead of null." },
    fault! { "envelope.time-with-space" ["EN-09"]
        edits_each("GET /vaults", |vault| times(vault, |time| time.replace('T', " "))),
        "The times of the list of vaults have a space for the T." },
    fault! { "envelope.time-swapped" ["EN-09"]
        edits_data("POST /prompts", |prompt| times(prompt, |time| time.replacen('-', "/", 2))),
        "A new prompt has its times with day and month exchanged and slashes." },
    fault! { "envelope.version-2-too" ["VE-02"] asks("* /api/v2/**", |request| {
        request.path = request.path.replacen("/api/v2", "", 1);
        request.of_api = true;
    }),
        "The same API answers under /api/v2." },
    fault! { "envelope.version-left-out" ["VE-01"] asks("* /api/vaults", |request| {
        request.path = request.path.replacen("/api", ROOT, 1);
    }),
        "The API answers under /api without its version." },
    fault! { "ids.descend" ["EN-08"]
        whole("* /prompts/**, * /vaults/**, * /generations/**", |request, upstream| {
            let request = upside_down(request);
            async move {
                let mut response = upstream.send(&request).await;
                response.edit(other_ids);
                response
            }
        }),
        "Ids are counted down from a great number." },
    fault! { "envelope.refused-body-back" ["EN-06"] answers("POST /vaults", |request, response| {
        if response.code() == 400 {
            let body = request.json();
            response.edit(|response| response["data"] = body);
        }
    }),
        "A 400 of a new vault has the refused body as data." },
];

fn times(object: &mut Value, form: impl Fn(&str) -> String) {
    for name in ["createdAt", "updatedAt"] {
        if let Some(time) = object[name].as_str() {
            object[name] = form(time).into();
        }
    }
}

/// An id as it is shown, and back.
fn counted_down(id: i64) -> Option<i64> {
    (1..MOST).contains(&id).then(|| MOST - id)
}

/// The request with the server's own other_ids.
fn upside_down(mut request: Request) -> Request {
    request.path = in_text(&request.path);
    if let Some(query) = &mut request.query {
        let pairs = query.split('&');
        let pairs = pairs.map(|pair| match pair.strip_prefix("vaultId=") {
            Some(vault) => format!("vaultId={}", in_text(vault)),
            None => pair.to_owned(),
        });
        *query = pairs.collect::<Vec<_>>().join("&");
    }
    request.edit(other_ids);
    request
}

/// A text with the counted_down other_ids in place of those in it: whole words that are written as
/// other_ids are.
fn in_text(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | '%' | '_');
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let id = word.parse::<i64>().ok().filter(|id| id.to_string() == word);
        match id.and_then(counted_down) {
            Some(id) => written.push_str(&id.to_string()),
            None => written.push_str(word),
        }
        let next = after.find(is_word).unwrap_or(after.len());
        written.push_str(&after[..next]);
        rest = &after[next..];
    }
    written
}

/// Every id in a body.
fn other_ids(body: &mut Value) {
    match body {
        Value::Array(entries) => entries.iter_mut().for_each(other_ids),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::Number(_) | Value::Array(_) if is_id(name) => numbers(value),
                    Value::String(text) if is_told(name) => *text = in_text(text),
                    _ => other_ids(value),
                }
            }
        }
        _ => {}
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("Id") || name.ends_with("Ids")
}

/// Whether the member is a text that tells of other_ids.
fn is_told(name: &str) -> bool {
    matches!(name, "error" | "promptIds" | "vaultIds" | "targetVaultId")
}

fn numbers(value: &mut Value) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(numbers),
        one => {
            if let Some(id) = one.as_i64().and_then(counted_down) {
                *one = id.into();
            }
        }
    }
}
