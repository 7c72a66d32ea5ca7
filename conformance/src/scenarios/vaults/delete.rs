//! `DELETE /vaults/{vaultId}`: the vault goes, its prompts stay.

use super::list;
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.delete.answer" ["VA-26"] answer,
        "A deletion answers 200 with the vault's id and deleted true" },
    core! { "vaults.delete.gone" ["VA-27"] gone,
        "A deleted vault answers 404 and is in the list no more" },
    core! { "vaults.delete.prompts-stay" ["VA-28"] prompts_stay,
        "The prompts of a deleted vault stay in the account" },
    core! { "vaults.delete.memberships-end" ["VA-28"] memberships_end,
        "The vaultIds of a prompt lose the deleted vault and keep the others" },
    core! { "vaults.delete.others-stay" ["VA-28"] others_stay,
        "The other vaults of its prompts list them as before" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let reply = vault.delete().await?;
    reply.status(200)?.equals("/data/id", vault.id)?.equals("/data/deleted", true).map(drop)
}

async fn gone(case: Case) -> Result<(), Failure> {
    let [empty, full] = case.vaults().await?;
    full.fill(2).await?;
    for (vault, what) in [(empty, "an empty vault"), (full, "a vault with prompts")] {
        vault.delete().await?.has_status(200, format!("the deletion of {what}"))?;
        vault.get().await?.has_status(404, format!("{what} after its deletion"))?;
        let vaults = list(&case).await?;
        let listed = vaults.integers("/data", "id")?.contains(&vault.id);
        vaults.ensure(!listed, format!("{what} in the list no more"), "it is there")?;
    }
    Ok(())
}

async fn prompts_stay(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let members = vault.fill(3).await?;
    members[0].pinned().await?;
    vault.delete().await?.status(200)?;
    for member in members {
        member.prompt.get().await?.has_status(200, "a prompt of a deleted vault")?;
    }
    Ok(())
}

async fn memberships_end(case: Case) -> Result<(), Failure> {
    let [deleted, kept] = case.vaults().await?;
    let prompts = case.prompts(2).await?;
    deleted.add_in_turn(&prompts).await?;
    kept.add_in_turn([&prompts[0]]).await?;
    deleted.delete().await?.status(200)?;
    prompts[0].expect_vaults([&deleted, &kept], [&kept]).await?;
    prompts[1].expect_vaults([&deleted, &kept], []).await
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let [deleted, kept] = case.vaults().await?;
    deleted.add_in_turn(&kept.fill(3).await?).await?;
    let before = kept.entries().await?;
    deleted.delete().await?.status(200)?;
    kept.expect_entries(&before).await
}
