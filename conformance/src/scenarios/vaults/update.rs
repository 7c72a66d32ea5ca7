//! `PATCH` and `DELETE /vaults/{vaultId}`: what an update sets and leaves. A deleted vault goes, its
//! prompts stay.

use super::{list, same_object};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.update.answer" ["VA-22"] answer,
        "An update answers 200 with the whole vault as it is afterwards" },
    core! { "vaults.update.one-field" ["VA-23"] one_field,
        "A field left out of an update keeps its value" },
    core! { "vaults.update.no-field" ["VA-23"] no_field,
        "An update without any field answers 200 and leaves all of them" },
    core! { "vaults.update.sets" ["VA-24"] sets,
        "Later reads show the name, description and visibility that an update brought" },
    core! { "vaults.update.clears-description" ["VA-25"] clears_description,
        "description null in an update clears the description" },
    reference! { "vaults.update.nothing-known" ["VA-23"] ("S-19", "S-67") nothing_known,
        "An update without a known field answers 200 and changes nothing" },
    reference! { "vaults.update.updated-at" ["VA-11"] ("S-19") updated_at,
        "Every update with a known field moves updatedAt on, and createdAt stays" },
    reference! { "vaults.update.contents-leave-updated-at" ["VA-11"] ("S-19")
        contents_leave_updated_at,
        "A change of its contents leaves a vault's updatedAt" },
    core! { "vaults.delete.answer" ["VA-26"] delete_answer,
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

/// A vault with all that can be set, and nothing at its default.
async fn without_defaults(case: &Case) -> Result<(Vault, ApiResponse)> {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    case.vault_with(fields).await
}

async fn answer(case: Case) -> Result {
    let (vault, _) = without_defaults(&case).await?;
    vault.fill(1).await?;
    let reply = vault.update(json!({ "name": case.name("renamed") })).await?;
    same_object(&reply, reply.data(200)?, vault.read().await?.at("/data")?)
}

async fn one_field(case: Case) -> Result {
    let changes = [
        ("name", Value::from(case.name("renamed"))),
        ("description", json!("Cranes")),
        ("description", Value::Null),
        ("visibility", json!("public")),
    ];
    for (field, value) in changes {
        let (vault, before) = without_defaults(&case).await?;
        vault.update(json!({ field: value })).await?.status(200)?;
        let after = vault.read().await?;
        let others = ["name", "description", "visibility"].into_iter().filter(|it| *it != field);
        let kept = same_fields(&after, &before, others);
        check::with_context(format!("after an update of {field} alone"), kept)?;
    }
    Ok(())
}

async fn no_field(case: Case) -> Result {
    let (vault, before) = without_defaults(&case).await?;
    let reply = vault.update(json!({})).await?;
    same_fields(reply.status(200)?, &before, ["name", "description", "visibility"])
}

async fn sets(case: Case) -> Result {
    let vault = case.vault().await?;
    for visibility in ["public", "unlisted", "private"] {
        let fields = json!({
            "name": case.name("renamed"),
            "description": case.name("about"),
            "visibility": visibility,
        });
        vault.update(fields.clone()).await?.status(200)?;
        let (alone, vaults) = (vault.read().await?, list(&case).await?);
        let entry = vaults.entry(vault.id)?;
        for (field, value) in fields.as_object().into_iter().flatten() {
            alone.equals(&format!("/data/{field}"), value.clone())?;
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

async fn nothing_known(case: Case) -> Result {
    let (vault, created) = without_defaults(&case).await?;
    for fields in [json!({}), json!({ "colour": "red", "isLocked": true, "slug": "mine" })] {
        let reply = vault.update(fields).await?;
        reply.status(200)?.equals("/data", created.at("/data")?.clone())?;
    }
    Ok(())
}

async fn updated_at(case: Case) -> Result {
    let (vault, created) = without_defaults(&case).await?;
    let first = created.at("/data/createdAt")?.clone();
    created.equals("/data/updatedAt", first.clone())?;
    let mut last = created.timestamp("/data/updatedAt")?;
    let same = json!({ "visibility": "unlisted" });
    for fields in [json!({ "description": null }), json!({ "name": case.name("new") }), same] {
        let reply = vault.update(fields).await?;
        let now = reply.status(200)?.timestamp("/data/updatedAt")?;
        reply.ensure(now > last, format!("an updatedAt after {last}"), now)?;
        reply.equals("/data/createdAt", first.clone())?;
        last = now;
    }
    Ok(())
}

async fn contents_leave_updated_at(case: Case) -> Result {
    let (vault, created) = without_defaults(&case).await?;
    let target = case.vault().await?;
    let [pinned, moved, removed] = vault.filled().await?;
    pinned.pinned().await?;
    moved.move_to(&target).await?.status(200)?;
    removed.remove().await?.status(200)?;
    pinned.prompt.delete().await?.status(200)?;
    same_fields(&vault.read().await?, &created, ["updatedAt"])
}

async fn delete_answer(case: Case) -> Result {
    let vault = case.vault().await?;
    let reply = vault.delete().await?;
    reply.status(200)?.equals("/data/id", vault.id)?.equals("/data/deleted", true).map(drop)
}

async fn gone(case: Case) -> Result {
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

async fn prompts_stay(case: Case) -> Result {
    let (vault, members) = case.filled_vault::<3>().await?;
    members[0].pinned().await?;
    vault.delete().await?.status(200)?;
    for member in members {
        member.prompt.get().await?.has_status(200, "a prompt of a deleted vault")?;
    }
    Ok(())
}

async fn memberships_end(case: Case) -> Result {
    let [deleted, kept] = case.vaults().await?;
    let prompts = case.prompts(2).await?;
    deleted.add_in_turn(&prompts).await?;
    kept.add_in_turn([&prompts[0]]).await?;
    deleted.delete().await?.status(200)?;
    prompts[0].expect_vaults([&deleted, &kept], [&kept]).await?;
    prompts[1].expect_vaults([&deleted, &kept], []).await
}

async fn others_stay(case: Case) -> Result {
    let [deleted, kept] = case.vaults().await?;
    deleted.add_in_turn(&kept.fill(3).await?).await?;
    let before = kept.entries().await?;
    deleted.delete().await?.status(200)?;
    kept.expect_entries(&before).await
}
