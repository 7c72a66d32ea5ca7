//! Faults in API keys (KE).

pub(super) mod made;
pub(super) mod sessions;

use crate::keys::{MAIN, READ_ONLY};
use crate::prelude::*;

const ALL_PATHS: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "keys.without-prefix" ["KE-02"]
        let_in(ALL_PATHS, |request| MAIN.strip_prefix("promptarium_live_") == Some(token(request))),
        "A key is taken without its prefix." },
    fault! { "keys.echoed" ["KE-04"] answers("POST /api-keys", |request, response| {
        if response.code() == 401 {
            let text = format!("The key {} opens no session.", token(request));
            response.edit(|body| body["error"] = text.into());
        }
    }),
        "The 401 of POST /api-keys quotes the key." },
    fault! { "keys.secret-in-header" ["KE-04"] answers("GET /vaults", |request, response| {
        if let Some(Ok(secret)) = token(request).rsplit('_').next().map(str::parse) {
            response.headers.insert("x-key", secret);
        }
    }),
        "The list of vaults has the secret part of the key in a header." },
    fault! { "keys.made-with-a-key" ["KE-05"]
        instead("POST /api-keys", |request| (token(request) == MAIN).then(made)),
        "POST /api-keys makes a key for a key with prompts:write." },
    fault! { "keys.made-with-any-key" ["KE-05"]
        instead("POST /api-keys", |request| (token(request) == READ_ONLY).then(made)),
        "POST /api-keys makes a key for a key that may only read." },
    fault! { "keys.made-for-anybody" ["KE-05"] instead("POST /api-keys", |request| {
        (token(request).is_empty() && !sessions::has_session(request)).then(made)
    }),
        "POST /api-keys makes a key for a caller without key and session." },
];

pub(crate) fn token(request: &Request) -> &str {
    request.authorization().strip_prefix("Bearer ").unwrap_or_default()
}

pub(super) fn as_main(request: &mut Request) {
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
pub(super) fn scopeless(routes: &'static str) -> Intercept {
    let_in(routes, |request| token(request) == READ_ONLY)
}

fn made() -> Response {
    Response::data(201, &json!({ "id": 1, "key": "promptarium_live_new_0123456789abcdef" }))
}
