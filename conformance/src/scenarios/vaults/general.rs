//! The General vault and what may be done to it. A system vault belongs to the
//! whole account, so core only looks, and what is changed here is put back.

use super::list;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { reads "vaults.general.listed" ["VA-09", "VA-12", "VA-13"] ("S-18") listed,
        "The list holds one system vault, named General" },
    reference! { "vaults.general.no-rename" ["VA-12"] ("S-18") no_rename,
        "The General vault cannot be renamed" },
    reference! { "vaults.general.same-name" ["VA-12"] ("S-18") same_name,
        "Sending the General vault the name it has is no change of its name" },
    reference! { "vaults.general.no-delete" ["VA-12"] ("S-18") no_delete,
        "The General vault cannot be deleted" },
    reference! { "vaults.general.other-fields" ["VA-24"] ("S-18") other_fields,
        "The description of the General vault can be changed" },
    reference! { "vaults.general.holds-prompts" ["VC-10", "VC-15"] ("S-18") holds_prompts,
        "Prompts go into the General vault and out of it as in any vault" },
];

async fn listed(case: Case) -> Result {
    let vaults = list(&case).await?;
    let entries = vaults.array("/data")?;
    let system = entries.iter().filter(|vault| vault["isSystem"] == true);
    let names: Vec<_> = system.map(|vault| vault["name"].clone()).collect();
    vaults.ensure(names == ["General"], "one system vault, General", json_text(&names)).map(drop)
}

/// The system vault of the account.
async fn general(case: &Case) -> Result<Vault> {
    let vaults = list(case).await?;
    let entries = vaults.array("/data")?;
    let general = entries.iter().find(|vault| vault["isSystem"] == true);
    let id = general.and_then(|vault| vault["id"].as_i64());
    let id = id.ok_or_else(|| vaults.failure("a system vault in the list", "none"))?;
    Ok(case.vault_at(id))
}

async fn no_rename(case: Case) -> Result {
    let general = general(&case).await?;
    let reply = general.update(json!({ "name": case.name("vault") })).await?;
    reply.is_bad_request("another name of the General vault")?.string("/details/name")?;
    general.read().await?.equals("/data/name", "General").map(drop)
}

async fn same_name(case: Case) -> Result {
    let reply = general(&case).await?.update(json!({ "name": "General" })).await?;
    reply.status(200)?.equals("/data/name", "General").map(drop)
}

async fn no_delete(case: Case) -> Result {
    let general = general(&case).await?;
    let reply = general.delete().await?;
    reply.is_bad_request("the deletion of the General vault")?.equals("/details", json!({}))?;
    general.read().await.map(drop)
}

async fn other_fields(case: Case) -> Result {
    let general = general(&case).await?;
    let before = general.read().await?.at("/data/description")?.clone();
    let description = case.name("note");
    let reply = general.update(json!({ "description": description })).await?;
    let put_back = general.update(json!({ "description": before })).await?;
    reply.status(200)?.equals("/data/description", description)?;
    put_back.status(200)?.equals("/data/description", before).map(drop)
}

async fn holds_prompts(case: Case) -> Result {
    let (general, prompt) = (general(&case).await?, case.prompt().await?);
    let added = general.add([&prompt]).await?;
    added.status(201)?.equals("/data/added", 1)?;
    let member = general.member_of(&prompt).await?;
    member.remove().await?.has_status(200, "a removal from the General vault").map(drop)
}
