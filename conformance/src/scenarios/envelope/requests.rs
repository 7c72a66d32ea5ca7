//! Where requests go and what they bring.

use crate::scenario::core;
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.requests.base-url" ["EN-01"] base_url,
        "Paths are appended to a base URL that ends in /api/v1" },
    core! { "envelope.requests.json" ["EN-02"] json,
        "A JSON body under Content-Type application/json is taken wherever there is a body" },
    core! { "envelope.requests.sdk-json" ["EN-02"] sdk_json,
        "What the SDK sends as a body is taken and stored" },
];

async fn base_url(case: Case) -> Result<(), Failure> {
    let base = case.target().base_url();
    check::ensure(base.ends_with("/api/v1"), "a base URL that ends in /api/v1", base)?;
    for path in ["/prompts", "/vaults"] {
        case.wire().get(path).await?.status(200)?;
    }
    Ok(())
}

async fn json(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    for endpoint in endpoints::all(&case, &ids) {
        if endpoint.body.is_some() {
            endpoint.send(&wire).await?.status_in(200..=299)?;
        }
    }
    Ok(())
}

async fn sdk_json(case: Case) -> Result<(), Failure> {
    let (client, title) = (case.sdk()?, case.name("prompt"));
    let made = client.prompts().create(&title, "\"quoted\" \\ \u{e9}").await?;
    let stored = case.wire().get(&format!("/prompts/{}", made.id)).await?;
    stored.status(200)?.equals("/data/title", title)?;
    stored.equals("/data/prompt", "\"quoted\" \\ \u{e9}")?;
    Ok(())
}
