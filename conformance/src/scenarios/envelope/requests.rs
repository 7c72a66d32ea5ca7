//! Where requests go and what they bring.

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.requests.base-url" ["EN-01", "VE-01"] base_url,
        "Paths are appended to a base URL that ends in /api/v1" },
    core! { "envelope.requests.json" ["EN-02"] json,
        "A JSON body under Content-Type application/json is taken wherever there is a body" },
    reference! { "versioning.prefix.only-v1" ["VE-01", "VE-02"] only_v1,
        "There is nothing at other version prefixes, nor without one (S-70)" },
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
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        if endpoint.body.is_some() {
            endpoint.send(&wire).await?.status_in(200..=299)?;
        }
    }
    Ok(())
}

async fn only_v1(case: Case) -> Result<(), Failure> {
    // The HTTP client resolves the dots before it sends.
    for path in [
        "/../v2/vaults",
        "/../v0/vaults",
        "/../V1/vaults",
        "/../v1.0/vaults",
        "/../vaults",
        "/../../v1/vaults",
        "/v1/vaults",
        "/api/v1/vaults",
    ] {
        case.wire().get(path).await?.status(404)?;
    }
    Ok(())
}
