//! The version in every address.

use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "versioning.prefix.v1" ["VE-01"] v1,
        "The API is at the version prefix v1 under /api" },
    reference! { "versioning.prefix.only-v1" ["VE-01", "VE-02"] only_v1,
        "There is nothing at other version prefixes, nor without one (S-70)" },
];

async fn v1(case: Case) -> Result<(), Failure> {
    let base = case.target().base_url();
    check::ensure(base.ends_with("/api/v1"), "a base URL that ends in /api/v1", base)?;
    case.wire().get("/vaults").await?.status(200)?;
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
