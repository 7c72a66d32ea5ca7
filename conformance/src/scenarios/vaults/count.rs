//! `promptCount` against what the vault really lists, after every call that
//! can change it. Only the count is looked at: what each call does to the
//! contents is proved in `contents`.

use serde_json::json;

use crate::fixture::Vault;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.count.starts-at-zero" ["VA-10"] starts_at_zero,
        "A new vault has a promptCount of 0" },
    core! { "vaults.count.after-adding" ["VA-10"] after_adding,
        "promptCount is true after each way of putting prompts into the vault" },
    core! { "vaults.count.after-taking-out" ["VA-10"] after_taking_out,
        "promptCount is true after each way of taking prompts out of the vault" },
    core! { "vaults.count.in-the-list" ["VA-10"] in_the_list,
        "The list of vaults shows the same promptCount as the vault" },
];

async fn starts_at_zero(case: Case) -> Result<(), Failure> {
    case.vault().await?.read().await?.equals("/data/promptCount", 0).map(drop)
}

async fn true_after(step: &str, vault: &Vault) -> Result<(), Failure> {
    let counted = vault.counts_what_it_lists().await;
    check::with_context(format!("after {step}"), counted).map(drop)
}

async fn after_adding(case: Case) -> Result<(), Failure> {
    let [vault, source] = case.vaults().await?;
    let (prompts, [moving]) = (case.prompts(5).await?, source.filled().await?);
    let into = json!({ "vaultId": vault.id });
    vault.add([&prompts[0]]).await?.success()?;
    true_after("adding one prompt", &vault).await?;
    vault.add(&prompts[1..3]).await?.success()?;
    true_after("adding two prompts", &vault).await?;
    prompts[3].save_into(&vault).await?.success()?;
    true_after("saving a prompt", &vault).await?;
    moving.move_to(&vault).await?.success()?;
    true_after("moving a prompt in", &vault).await?;
    prompts[4].update(into.clone()).await?.success()?;
    true_after("updating a prompt with the vaultId", &vault).await?;
    case.prompt_with(into).await?;
    true_after("creating a prompt with the vaultId", &vault).await?;
    // Whatever these answer (S-26).
    vault.add(&prompts).await?;
    true_after("adding prompts again", &vault).await?;
    prompts[0].save_into(&vault).await?;
    true_after("saving a prompt again", &vault).await
}

async fn after_taking_out(case: Case) -> Result<(), Failure> {
    let [vault, target] = case.vaults().await?;
    let [removed, moved, deleted, _] = vault.filled().await?;
    removed.remove().await?.status(200)?;
    true_after("removing a prompt", &vault).await?;
    moved.move_to(&target).await?.status(200)?;
    true_after("moving a prompt out", &vault).await?;
    deleted.prompt.delete().await?.status(200)?;
    true_after("deleting a prompt", &vault).await
}

async fn in_the_list(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    vault.fill(3).await?;
    let vaults = super::list(&case).await?;
    let (count, listed) = (&vaults.entry(vault.id)?["promptCount"], vault.members().await?.len());
    vaults.ensure(*count == listed, format!("a promptCount of {listed}"), count).map(drop)
}
