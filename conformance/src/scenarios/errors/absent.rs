//! Paths that name nothing: what never was, what was deleted, and what can be
//! no id at all. What belongs to others is in `isolation`.

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.absent.prompt" ["ER-08"] absent_prompt,
        "Every path that names a prompt that never was answers 404" },
    core! { "errors.absent.vault" ["ER-08"] absent_vault,
        "Every path that names a vault that never was answers 404" },
    core! { "errors.deleted.prompt" ["ER-09"] deleted_prompt,
        "Every path that names a deleted prompt answers 404" },
    core! { "errors.deleted.vault" ["ER-09"] deleted_vault,
        "Every path that names a deleted vault answers 404" },
    reference! { "errors.absent.one-answer" ["ER-08", "ER-09"] one_answer,
        "What never was and what was deleted get the same answer, byte for byte (S-57)" },
    reference! { "errors.path-id.no-integer" ["ER-08"] no_integer,
        "A path id that is no plain decimal integer, negative or too large is 404 (S-58)" },
];

async fn absent_prompt(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    not_found(&case, &ids.absent(), Endpoint::names_prompt).await
}

async fn absent_vault(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    not_found(&case, &ids.absent(), Endpoint::names_vault).await
}

async fn deleted_prompt(case: Case) -> Result<(), Failure> {
    not_found(&case, &deleted(&case).await?, Endpoint::names_prompt).await
}

async fn deleted_vault(case: Case) -> Result<(), Failure> {
    not_found(&case, &deleted(&case).await?, Endpoint::names_vault).await
}

/// Ids of a prompt and a vault that are gone; what the bodies name is there.
async fn deleted(case: &Case) -> Result<Ids, Failure> {
    let wire = case.wire();
    let there = Ids::make(case, &wire).await?;
    let gone = Ids::make(case, &wire).await?.deleted(&wire).await?;
    Ok(Ids { loose: there.loose, target: there.target, ..gone })
}

async fn not_found(case: &Case, ids: &Ids, these: fn(&Endpoint) -> bool) -> Result<(), Failure> {
    for endpoint in endpoints::all(case, ids).iter().filter(|endpoint| these(endpoint)) {
        endpoint.send(&case.wire()).await?.status(404)?;
    }
    Ok(())
}

async fn one_answer(case: Case) -> Result<(), Failure> {
    let (wire, gone) = (case.wire(), deleted(&case).await?);
    let absent = gone.absent();
    let pairs = endpoints::all(&case, &gone).into_iter().zip(endpoints::all(&case, &absent));
    for (gone, absent) in pairs {
        if gone.names_prompt() || gone.names_vault() {
            let expected = absent.send(&wire).await?;
            let got = gone.send(&wire).await?;
            let (got_text, text) = (as_text(&got), as_text(&expected));
            got.ensure(got_text == text, format!("the body {text}"), got_text)?;
        }
    }
    Ok(())
}

fn as_text(reply: &crate::wire::Reply) -> String {
    String::from_utf8_lossy(reply.body()).into_owned()
}

async fn no_integer(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    // A segment of dots alone is resolved by the HTTP client and never sent.
    for segment in [
        "abc",
        "0",
        "-1",
        "1.0",
        "1e3",
        "0x1",
        "+1",
        "1,2",
        "1;2",
        "%201",
        "1%20",
        "%00",
        "%FF",
        "null",
        "true",
        "*",
        "%D9%A1",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999999",
    ] {
        for endpoint in endpoints::all(&case, &ids) {
            for path in with_segment(&endpoint, &ids, segment) {
                let odd = Endpoint { path, ..endpoint.clone() };
                check::about(segment, odd.send(&wire).await?.status(404))?;
            }
        }
    }
    Ok(())
}

/// The path with each of its ids in turn exchanged for the segment.
fn with_segment(endpoint: &Endpoint, ids: &Ids, segment: &str) -> Vec<String> {
    let names = ["{promptId}", "{vaultId}", "{vaultPromptId}"];
    let odd = names.into_iter().filter(|name| endpoint.template.contains(name));
    odd.map(|name| {
        endpoint
            .template
            .replace(name, segment)
            .replace("{promptId}", &ids.prompt.to_string())
            .replace("{vaultId}", &ids.vault.to_string())
            .replace("{vaultPromptId}", &ids.membership.to_string())
    })
    .collect()
}
