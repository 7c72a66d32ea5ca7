//! Faults in authentication and scopes (AU), API keys and browser sessions (KE).

use http::HeaderValue;
use http::header::{COOKIE, REFERER, SET_COOKIE};

use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};
use crate::prelude::*;

const ALL_PATHS: &str = "* /**";
const CREATE: &str = "POST /api-keys";
const LIST: &str = "GET /api-keys";
const REVOKE: &str = "DELETE /api-keys/*";
/// What the public ids of generated keys begin with.
const GENERATED: &str = "promptarium_live_p1";
const SIGN_IN: &str = "POST /sign-in";
const KEYS: &str = "* /api-keys, * /api-keys/*";
const FETCH_SITE: &str = "sec-fetch-site";
const NAME: &str = "promptarium_session=";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "keys.without-prefix" ["KE-02"]
        let_in(ALL_PATHS, |request| MAIN.strip_prefix("promptarium_live_") == Some(token(request))) },
    // The 401 of POST /api-keys quotes the key.
    fault! { "keys.echoed" ["KE-04"] answers("POST /api-keys", |request, response| {
        if response.code() == 401 {
            let text = format!("The key {} opens no session.", token(request));
            response.edit(|body| body["error"] = text.into());
        }
    }) },
    // The list of vaults has the secret part of the key in a header.
    fault! { "keys.secret-in-header" ["KE-04"] answers("GET /vaults", |request, response| {
        if let Some(Ok(secret)) = token(request).rsplit('_').next().map(str::parse) {
            response.headers.insert("x-key", secret);
        }
    }) },
    fault! { "keys.made-with-a-key" ["KE-05"]
        instead("POST /api-keys", |request| (token(request) == MAIN).then(made)) },
    fault! { "keys.made-with-any-key" ["KE-05"]
        instead("POST /api-keys", |request| (token(request) == READ_ONLY).then(made)) },
    // POST /api-keys makes a key for a caller without key and session.
    fault! { "keys.made-for-anybody" ["KE-05"] instead("POST /api-keys", |request| {
        (token(request).is_empty() && !has_session(request)).then(made)
    }) },
    fault! { "auth.right-key-refused" ["AU-01"]
        refused("GET /generations/*/status", 401, |request| !token(request).is_empty()) },
    fault! { "auth.missing-on-one-path" ["AU-02"]
        let_in("GET /vaults", |request| request.authorization().is_empty()) },
    // A key in the query is taken.
    fault! { "auth.key-in-query" ["AU-02"] let_in("GET /**", |request| {
        let given = request.query.as_deref().is_some_and(|query| query.contains(MAIN));
        request.authorization().is_empty() && given
    }) },
    fault! { "auth.bearer-any-case" ["AU-03"]
        let_in(ALL_PATHS, |request| request.authorization() == format!("bearer {MAIN}")) },
    // A key that lacks its last character is taken.
    fault! { "auth.truncated-by-one" ["AU-04"] let_in(ALL_PATHS, |request| {
        token(request).len() + 1 == MAIN.len() && MAIN.starts_with(token(request))
    }) },
    // An unknown key is answered 403.
    fault! { "auth.unknown-403" ["AU-05"] code_instead(ALL_PATHS, 401, 403, |request| {
        let given = ["", MAIN, OTHER, READ_ONLY, REVOKED].contains(&token(request));
        !given && !token(request).starts_with(GENERATED) && request.of_api
    }) },
    fault! { "auth.read-only-generates" ["AU-09"] scopeless("POST /generations") },
    // Every new key has the scope prompts:write.
    fault! { "keys.all-may-write" ["KE-03"] taken_as(CREATE, "scopes", |scopes| {
        (*scopes == json!([])).then(|| json!(["prompts:write"]))
    }) },
    fault! { "keys.secret-at-revocation" ["KE-04"] remembered("POST /api-keys, DELETE /api-keys/*") },
    fault! { "keys.body-of-any-type" ["KE-06"] asks(CREATE, Request::set_json_type) },
    fault! { "keys.oldest-first" ["KE-07"] edits_entries(LIST, |list| list.reverse()) },
    fault! { "keys.use-not-recorded" ["KE-07"] shown_as(LIST, "lastUsedAt", |_| Some(Value::Null)) },
    // A key is answered as revoked and works on.
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
    }) },
    fault! { "keys.revoke-unknown-400" ["ER-11"]
    code_instead(REVOKE, 404, 400, |request| request.segment(1) != "other") },
    fault! { "keys.revoke-of-others-403" ["ER-11"]
    refused(REVOKE, 403, |request| request.segment(1) == "other") },
    fault! { "sessions.cookie-for-all-sites" ["KE-05"] cookie_without("; SameSite=Lax") },
    // A sign-in code works again.
    fault! { "sessions.code-twice" ["KE-05"] {
        answers_with(SIGN_IN, move |first: &mut Option<Response>, _, response| {
            let first = first.get_or_insert_with(|| response.clone()).clone();
            *response = first;
        })
    } },
    fault! { "sessions.referer-believed" ["KE-05"] own_if(|request| request.headers.contains_key(REFERER)) },
];

pub(crate) fn token(request: &Request) -> &str {
    request.authorization().strip_prefix("Bearer ").unwrap_or_default()
}

pub(crate) fn as_main(request: &mut Request) {
    request.set_authorization(&format!("Bearer {MAIN}"));
}

/// Requests for which `when` holds have the key that may do everything.
pub(crate) fn let_in(
    routes: &'static str,
    when: impl Fn(&Request) -> bool + Send + Sync + 'static,
) -> Intercept {
    asks(routes, move |request| {
        if when(request) {
            as_main(request);
        }
    })
}

/// The key that may only read is taken for the one that may write.
fn scopeless(routes: &'static str) -> Intercept {
    let_in(routes, |request| token(request) == READ_ONLY)
}

fn made() -> Response {
    Response::data(201, &json!({ "id": 1, "key": "promptarium_live_new_0123456789abcdef" }))
}

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

fn cookie(request: &Request) -> &str {
    request.headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn has_session(request: &Request) -> bool {
    cookie(request).starts_with(NAME)
}

/// As if a page of the server's own had sent it.
fn own(request: &mut Request) {
    request.headers.insert(FETCH_SITE, HeaderValue::from_static("same-origin"));
}

/// Requests in a session for which `when` holds pass for those of the server's own page.
fn own_if(when: fn(&Request) -> bool) -> Intercept {
    asks(KEYS, move |request| {
        if when(request) {
            own(request);
        }
    })
}

fn cookie_without(attribute: &'static str) -> Intercept {
    answers(SIGN_IN, move |_, response| {
        let line = response.headers.get(SET_COOKIE).and_then(|line| line.to_str().ok());
        let changed = line.map(|line| line.replace(attribute, ""));
        if let Some(Ok(line)) = changed.map(HeaderValue::try_from) {
            response.headers.insert(SET_COOKIE, line);
        }
    })
}
