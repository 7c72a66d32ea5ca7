//! `DELETE /vaults/{vaultId}`: the vault goes, its prompts stay.

use super::list;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

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
    let vault = make::vault(&case, &case.wire()).await?;
    let reply = case.wire().delete(&format!("/vaults/{vault}")).await?;
    reply.status(200)?.equals("/data/id", vault)?.equals("/data/deleted", true)?;
    Ok(())
}

async fn gone(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let empty = make::vault(&case, &wire).await?;
    let full = make::vault(&case, &wire).await?;
    make::members(&case, &wire, full, 2).await?;
    for (vault, what) in [(empty, "an empty vault"), (full, "a vault with prompts")] {
        let path = format!("/vaults/{vault}");
        wire.delete(&path).await?.accepted(200, format!("the deletion of {what}"))?;
        wire.get(&path).await?.accepted(404, format!("{what} after its deletion"))?;
        let vaults = list(&wire).await?;
        let listed = vaults.integers("/data", "id")?.contains(&vault);
        vaults.ensure(!listed, format!("{what} in the list no more"), "it is there")?;
    }
    Ok(())
}

async fn prompts_stay(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let pin = format!("/vaults/{vault}/prompts/{}/pin", members[0].membership);
    wire.post_empty(&pin).await?.status(200)?;
    wire.delete(&format!("/vaults/{vault}")).await?.status(200)?;
    for member in members {
        let reply = wire.get(&format!("/prompts/{}", member.prompt)).await?;
        reply.accepted(200, "a prompt of a deleted vault")?;
    }
    Ok(())
}

async fn memberships_end(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (deleted, kept) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let prompts = make::prompts(&case, &wire, 2).await?;
    make::fill(&wire, deleted, &prompts).await?;
    make::fill(&wire, kept, &prompts[..1]).await?;
    wire.delete(&format!("/vaults/{deleted}")).await?.status(200)?;
    for (prompt, expected) in [(prompts[0], vec![kept]), (prompts[1], vec![])] {
        let vaults = make::vaults_among(&wire, prompt, &[deleted, kept]).await?;
        check::equal("vaultIds after the deletion of a vault", &vaults, &expected)?;
    }
    Ok(())
}

async fn others_stay(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (deleted, kept) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let members = make::members(&case, &wire, kept, 3).await?;
    let prompts: Vec<_> = members.iter().map(|member| member.prompt).collect();
    make::fill(&wire, deleted, &prompts).await?;
    let before = make::contents(&wire, kept).await?;
    wire.delete(&format!("/vaults/{deleted}")).await?.status(200)?;
    let after = make::contents(&wire, kept).await?;
    check::equal("the listing of the other vault", &after, &before)
}
