//! Faults in authentication and scopes (AU).

use super::keys::made::GENERATED;
use super::keys::{as_main, token};
use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead, whole};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};

const ALL_PATHS: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "auth.right-key-refused" ["AU-01"]
        instead("GET /generations/*/status", |ask| (!token(ask).is_empty()).then(unauthorized)),
        "The status of a job is refused to every key." },
    fault! { "auth.missing-on-one-path" ["AU-02"] asks("GET /vaults", |ask| {
        if ask.authorization().is_empty() {
            as_main(ask);
        }
    }),
        "The list of vaults needs no key." },
    fault! { "auth.missing-403" ["AU-02"] answers(ALL_PATHS, |ask, answer| {
        if answer.code() == 401 && ask.authorization().is_empty() && ask.of_api {
            answer.set_code(403);
        }
    }),
        "A request without key is answered 403." },
    fault! { "auth.missing-but-deleted" ["AU-02"]
        whole("DELETE /prompts/*", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if ask.authorization().is_empty() {
                as_main(&mut ask);
                upstream.send(&ask).await;
            }
            answer
        }),
        "A delete without key answers 401, and deletes." },
    fault! { "auth.key-in-query" ["AU-02"] asks("GET /**", |ask| {
        let given = ask.query.as_deref().is_some_and(|query| query.contains(MAIN));
        if ask.authorization().is_empty() && given {
            as_main(ask);
        }
    }),
        "A key in the query is taken." },
    fault! { "auth.no-space" ["AU-03"] asks(ALL_PATHS, |ask| {
        if ask.authorization() == format!("Bearer{MAIN}") {
            as_main(ask);
        }
    }),
        "A key right after Bearer, without the space, is taken." },
    fault! { "auth.no-scheme" ["AU-03"] asks(ALL_PATHS, |ask| {
        if ask.authorization() == MAIN {
            as_main(ask);
        }
    }),
        "A key without Bearer is taken." },
    fault! { "auth.any-scheme" ["AU-03"] asks(ALL_PATHS, |ask| {
        let key = ask.authorization().split_once(' ').map(|(_, key)| key);
        let scheme = ask.authorization().to_lowercase();
        if key == Some(MAIN) && !scheme.starts_with("bearer ") {
            as_main(ask);
        }
    }),
        "A key under any scheme is taken." },
    fault! { "auth.bearer-any-case" ["AU-03"] asks(ALL_PATHS, |ask| {
        if ask.authorization() == format!("bearer {MAIN}") {
            as_main(ask);
        }
    }),
        "Bearer is taken in any case." },
    fault! { "auth.truncated-by-one" ["AU-04"] asks(ALL_PATHS, |ask| {
        let (given, whole) = (token(ask), MAIN.len());
        if given.len() + 1 == whole && MAIN.starts_with(given) {
            as_main(ask);
        }
    }),
        "A key that lacks its last character is taken." },
    fault! { "auth.truncated-half" ["AU-04"] asks(ALL_PATHS, |ask| {
        let given = token(ask);
        let half = given.len() < MAIN.len() && given.len() >= MAIN.len() - 8;
        if half && MAIN.starts_with(given) {
            as_main(ask);
        }
    }),
        "Half of the secret is enough." },
    fault! { "auth.public-part-only" ["AU-05"] asks(ALL_PATHS, |ask| {
        let given = token(ask);
        let alike = given.len() == MAIN.len()
            && given != MAIN
            && given[..given.len() - 1] == MAIN[..MAIN.len() - 1];
        if alike {
            as_main(ask);
        }
    }),
        "The last character of a key is not compared." },
    fault! { "auth.any-case" ["AU-05"] asks(ALL_PATHS, |ask| {
        let given = token(ask);
        if given != MAIN && given.eq_ignore_ascii_case(MAIN) {
            as_main(ask);
        }
    }),
        "The letters of a key are compared in any case." },
    fault! { "auth.unknown-403" ["AU-05"] answers(ALL_PATHS, |ask, answer| {
        let given = [MAIN, OTHER, READ_ONLY, REVOKED].contains(&token(ask));
        let known = given || token(ask).starts_with(GENERATED);
        if answer.code() == 401 && !token(ask).is_empty() && !known && ask.of_api {
            answer.set_code(403);
        }
    }),
        "An unknown key is answered 403." },
    fault! { "auth.revoked-reads" ["AU-06"] asks("GET /**", |ask| {
        if token(ask) == REVOKED {
            as_main(ask);
        }
    }),
        "A revoked key still reads." },
    fault! { "auth.revoked-writes" ["AU-06"] asks("POST /vaults", |ask| {
        if token(ask) == REVOKED {
            as_main(ask);
        }
    }),
        "A revoked key still makes vaults." },
    fault! { "auth.revoked-403" ["AU-06"] answers(ALL_PATHS, |ask, answer| {
        if answer.code() == 401 && token(ask) == REVOKED {
            answer.set_code(403);
        }
    }),
        "A revoked key is answered 403." },
    fault! { "auth.read-only-creates-prompts" ["AU-07"] scopeless("POST /prompts"),
        "A key without scope makes prompts." },
    fault! { "auth.read-only-updates-prompts" ["AU-07"] scopeless("PATCH /prompts/*"),
        "A key without scope updates prompts." },
    fault! { "auth.read-only-deletes-prompts" ["AU-07"] scopeless("DELETE /prompts/*"),
        "A key without scope deletes prompts." },
    fault! { "auth.read-only-updates-in-secret" ["AU-07"]
        whole("PATCH /prompts/*", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if token(&ask) == READ_ONLY {
                as_main(&mut ask);
                upstream.send(&ask).await;
            }
            answer
        }),
        "An update without scope answers 401, and is made." },
    fault! { "auth.read-only-creates-vaults" ["AU-08"] scopeless("POST /vaults"),
        "A key without scope makes vaults." },
    fault! { "auth.read-only-updates-vaults" ["AU-08"] scopeless("PATCH /vaults/*"),
        "A key without scope updates vaults." },
    fault! { "auth.read-only-deletes-vaults" ["AU-08"] scopeless("DELETE /vaults/*"),
        "A key without scope deletes vaults." },
    fault! { "auth.scope-403" ["AU-08"]
        answers("POST /vaults, PATCH /vaults/*, DELETE /vaults/*", |ask, answer| {
            if answer.code() == 401 && token(ask) == READ_ONLY {
                answer.set_code(403);
            }
        }),
        "The lack of scope for vaults is answered 403." },
    fault! { "auth.read-only-generates" ["AU-09"] scopeless("POST /generations"),
        "A key without scope queues generations." },
    fault! { "auth.generations-403" ["AU-09"] answers("POST /generations", |ask, answer| {
        if answer.code() == 401 && token(ask) == READ_ONLY {
            answer.set_code(403);
        }
    }),
        "The lack of scope for generations is answered 403." },
    fault! { "auth.read-only-uploads" ["AU-10"] scopeless("POST /uploads/images"),
        "A key without scope gets upload slots." },
];

/// Takes the key that may only read for the one that may write.
fn scopeless(routes: &'static str) -> crate::fault::Intercept {
    asks(routes, |ask| {
        if token(ask) == READ_ONLY {
            as_main(ask);
        }
    })
}

fn unauthorized() -> Response {
    Response::refusal(401, "The key is not valid.")
}
