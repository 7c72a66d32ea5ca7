//! Faults in API keys (KE).

pub(super) mod made;
pub(super) mod sessions;

use serde_json::json;

use crate::ask::{Answer, Ask};
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead};
use crate::keys::{MAIN, READ_ONLY};

const ALL_PATHS: &str = "* /**";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "keys.without-prefix",
        "A key is taken without its prefix.",
        ["KE-02", "AU-05"],
        asks(ALL_PATHS, |ask| {
            let of_key =
                MAIN.strip_prefix("promptarium_live_").is_some_and(|rest| token(ask) == rest);
            if of_key {
                as_main(ask);
            }
        })
    ),
    fault!(
        "keys.echoed",
        "The 401 of POST /api-keys quotes the key.",
        ["KE-04"],
        answers("POST /api-keys", |ask, answer| {
            if answer.code() == 401 {
                let text = format!("The key {} opens no session.", token(ask));
                answer.edit(|body| body["error"] = text.into());
            }
        })
    ),
    fault!(
        "keys.secret-in-header",
        "The list of vaults has the secret part of the key in a header.",
        ["KE-04"],
        answers("GET /vaults", |ask, answer| {
            if let Some(Ok(secret)) = token(ask).rsplit('_').next().map(str::parse) {
                answer.headers.insert("x-key", secret);
            }
        })
    ),
    fault!(
        "keys.made-with-a-key",
        "POST /api-keys makes a key for a key with prompts:write.",
        ["KE-05"],
        instead("POST /api-keys", |ask| (token(ask) == MAIN).then(made))
    ),
    fault!(
        "keys.made-with-any-key",
        "POST /api-keys makes a key for a key that may only read.",
        ["KE-05"],
        instead("POST /api-keys", |ask| (token(ask) == READ_ONLY).then(made))
    ),
    fault!(
        "keys.made-for-anybody",
        "POST /api-keys makes a key for a caller without key and session.",
        ["KE-05"],
        instead("POST /api-keys", |ask| {
            (token(ask).is_empty() && !sessions::has_session(ask)).then(made)
        })
    ),
];

pub(super) fn token(ask: &Ask) -> &str {
    ask.authorization().strip_prefix("Bearer ").unwrap_or_default()
}

pub(super) fn as_main(ask: &mut Ask) {
    ask.set_authorization(&format!("Bearer {MAIN}"));
}

fn made() -> Answer {
    Answer::data(201, &json!({ "id": 1, "key": "promptarium_live_new_0123456789abcdef" }))
}
