//! The fields of a vault, one fact each, as the vault's own address shows them, and `promptCount`
//! against what the vault lists, after every call that can change it. The slug has a file of its
//! own; what the calls do to the contents is proved in `contents`.

use std::collections::BTreeSet;

use futures::future::try_join_all;

use super::list;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    core! { "vaults.object.name" ["VA-02"] name,
        "A vault shows its name" },
    core! { "vaults.object.description" ["VA-03", "VA-18"] description,
        "A vault shows its description, a string or null" },
    core! { "vaults.object.is-system" ["VA-09"]
        |case| shows(case, "isSystem", "false", |value| *value == false),
        "A vault that the caller made is no system vault" },
    reference! { "vaults.object.plain" ["VA-06", "VA-07", "VA-08"] ("S-13", "S-14", "S-15") plain,
        "A vault has no access type, no lock and no cover image" },
    reference! { "vaults.object.no-description" ["VA-03"]
        |case| shows(case, "description", "null", Value::is_null),
        "A vault made without a description shows null" },
    core! { "vaults.create.defaults" ["VA-19"]
        |case| shows(case, "visibility", "\"private\"", |value| value == "private"),
        "A vault made from a name alone is private" },
    core! { "vaults.count.starts-at-zero" ["VA-10"]
        |case| shows(case, "promptCount", "0", |value| *value == 0),
        "A new vault has a promptCount of 0" },
    core! { "vaults.count.after-adding" ["VA-10"] after_adding,
        "promptCount is true after each way of putting prompts into the vault" },
    core! { "vaults.count.after-taking-out" ["VA-10"] after_taking_out,
        "promptCount is true after each way of taking prompts out of the vault" },
    core! { "vaults.count.in-the-list" ["VA-10"] in_the_list,
        "The list of vaults shows the same promptCount as the vault" },
];

/// A new vault shows a value that fits in this field, in every answer.
async fn shows(case: Case, field: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Result {
    let (vault, created) = case.vault_with(json!({})).await?;
    let updated = vault.update(json!({ "visibility": "private" })).await?;
    for reply in [created, vault.read().await?, updated] {
        let value = reply.at(&format!("/data/{field}"))?;
        reply.ensure(fits(value), format!("{field} to be {what}"), value)?;
    }
    let listed = list(&case).await?;
    let entry = listed.entry(vault.id)?;
    let holds = entry.get(field).is_some_and(fits);
    listed.ensure(holds, format!("{field} to be {what}"), entry).map(drop)
}

async fn id(case: Case) -> Result {
    let vaults = try_join_all((0..8).map(|_| case.vault())).await?;
    for vault in &vaults {
        vault.read().await?.equals("/data/id", vault.id)?;
    }
    let distinct: BTreeSet<_> = vaults.iter().map(|vault| vault.id).collect();
    check::equal("the number of distinct ids of 8 vaults", &distinct.len(), &8)
}

async fn name(case: Case) -> Result {
    let name = case.name("named");
    let (vault, _) = case.vault_with(json!({ "name": name })).await?;
    vault.read().await?.equals("/data/name", name).map(drop)
}

async fn description(case: Case) -> Result {
    // A text stays a text, whatever it looks like.
    let texts = ["Boats, cranes, gulls", "7", "1e3", "true", "null", "{}"].map(Value::from);
    for description in texts.into_iter().chain([Value::Null]) {
        let (vault, _) = case.vault_with(json!({ "description": description })).await?;
        vault.read().await?.equals("/data/description", description)?;
    }
    Ok(())
}

async fn plain(case: Case) -> Result {
    let vault = case.vault().await?.read().await?;
    vault.equals("/data/accessType", Value::Null)?;
    vault.equals("/data/isLocked", false)?;
    vault.equals("/data/coverImageUrl", Value::Null).map(drop)
}

async fn true_after(step: &str, vault: &Vault) -> Result {
    let counted = vault.counts_what_it_lists().await;
    check::with_context(format!("after {step}"), counted).map(drop)
}

async fn after_adding(case: Case) -> Result {
    let [vault, source] = case.vaults().await?;
    let (prompts, [moving]) = (case.prompts(5).await?, source.filled().await?);
    for (prompt, way) in prompts.iter().zip([Way::Add, Way::Save, Way::Update]) {
        vault.put(prompt, way).await?.success()?;
        true_after(way.word(), &vault).await?;
    }
    vault.add(&prompts[3..]).await?.success()?;
    true_after("adding two prompts", &vault).await?;
    moving.move_to(&vault).await?.success()?;
    true_after("moving a prompt in", &vault).await?;
    case.prompt_with(json!({ "vaultId": vault.id })).await?;
    true_after("creating a prompt with the vaultId", &vault).await?;
    // Whatever these answer (S-26).
    vault.add(&prompts).await?;
    true_after("adding prompts again", &vault).await?;
    prompts[0].save_into(&vault).await?;
    true_after("saving a prompt again", &vault).await
}

async fn after_taking_out(case: Case) -> Result {
    let (vault, target, [removed, moved, deleted, _]) = case.source_and_target().await?;
    removed.remove().await?.status(200)?;
    true_after("removing a prompt", &vault).await?;
    moved.move_to(&target).await?.status(200)?;
    true_after("moving a prompt out", &vault).await?;
    deleted.prompt.delete().await?.status(200)?;
    true_after("deleting a prompt", &vault).await
}

async fn in_the_list(case: Case) -> Result {
    let vault = case.vault().await?;
    vault.fill(3).await?;
    let vaults = super::list(&case).await?;
    let (count, listed) = (&vaults.entry(vault.id)?["promptCount"], vault.members().await?.len());
    vaults.ensure(*count == listed, format!("a promptCount of {listed}"), count).map(drop)
}
