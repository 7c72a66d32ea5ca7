//! Faults in authentication and scopes (AU).

use super::keys::made::GENERATED;
use super::keys::{as_main, token};
use crate::faults::keys::{let_in, scopeless};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};
use crate::prelude::*;

const ALL_PATHS: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "auth.right-key-refused" ["AU-01"]
        refused("GET /generations/*/status", 401, |request| !token(request).is_empty()),
        "The status of a job is refused to every key." },
    fault! { "auth.missing-on-one-path" ["AU-02"]
        let_in("GET /vaults", |request| request.authorization().is_empty()),
        "The list of vaults needs no key." },
    fault! { "auth.missing-but-deleted" ["AU-02"] and_sends("DELETE /prompts/*", |mut request, _| {
        let missing = request.authorization().is_empty();
        as_main(&mut request);
        missing.then_some(request)
    }),
        "A delete without key answers 401, and deletes." },
    fault! { "auth.key-in-query" ["AU-02"] let_in("GET /**", |request| {
        let given = request.query.as_deref().is_some_and(|query| query.contains(MAIN));
        request.authorization().is_empty() && given
    }),
        "A key in the query is taken." },
    fault! { "auth.bearer-any-case" ["AU-03"]
        let_in(ALL_PATHS, |request| request.authorization() == format!("bearer {MAIN}")),
        "Bearer is taken in any case." },
    fault! { "auth.truncated-by-one" ["AU-04"] let_in(ALL_PATHS, |request| {
        token(request).len() + 1 == MAIN.len() && MAIN.starts_with(token(request))
    }),
        "A key that lacks its last character is taken." },
    fault! { "auth.unknown-403" ["AU-05"] code_instead(ALL_PATHS, 401, 403, |request| {
        let given = ["", MAIN, OTHER, READ_ONLY, REVOKED].contains(&token(request));
        !given && !token(request).starts_with(GENERATED) && request.of_api
    }),
        "An unknown key is answered 403." },
    fault! { "auth.read-only-updates-in-secret" ["AU-07"]
        and_sends("PATCH /prompts/*", |mut request, _| {
        let no_scope = token(&request) == READ_ONLY;
        as_main(&mut request);
        no_scope.then_some(request)
    }),
        "An update without scope answers 401, and is made." },
    fault! { "auth.read-only-generates" ["AU-09"] scopeless("POST /generations"),
        "A key without scope queues generations." },
];
