//! `GET /vaults/{vaultId}`, and who may read at all.

use serde_json::json;

use crate::scenario::core;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.read.any-visibility" ["VA-21"] any_visibility,
        "A vault of the caller is read at its address, whatever its visibility" },
];

async fn any_visibility(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for visibility in ["private", "unlisted", "public"] {
        let made = make::vault_with(&case, &wire, json!({ "visibility": visibility })).await?;
        let id = made.integer("/data/id")?;
        let reply = wire.get(&format!("/vaults/{id}")).await?;
        reply.accepted(200, format!("a vault that is {visibility}"))?.equals("/data/id", id)?;
        reply.equals("/data/visibility", visibility)?;
    }
    Ok(())
}
