//! Creating a vault: what it answers, and its defaults. The bounds of its fields are in `fields`.

use serde_json::{Value, json};

use super::{list, same_object};
use crate::fixture::merged;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.create.answer" ["VA-16"] answer,
        "A create answers 201 with the vault object that is then at its address" },
    core! { "vaults.create.description" ["VA-18"] description,
        "A create takes a description, null, or none" },
    core! { "vaults.create.defaults" ["VA-19"] defaults,
        "A vault made from a name alone is private" },
    core! { "vaults.create.refused-makes-nothing" ["VA-20"] refused_makes_nothing,
        "A refused create makes no vault" },
    core! { "vaults.read.any-visibility" ["VA-21"] any_visibility,
        "A vault of the caller is read at its address, whatever its visibility" },
    reference! { "vaults.create.equal-names" ["VA-02"] equal_names,
        "Two vaults may have the same name" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    let (vault, created) = case.vault_with(fields).await?;
    let read = vault.read().await?;
    same_object(created.status(201)?, created.at("/data")?, read.at("/data")?)
}

async fn description(case: Case) -> Result<(), Failure> {
    let text = case.name("about");
    for given in [json!({ "description": text }), json!({ "description": null }), json!({})] {
        let body = merged(json!({ "name": case.name("vault") }), given.clone());
        let reply = case.wire().post("/vaults", body).await?;
        reply.status(201)?;
        if given["description"] == text {
            reply.equals("/data/description", text.as_str())?;
        }
    }
    Ok(())
}

async fn defaults(case: Case) -> Result<(), Failure> {
    case.vault().await?.read().await?.equals("/data/visibility", "private").map(drop)
}

async fn refused_makes_nothing(case: Case) -> Result<(), Failure> {
    let name = case.name("never");
    let body = json!({ "name": name, "visibility": "secret" });
    case.wire().post("/vaults", body).await?.is_bad_request("visibility \"secret\"")?;
    let vaults = list(&case).await?;
    let made = vaults.array("/data")?.iter().any(|vault| vault["name"] == *name);
    vaults.ensure(!made, "no vault of the refused create", "one with its name").map(drop)
}

async fn any_visibility(case: Case) -> Result<(), Failure> {
    for visibility in ["private", "unlisted", "public"] {
        let (vault, _) = case.vault_with(json!({ "visibility": visibility })).await?;
        let reply = vault.get().await?;
        reply.has_status(200, format!("a vault that is {visibility}"))?;
        reply.equals("/data/id", vault.id)?.equals("/data/visibility", visibility)?;
    }
    Ok(())
}

/// S-17.
async fn equal_names(case: Case) -> Result<(), Failure> {
    let name = Value::from(case.name("twin"));
    for _ in 0..2 {
        let reply = case.wire().post("/vaults", json!({ "name": name })).await?;
        reply.status(201)?.equals("/data/name", name.clone())?;
    }
    Ok(())
}
