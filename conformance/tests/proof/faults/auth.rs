//! Faults in authentication and scopes (AU).

use super::keys::made::GENERATED;
use super::keys::{as_main, token};
use crate::fault::{Fault, fault};
use crate::faults::keys::{let_in, scopeless};
use crate::front::{and_sends, code_instead, refused};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};

const ALL_PATHS: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "auth.right-key-refused" ["AU-01"]
        refused("GET /generations/*/status", 401, |ask| !token(ask).is_empty()),
        "The status of a job is refused to every key." },
    fault! { "auth.missing-on-one-path" ["AU-02"]
        let_in("GET /vaults", |ask| ask.authorization().is_empty()),
        "The list of vaults needs no key." },
    fault! { "auth.missing-403" ["AU-02"] code_instead(ALL_PATHS, 401, 403, |ask| {
        ask.authorization().is_empty() && ask.of_api
    }),
        "A request without key is answered 403." },
    fault! { "auth.missing-but-deleted" ["AU-02"] and_sends("DELETE /prompts/*", |mut ask, _| {
        let missing = ask.authorization().is_empty();
        as_main(&mut ask);
        missing.then_some(ask)
    }),
        "A delete without key answers 401, and deletes." },
    fault! { "auth.key-in-query" ["AU-02"] let_in("GET /**", |ask| {
        let given = ask.query.as_deref().is_some_and(|query| query.contains(MAIN));
        ask.authorization().is_empty() && given
    }),
        "A key in the query is taken." },
    fault! { "auth.no-scheme" ["AU-03"] let_in(ALL_PATHS, |ask| ask.authorization() == MAIN),
        "A key without Bearer is taken." },
    fault! { "auth.any-scheme" ["AU-03"] let_in(ALL_PATHS, |ask| {
        let key = ask.authorization().split_once(' ').map(|(_, key)| key);
        key == Some(MAIN) && !ask.authorization().to_lowercase().starts_with("bearer ")
    }),
        "A key under any scheme is taken." },
    fault! { "auth.bearer-any-case" ["AU-03"]
        let_in(ALL_PATHS, |ask| ask.authorization() == format!("bearer {MAIN}")),
        "Bearer is taken in any case." },
    fault! { "auth.truncated-by-one" ["AU-04"] let_in(ALL_PATHS, |ask| {
        token(ask).len() + 1 == MAIN.len() && MAIN.starts_with(token(ask))
    }),
        "A key that lacks its last character is taken." },
    fault! { "auth.truncated-half" ["AU-04"] let_in(ALL_PATHS, |ask| {
        let half = (MAIN.len() - 8..MAIN.len()).contains(&token(ask).len());
        half && MAIN.starts_with(token(ask))
    }),
        "Half of the secret is enough." },
    fault! { "auth.public-part-only" ["AU-05"] let_in(ALL_PATHS, |ask| {
        let (given, last) = (token(ask), MAIN.len() - 1);
        given.len() == MAIN.len() && given != MAIN && given[..last] == MAIN[..last]
    }),
        "The last character of a key is not compared." },
    fault! { "auth.any-case" ["AU-05"] let_in(ALL_PATHS, |ask| {
        token(ask) != MAIN && token(ask).eq_ignore_ascii_case(MAIN)
    }),
        "The letters of a key are compared in any case." },
    fault! { "auth.unknown-403" ["AU-05"] code_instead(ALL_PATHS, 401, 403, |ask| {
        let given = ["", MAIN, OTHER, READ_ONLY, REVOKED].contains(&token(ask));
        !given && !token(ask).starts_with(GENERATED) && ask.of_api
    }),
        "An unknown key is answered 403." },
    fault! { "auth.revoked-reads" ["AU-06"] let_in("GET /**", |ask| token(ask) == REVOKED),
        "A revoked key still reads." },
    fault! { "auth.revoked-writes" ["AU-06"] let_in("POST /vaults", |ask| token(ask) == REVOKED),
        "A revoked key still makes vaults." },
    fault! { "auth.revoked-403" ["AU-06"]
        code_instead(ALL_PATHS, 401, 403, |ask| token(ask) == REVOKED),
        "A revoked key is answered 403." },
    fault! { "auth.read-only-creates-prompts" ["AU-07"] scopeless("POST /prompts"),
        "A key without scope makes prompts." },
    fault! { "auth.read-only-updates-prompts" ["AU-07"] scopeless("PATCH /prompts/*"),
        "A key without scope updates prompts." },
    fault! { "auth.read-only-deletes-prompts" ["AU-07"] scopeless("DELETE /prompts/*"),
        "A key without scope deletes prompts." },
    fault! { "auth.read-only-updates-in-secret" ["AU-07"]
        and_sends("PATCH /prompts/*", |mut ask, _| {
        let no_scope = token(&ask) == READ_ONLY;
        as_main(&mut ask);
        no_scope.then_some(ask)
    }),
        "An update without scope answers 401, and is made." },
    fault! { "auth.read-only-creates-vaults" ["AU-08"] scopeless("POST /vaults"),
        "A key without scope makes vaults." },
    fault! { "auth.read-only-updates-vaults" ["AU-08"] scopeless("PATCH /vaults/*"),
        "A key without scope updates vaults." },
    fault! { "auth.read-only-deletes-vaults" ["AU-08"] scopeless("DELETE /vaults/*"),
        "A key without scope deletes vaults." },
    fault! { "auth.scope-403" ["AU-08"]
        code_instead("POST /vaults, PATCH /vaults/*, DELETE /vaults/*", 401, 403, |ask| {
        token(ask) == READ_ONLY
    }),
        "The lack of scope for vaults is answered 403." },
    fault! { "auth.read-only-generates" ["AU-09"] scopeless("POST /generations"),
        "A key without scope queues generations." },
    fault! { "auth.generations-403" ["AU-09"]
        code_instead("POST /generations", 401, 403, |ask| token(ask) == READ_ONLY),
        "The lack of scope for generations is answered 403." },
    fault! { "auth.read-only-uploads" ["AU-10"] scopeless("POST /uploads/images"),
        "A key without scope gets upload slots." },
];
