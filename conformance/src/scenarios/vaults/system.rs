//! The General vault and what may be done to it. A system vault belongs to the
//! whole account, so core only looks, and what is changed here is put back.

use serde_json::json;

use super::list;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "vaults.general.listed" ["VA-09", "VA-12", "VA-13"] listed,
        "The list holds one system vault, named General" },
    reference! { "vaults.general.no-rename" ["VA-12"] no_rename,
        "The General vault cannot be renamed" },
    reference! { "vaults.general.same-name" ["VA-12"] same_name,
        "Sending the General vault the name it has is no change of its name" },
    reference! { "vaults.general.no-delete" ["VA-12"] no_delete,
        "The General vault cannot be deleted" },
    reference! { "vaults.general.other-fields" ["VA-24"] other_fields,
        "The description of the General vault can be changed" },
    reference! { "vaults.general.holds-prompts" ["VC-10", "VC-15"] holds_prompts,
        "Prompts go into the General vault and out of it as in any vault" },
];

/// S-18.
async fn listed(case: Case) -> Result<(), Failure> {
    let vaults = list(&case.wire()).await?.array("/data")?;
    let system = vaults.iter().filter(|vault| vault["isSystem"] == true);
    let names: Vec<_> = system.map(|vault| vault["name"].clone()).collect();
    check::equal("the names of the system vaults", &names, &vec![json!("General")])
}

/// S-18.
async fn no_rename(case: Case) -> Result<(), Failure> {
    let general = general(&case).await?;
    let reply = case.wire().patch(&general, json!({ "name": case.name("vault") })).await?;
    reply.refused("another name of the General vault")?.string("/details/name")?;
    let vault = case.wire().get(&general).await?;
    vault.status(200)?.equals("/data/name", "General")?;
    Ok(())
}

/// S-18.
async fn same_name(case: Case) -> Result<(), Failure> {
    let general = general(&case).await?;
    let reply = case.wire().patch(&general, json!({ "name": "General" })).await?;
    reply.status(200)?.equals("/data/name", "General")?;
    Ok(())
}

/// S-18.
async fn no_delete(case: Case) -> Result<(), Failure> {
    let general = general(&case).await?;
    let reply = case.wire().delete(&general).await?;
    reply.refused("the deletion of the General vault")?.equals("/details", json!({}))?;
    case.wire().get(&general).await?.status(200)?;
    Ok(())
}

/// S-18.
async fn other_fields(case: Case) -> Result<(), Failure> {
    let general = general(&case).await?;
    let wire = case.wire();
    let before = wire.get(&general).await?.data(200)?["description"].clone();
    let description = case.name("note");
    let reply = wire.patch(&general, json!({ "description": description })).await?;
    let put_back = wire.patch(&general, json!({ "description": before })).await?;
    reply.status(200)?.equals("/data/description", description)?;
    put_back.status(200)?.equals("/data/description", before)?;
    Ok(())
}

/// S-18.
async fn holds_prompts(case: Case) -> Result<(), Failure> {
    let prompts = format!("{}/prompts", general(&case).await?);
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let added = wire.post(&prompts, json!({ "promptIds": [prompt] })).await?;
    added.status(201)?.equals("/data/added", 1)?;
    let entry = wire.get(&prompts).await?.entry(prompt)?;
    let removed = wire.delete(&format!("{prompts}/{}", entry["vaultPromptId"])).await?;
    removed.accepted(200, "a removal from the General vault")?;
    Ok(())
}

/// The path of the General vault.
async fn general(case: &Case) -> Result<String, Failure> {
    let reply = list(&case.wire()).await?;
    let vaults = reply.array("/data")?;
    let general = vaults.iter().find(|vault| vault["isSystem"] == true);
    let id = general.and_then(|vault| vault["id"].as_i64());
    let id = id.ok_or_else(|| reply.failure("a system vault in the list", "none"))?;
    Ok(format!("/vaults/{id}"))
}
