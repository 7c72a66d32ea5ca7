//! Every contents call of the SDK beside what the wire shows.

use promptarium::{PromptId, VaultId, VaultPrompt, VaultPromptId};
use serde_json::Value;

use super::{Entry, entries, listing, pin};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.sdk-list.entries" ["VC-04"] list,
        "The SDK lists a vault as the wire does" },
    core! { "contents.sdk-add.answer" ["VC-10", "VC-11"] add,
        "The SDK adds prompts and gives the answer of the wire" },
    core! { "contents.sdk-add.refused" ["LI-08"] refused,
        "The SDK tells that 51 ids are refused" },
    core! { "contents.sdk-remove.answer" ["VC-15"] remove,
        "The SDK removes a prompt" },
    core! { "contents.sdk-move.answer" ["VC-17", "VC-18", "VC-19"] move_to,
        "The SDK moves a prompt and gives the new membership" },
    core! { "contents.sdk-pin.answer" ["VC-25", "VC-26", "VC-27", "VC-28"] pin_and_unpin,
        "The SDK pins and unpins a prompt" },
];

/// A vault with three prompts, the second added pinned; as listed.
async fn three(case: &Case) -> Result<(VaultId, Vec<Entry>), Failure> {
    let wire = case.wire();
    let vault = make::vault(case, &wire).await?;
    let members = make::members(case, &wire, vault, 3).await?;
    pin(&wire, vault, members[1].membership).await?;
    let listed = entries(&wire, vault).await?;
    check::equal("the number of prompts listed", &listed.len(), &3)?;
    Ok((VaultId::new(vault), listed))
}

async fn list(case: Case) -> Result<(), Failure> {
    let (vault, _) = three(&case).await?;
    let shown = listing(&case.wire(), vault.get()).await?;
    let listed = case.sdk()?.vault(vault).prompts().list().await?;
    let entries = shown.array("/data")?;
    check::equal("the number of entries of the SDK", &listed.len(), &entries.len())?;
    for (n, (entry, shown_entry)) in listed.iter().zip(&entries).enumerate() {
        same_entry(entry, shown_entry)?;
        let created = shown.timestamp(&format!("/data/{n}/createdAt"))?;
        check::equal("createdAt of the SDK", &entry.created_at, &created)?;
    }
    Ok(())
}

fn same_entry(entry: &VaultPrompt, shown: &Value) -> Result<(), Failure> {
    let json = serde_json::to_value(entry)
        .map_err(|error| Failure::error("an entry of the SDK as JSON", error.to_string()))?;
    for key in ["id", "title", "prompt", "promptType", "platform", "vaultPromptId", "isPinned"] {
        check::equal(&format!("{key} of the SDK"), &json.get(key), &shown.get(key))?;
    }
    // In any order (S-07). The status may be another one with each answer (S-04).
    let vaults = |value: &Value| check::settled(value).get("vaultIds").cloned();
    check::equal("vaultIds of the SDK", &vaults(&json), &vaults(shown))?;
    check::ensure(json["status"].is_string(), "a status of the SDK", "none")
}

async fn add(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 1).await?;
    let ids = make::prompts(&case, &wire, 2).await?;
    let contents = case.sdk()?.vault(VaultId::new(vault)).prompts();
    let added = contents.add(ids.iter().copied().map(PromptId::new)).await?;
    check::equal("added of the SDK", &added.added, &2)?;
    check::equal("promptCount of the SDK", &added.prompt_count, &3)?;
    check::equal("vaultId of the SDK", &added.vault_id.get(), &vault)?;
    let listed = super::prompts(&wire, vault).await?;
    let all_there = ids.iter().all(|id| listed.contains(id));
    check::ensure(all_there, "the added prompts in the listing", format!("{listed:?}"))
}

async fn refused(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.extend(make::prompts(&case, &wire, 17).await?.into_iter().map(PromptId::new));
    }
    match case.sdk()?.vault(VaultId::new(vault)).prompts().add(ids).await {
        Ok(added) => Err(Failure::failed("an error for 51 ids", format!("{added:?}"))),
        Err(error) => check::ensure(error.is_invalid(), "is_invalid", format!("{error:?}")),
    }
}

async fn remove(case: Case) -> Result<(), Failure> {
    let (vault, mut expected) = three(&case).await?;
    let gone = VaultPromptId::new(expected.remove(1).membership);
    let removed = case.sdk()?.vault(vault).prompts().remove(gone).await?;
    check::equal("vaultPromptId of the SDK", &removed.vault_prompt_id, &gone)?;
    check::ensure(removed.removed, "removed true of the SDK", "false")?;
    check::equal("the listing", &entries(&case.wire(), vault.get()).await?, &expected)
}

async fn move_to(case: Case) -> Result<(), Failure> {
    let (source, listed) = three(&case).await?;
    let target = VaultId::new(make::vault(&case, &case.wire()).await?);
    let contents = case.sdk()?.vault(source).prompts();
    let moved = contents.move_to(VaultPromptId::new(listed[1].membership), target).await?;
    check::equal("promptId of the SDK", &moved.prompt_id.get(), &listed[1].prompt)?;
    check::equal("sourceVaultId of the SDK", &moved.source_vault_id, &source)?;
    check::equal("targetVaultId of the SDK", &moved.target_vault_id, &target)?;
    let there = entries(&case.wire(), target.get()).await?;
    let there: Vec<_> = there.iter().map(|entry| entry.membership).collect();
    check::equal("the target's memberships", &there, &vec![moved.vault_prompt_id.get()])
}

async fn pin_and_unpin(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 2).await?;
    let id = VaultPromptId::new(members[0].membership);
    let contents = case.sdk()?.vault(VaultId::new(vault)).prompts();
    for pinned in [true, false] {
        let state = match pinned {
            true => contents.pin(id).await?,
            false => contents.unpin(id).await?,
        };
        check::equal("vaultPromptId of the SDK", &state.vault_prompt_id, &id)?;
        check::equal("isPinned of the SDK", &state.is_pinned, &pinned)?;
        let listed = entries(&wire, vault).await?;
        let shown: Vec<_> = listed.iter().filter(|entry| entry.pinned).collect();
        check::equal("the number of pinned ones on the wire", &shown.len(), &pinned.into())?;
        // Where the other one stands after that is a matter of dates.
        let on_top = listed.first().map(|entry| entry.prompt);
        let right = !pinned || on_top == Some(members[0].prompt);
        check::ensure(right, "the pinned prompt on top", format!("{on_top:?}"))?;
    }
    Ok(())
}
