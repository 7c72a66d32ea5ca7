//! `PATCH` and `DELETE /vaults/{vaultId}`: what an update sets and leaves, and that the prompts of a
//! deleted vault stay. Then deletions and forks by many requests at once.

use super::vault_object::{list, same_object};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "vaults.update.answer" ["VA-22"] answer,
        "An update answers 200 with the whole vault as it is afterwards" },
    scenario! { "vaults.update.sets" ["VA-24"] sets,
        "Later reads show the name, description and visibility that an update brought" },
    scenario! { "vaults.update.clears-description" ["VA-25"] clears_description,
        "description null in an update clears the description" },
    scenario! { "vaults.delete.gone" ["VA-26", "VA-27"] gone,
        "A delete answers 200 with the id and deleted true; then the vault is 404 and not listed" },
    scenario! { "vaults.delete.prompts-stay" ["VA-28"] prompts_stay,
        "The prompts of a deleted vault stay in the account and in their other vaults" },
    scenario! { "vaults.race.deletes" ["VA-26", "VA-27"] deletes,
        "Of many deletions of one vault at least one succeeds, and it is gone" },
    scenario! { "vaults.race.forks" ["VA-33"] [OtherAccount] |case| forks(case.under_contention()),
        "Forks of one vault at the same time are whole and have no prompt in common" },
];

pub async fn without_defaults(case: &Case) -> Result<(Vault, ApiResponse)> {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    case.vault_with(fields).await
}

async fn answer(case: Case) -> Result {
    let (vault, _) = without_defaults(&case).await?;
    vault.fill(1).await?;
    let reply = vault.update(json!({ "name": case.name("renamed") })).await?;
    same_object(&reply, reply.data(200)?, vault.read().await?.at("/data")?)
}

async fn sets(case: Case) -> Result {
    let vault = case.vault().await?;
    let name = case.name("renamed");
    // A change of nothing but capitals is a change.
    for (visibility, name, description) in [
        ("public", name.to_uppercase(), "Boats"),
        ("unlisted", name, "0"),
        ("private", case.name("renamed"), "null"),
    ] {
        let fields = json!({ "name": name, "description": description, "visibility": visibility });
        vault.update(fields.clone()).await?.status(200)?;
        vault.read().await?.shows(&fields)?;
        let vaults = list(&case).await?;
        let entry = vaults.entry(vault.id)?;
        for (field, value) in fields.as_object().into_iter().flatten() {
            let what = format!("{field} in the list to be {value}");
            vaults.ensure(entry[field] == *value, what, &entry[field])?;
        }
    }
    Ok(())
}

async fn clears_description(case: Case) -> Result {
    let (vault, _) = without_defaults(&case).await?;
    vault.update(json!({ "description": null })).await?.status(200)?;
    vault.read().await?.equals("/data/description", Value::Null).map(drop)
}

async fn gone(case: Case) -> Result {
    let [empty, full] = case.vaults().await?;
    full.fill(2).await?;
    for (vault, what) in [(empty, "an empty vault"), (full, "a vault with prompts")] {
        let reply = vault.delete().await?;
        reply.has_status(200, format!("the deletion of {what}"))?;
        reply.shows(&json!({ "id": vault.id, "deleted": true }))?;
        // The id is not given to another one.
        case.vaults::<2>().await?;
        vault.get().await?.has_status(404, format!("{what} after its deletion"))?;
        check::with_context(what, list(&case).await?.lacks("id", vault.id))?;
    }
    Ok(())
}

async fn prompts_stay(case: Case) -> Result {
    let [deleted, kept] = case.vaults().await?;
    let alone = deleted.fill(2).await?;
    alone[0].pinned().await?;
    let shared = kept.fill(3).await?;
    deleted.add_in_turn(&shared).await?;
    let before = kept.entries().await?;
    deleted.delete().await?.status(200)?;
    for (members, expected) in [(alone, None), (shared, Some(&kept))] {
        for member in members {
            member.prompt.expect_vaults([&deleted, &kept], expected).await?;
        }
    }
    kept.expect_entries(&before).await
}

async fn deletes(case: Case) -> Result {
    let (vault, deletions) = deleted_by_many(&case).await?;
    race::expect_success(&deletions)?;
    vault.get().await?.status(404).map(drop)
}

pub async fn deleted_by_many(case: &Case) -> Result<(Vault, Vec<ApiResponse>)> {
    let vault = case.under_contention().vault().await?;
    vault.fill(2).await?;
    let deletions = race::times(16, || vault.delete()).await?;
    Ok((vault, deletions))
}

async fn forks(case: Case) -> Result {
    let source = case.vault_at(super::vault_fork::source(&case, "public", 4).await?.id);
    let replies = race::times(8, || source.fork()).await?;
    let mut copies = Vec::new();
    for reply in &replies {
        let fork = case.vault_at(reply.status(201)?.integer("/data/id")?).prompts().await?;
        reply.ensure(fork.len() == 4, "4 prompts listed", fork.len())?;
        copies.extend(fork);
    }
    check::distinct("copies", copies)
}
