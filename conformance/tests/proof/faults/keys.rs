//! Faults in API keys (KE).

pub(super) mod made;
pub(super) mod sessions;

use serde_json::json;

use crate::exchange::{Request, Response};
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead};
use crate::keys::{MAIN, READ_ONLY};

const ALL_PATHS: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "keys.without-prefix" ["KE-02"] asks(ALL_PATHS, |ask| {
        let of_key = MAIN.strip_prefix("promptarium_live_").is_some_and(|rest| token(ask) == rest);
        if of_key {
            as_main(ask);
        }
    }),
        "A key is taken without its prefix." },
    fault! { "keys.echoed" ["KE-04"] answers("POST /api-keys", |ask, answer| {
        if answer.code() == 401 {
            let text = format!("The key {} opens no session.", token(ask));
            answer.edit(|body| body["error"] = text.into());
        }
    }),
        "The 401 of POST /api-keys quotes the key." },
    fault! { "keys.secret-in-header" ["KE-04"] answers("GET /vaults", |ask, answer| {
        if let Some(Ok(secret)) = token(ask).rsplit('_').next().map(str::parse) {
            answer.headers.insert("x-key", secret);
        }
    }),
        "The list of vaults has the secret part of the key in a header." },
    fault! { "keys.made-with-a-key" ["KE-05"]
        instead("POST /api-keys", |ask| (token(ask) == MAIN).then(made)),
        "POST /api-keys makes a key for a key with prompts:write." },
    fault! { "keys.made-with-any-key" ["KE-05"]
        instead("POST /api-keys", |ask| (token(ask) == READ_ONLY).then(made)),
        "POST /api-keys makes a key for a key that may only read." },
    fault! { "keys.made-for-anybody" ["KE-05"] instead("POST /api-keys", |ask| {
        (token(ask).is_empty() && !sessions::has_session(ask)).then(made)
    }),
        "POST /api-keys makes a key for a caller without key and session." },
];

pub(super) fn token(ask: &Request) -> &str {
    ask.authorization().strip_prefix("Bearer ").unwrap_or_default()
}

pub(super) fn as_main(ask: &mut Request) {
    ask.set_authorization(&format!("Bearer {MAIN}"));
}

fn made() -> Response {
    Response::data(201, &json!({ "id": 1, "key": "promptarium_live_new_0123456789abcdef" }))
}
