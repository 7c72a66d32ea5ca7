//! Paths that name nothing: what never was, what was deleted, and what can be
//! no id at all. What belongs to others is in `isolation`.

use crate::scenario::reference;
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "errors.path-id.no-integer" ["ER-08"] no_integer,
        "A path id that is no plain decimal integer, negative or too large is 404 (S-58)" },
];

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
                check::with_context(segment, odd.send(&wire).await?.status(404))?;
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
