//! Faults in authentication and scopes (AU).

use super::keys::made::GENERATED;
use super::keys::{as_main, token};
use crate::ask::Answer;
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead, whole};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};

const ALL_PATHS: &str = "* /**";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "auth.right-key-refused",
        "The status of a job is refused to every key.",
        [
            "AU-01", "GE-31", "GE-28", "GE-32", "GE-29", "GE-30", "GE-17", "GE-22", "GE-26",
            "GE-01", "GE-06", "GE-13", "GE-19", "GE-20", "GE-24", "GE-11", "EN-03"
        ],
        instead("GET /generations/*/status", |ask| (!token(ask).is_empty()).then(unauthorized))
    ),
    fault!(
        "auth.missing-on-one-path",
        "The list of vaults needs no key.",
        ["AU-02", "AU-03", "ER-07"],
        asks("GET /vaults", |ask| if ask.authorization().is_empty() {
            as_main(ask);
        })
    ),
    fault!(
        "auth.missing-403",
        "A request without key is answered 403.",
        ["AU-02", "ER-07", "AU-03", "KE-05"],
        answers(ALL_PATHS, |ask, answer| {
            if answer.code() == 401 && ask.authorization().is_empty() && ask.of_api {
                answer.set_code(403);
            }
        })
    ),
    fault!(
        "auth.missing-but-deleted",
        "A delete without key answers 401, and deletes.",
        ["AU-02"],
        whole("DELETE /prompts/*", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if ask.authorization().is_empty() {
                as_main(&mut ask);
                upstream.send(&ask).await;
            }
            answer
        })
    ),
    fault!(
        "auth.key-in-query",
        "A key in the query is taken.",
        ["AU-02"],
        asks("GET /**", |ask| {
            let given = ask.query.as_deref().is_some_and(|query| query.contains(MAIN));
            if ask.authorization().is_empty() && given {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.no-space",
        "A key right after Bearer, without the space, is taken.",
        ["AU-03"],
        asks(ALL_PATHS, |ask| if ask.authorization() == format!("Bearer{MAIN}") {
            as_main(ask);
        })
    ),
    fault!(
        "auth.no-scheme",
        "A key without Bearer is taken.",
        ["AU-03"],
        asks(ALL_PATHS, |ask| if ask.authorization() == MAIN {
            as_main(ask);
        })
    ),
    fault!(
        "auth.any-scheme",
        "A key under any scheme is taken.",
        ["AU-03", "ER-07"],
        asks(ALL_PATHS, |ask| {
            let key = ask.authorization().split_once(' ').map(|(_, key)| key);
            let scheme = ask.authorization().to_lowercase();
            if key == Some(MAIN) && !scheme.starts_with("bearer ") {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.bearer-any-case",
        "Bearer is taken in any case.",
        ["AU-03"],
        asks(ALL_PATHS, |ask| if ask.authorization() == format!("bearer {MAIN}") {
            as_main(ask);
        })
    ),
    fault!(
        "auth.truncated-by-one",
        "A key that lacks its last character is taken.",
        ["AU-04"],
        asks(ALL_PATHS, |ask| {
            let (given, whole) = (token(ask), MAIN.len());
            if given.len() + 1 == whole && MAIN.starts_with(given) {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.truncated-half",
        "Half of the secret is enough.",
        ["AU-04"],
        asks(ALL_PATHS, |ask| {
            let given = token(ask);
            let half = given.len() < MAIN.len() && given.len() >= MAIN.len() - 8;
            if half && MAIN.starts_with(given) {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.public-part-only",
        "The last character of a key is not compared.",
        ["AU-05"],
        asks(ALL_PATHS, |ask| {
            let given = token(ask);
            let alike = given.len() == MAIN.len()
                && given != MAIN
                && given[..given.len() - 1] == MAIN[..MAIN.len() - 1];
            if alike {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.any-case",
        "The letters of a key are compared in any case.",
        ["AU-05"],
        asks(ALL_PATHS, |ask| {
            let given = token(ask);
            if given != MAIN && given.eq_ignore_ascii_case(MAIN) {
                as_main(ask);
            }
        })
    ),
    fault!(
        "auth.unknown-403",
        "An unknown key is answered 403.",
        ["AU-05", "ER-07", "AU-04", "KE-02"],
        answers(ALL_PATHS, |ask, answer| {
            let given = [MAIN, OTHER, READ_ONLY, REVOKED].contains(&token(ask));
            let known = given || token(ask).starts_with(GENERATED);
            if answer.code() == 401 && !token(ask).is_empty() && !known && ask.of_api {
                answer.set_code(403);
            }
        })
    ),
    fault!(
        "auth.revoked-reads",
        "A revoked key still reads.",
        ["AU-06"],
        asks("GET /**", |ask| if token(ask) == REVOKED {
            as_main(ask);
        })
    ),
    fault!(
        "auth.revoked-writes",
        "A revoked key still makes vaults.",
        ["AU-06"],
        asks("POST /vaults", |ask| if token(ask) == REVOKED {
            as_main(ask);
        })
    ),
    fault!(
        "auth.revoked-403",
        "A revoked key is answered 403.",
        ["AU-06", "ER-07"],
        answers(ALL_PATHS, |ask, answer| {
            if answer.code() == 401 && token(ask) == REVOKED {
                answer.set_code(403);
            }
        })
    ),
    fault!(
        "auth.read-only-creates-prompts",
        "A key without scope makes prompts.",
        ["AU-07"],
        scopeless("POST /prompts")
    ),
    fault!(
        "auth.read-only-updates-prompts",
        "A key without scope updates prompts.",
        ["AU-07"],
        scopeless("PATCH /prompts/*")
    ),
    fault!(
        "auth.read-only-deletes-prompts",
        "A key without scope deletes prompts.",
        ["AU-07"],
        scopeless("DELETE /prompts/*")
    ),
    fault!(
        "auth.read-only-updates-in-secret",
        "An update without scope answers 401, and is made.",
        ["AU-07"],
        whole("PATCH /prompts/*", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if token(&ask) == READ_ONLY {
                as_main(&mut ask);
                upstream.send(&ask).await;
            }
            answer
        })
    ),
    fault!(
        "auth.read-only-creates-vaults",
        "A key without scope makes vaults.",
        ["AU-08", "ER-07"],
        scopeless("POST /vaults")
    ),
    fault!(
        "auth.read-only-updates-vaults",
        "A key without scope updates vaults.",
        ["AU-08"],
        scopeless("PATCH /vaults/*")
    ),
    fault!(
        "auth.read-only-deletes-vaults",
        "A key without scope deletes vaults.",
        ["AU-08"],
        scopeless("DELETE /vaults/*")
    ),
    fault!(
        "auth.scope-403",
        "The lack of scope for vaults is answered 403.",
        ["AU-08", "ER-07"],
        answers("POST /vaults, PATCH /vaults/*, DELETE /vaults/*", |ask, answer| {
            if answer.code() == 401 && token(ask) == READ_ONLY {
                answer.set_code(403);
            }
        })
    ),
    fault!(
        "auth.read-only-generates",
        "A key without scope queues generations.",
        ["AU-09"],
        scopeless("POST /generations")
    ),
    fault!(
        "auth.generations-403",
        "The lack of scope for generations is answered 403.",
        ["AU-09", "ER-07"],
        answers("POST /generations", |ask, answer| {
            if answer.code() == 401 && token(ask) == READ_ONLY {
                answer.set_code(403);
            }
        })
    ),
    fault!(
        "auth.read-only-uploads",
        "A key without scope gets upload slots.",
        ["AU-10"],
        scopeless("POST /uploads/images")
    ),
];

/// Takes the key that may only read for the one that may write.
fn scopeless(routes: &'static str) -> crate::fault::How {
    asks(routes, |ask| {
        if token(ask) == READ_ONLY {
            as_main(ask);
        }
    })
}

fn unauthorized() -> Answer {
    Answer::refusal(401, "The key is not valid.")
}
