//! Walks over a list that changes under way. The specification promises
//! nothing here; our server shows each prompt that stays exactly once (S-02).

use futures::future::{try_join, try_join_all};

use crate::fixture::{Page, PromptId, Walk};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "pagination.changes.created" ["PG-06"] ("S-02") created,
        "Prompts made during a walk do not show up in it and disturb no other" },
    reference! { "pagination.changes.deleted" ["PG-06"] ("S-02") deleted,
        "A prompt deleted during a walk is left out and disturbs no other" },
    reference! { "pagination.changes.cursor-entry-deleted" ["PG-06"] ("S-02") cursor_entry_deleted,
        "A walk goes on although the entry its cursor was given at is deleted" },
    reference! { "pagination.changes.all-deleted" ["PG-06", "PG-08"] ("S-02") all_deleted,
        "A walk ends with an empty page if all that would follow is deleted" },
    reference! { "pagination.changes.removed-from-vault" ["PG-06"] ("S-02") removed_from_vault,
        "A prompt taken out of the vault during a walk is left out" },
    reference! { "pagination.changes.added-to-vault" ["PG-06"] ("S-02") added_to_vault,
        "Prompts put into the vault during a walk disturb no other" },
    reference! { "pagination.changes.updated" ["PG-06"] ("S-02") updated,
        "Prompts updated during a walk are met exactly once" },
    reference! { "pagination.changes.other-type" ["PG-06"] ("S-02") other_type,
        "A prompt that changes its type during a walk by type is left out" },
    reference! { "pagination.changes.vault-deleted" ["PR-15"] ("S-57") vault_deleted,
        "A walk over a vault that is deleted meanwhile is refused with 400, naming vaultId" },
    reference! { "pagination.changes.at-once" ["PG-06"] ("S-02") at_once,
        "While others make, update and delete prompts, a walk meets each that stays once" },
    reference! { "pagination.changes.at-once-unfiltered" ["PG-06"] ("S-02") at_once_unfiltered,
        "Such a walk over the whole list meets each that stays once too" },
];

async fn created(case: Case) -> Result {
    let (vault, stay) = case.stocked_vault(7).await?;
    let list = vault.list().limit(2);
    let (mut new, mut walk) = (Vec::new(), Walk::from(list.page().await?));
    while walk.last().next.is_some() {
        new.extend(vault.stock(3).await?);
        walk.advance(&list).await?;
    }
    walk.expect_once(&stay)?;
    walk.expect_none(&new)
}

async fn delete_all(case: &Case, prompts: &[impl PromptId]) -> Result {
    for prompt in prompts {
        case.prompt_at(prompt.prompt_id()).delete().await?.status(200)?;
    }
    Ok(())
}

async fn deleted(case: Case) -> Result {
    let (vault, prompts) = case.stocked_vault(8).await?;
    let list = vault.list().limit(2);
    let first = list.page().await?;
    // One that came already, and two of those to come, one of them the last.
    let gone = [7, 4, 0].map(|n| prompts[n].id);
    delete_all(&case, &gone).await?;
    let mut walk = list.walk_from(first).await?;
    walk.expect_once([1, 2, 3, 5].map(|n| &prompts[n]))?;
    walk.pages.remove(0);
    check::equal("deleted prompts after the first page", &walk.among(gone), &vec![])
}

async fn cursor_entry_deleted(case: Case) -> Result {
    let (vault, prompts) = case.stocked_vault(6).await?;
    let delete = |page: &Page| {
        let (case, ids) = (case.clone(), page.ids.clone());
        async move { delete_all(&case, &ids).await }
    };
    vault.list().limit(2).walk_with(delete).await?.expect_once(&prompts)
}

async fn all_deleted(case: Case) -> Result {
    let (vault, prompts) = case.stocked_vault(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    delete_all(&case, &prompts).await?;
    let rest = list.after(&first).page().await?;
    check::equal("ids and next cursor", &(rest.ids, rest.next), &(vec![], None))
}

async fn removed_from_vault(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut members = vault.fill(5).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    let removed = members.remove(2);
    removed.remove().await?.status(200)?;
    let walk = list.walk_from(first).await?;
    walk.expect_once(&members)?;
    walk.expect_none([&removed])
}

async fn added_to_vault(case: Case) -> Result {
    let older = case.prompt().await?;
    let (vault, mut stay) = case.stocked_vault(3).await?;
    let between = case.prompt().await?;
    stay.extend(vault.stock(3).await?);
    let list = vault.list().limit(2);
    let first = list.page().await?;
    vault.add([&older, &between]).await?.status(201)?;
    list.walk_from(first).await?.expect_once(&stay)
}

async fn updated(case: Case) -> Result {
    let (vault, prompts) = case.stocked_vault(6).await?;
    let update = |_: &Page| async {
        for prompt in &prompts {
            prompt.update(json!({ "title": case.name("updated") })).await?.success()?;
        }
        Ok(())
    };
    vault.list().limit(2).walk_with(update).await?.expect_once(&prompts)
}

async fn other_type(case: Case) -> Result {
    let (vault, prompts) = case.stocked_vault(4).await?;
    let list = vault.list().with("type", "text").limit(1);
    let first = list.page().await?;
    let image = json!({ "promptType": "image", "modelId": case.image_model() });
    prompts[1].update(image).await?.success()?;
    let walk = list.walk_from(first).await?;
    walk.expect_once([0, 2, 3].map(|n| &prompts[n]))?;
    walk.expect_none([&prompts[1]])
}

async fn vault_deleted(case: Case) -> Result {
    let (vault, _) = case.stocked_vault(2).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    vault.delete().await?.status(200)?;
    list.after(&first).get().await?.status(400)?.string("/details/vaultId").map(drop)
}

async fn at_once(case: Case) -> Result {
    let (vault, stay) = case.stocked_vault(12).await?;
    let list = vault.list().limit(2);
    let (walk, ()) = try_join(list.walk(), disturb(&case, &vault, &stay)).await?;
    walk.expect_once(&stay)
}

async fn at_once_unfiltered(case: Case) -> Result {
    let (vault, stay) = case.stocked_vault(12).await?;
    let (walk, ()) = try_join(walk_to(&case, &stay[0]), disturb(&case, &vault, &stay)).await?;
    walk.expect_once(&stay)
}

/// Walks the whole list in small pages until it is past `oldest`.
async fn walk_to(case: &Case, oldest: &Prompt) -> Result<Walk> {
    let list = case.list().limit(5);
    let mut walk = Walk::from(list.page().await?);
    while walk.last().ids.iter().all(|id| *id >= oldest.id) {
        if !walk.advance(&list).await? {
            break;
        }
    }
    Ok(walk)
}

/// Creates, changes and deletes prompts in the vault, several at a time.
async fn disturb(case: &Case, vault: &Vault, stay: &[Prompt]) -> Result {
    let at_once = stay.chunks(3).map(|some| async move {
        for prompt in some {
            let created = case.prompt().await?;
            vault.add([&created]).await?.status(201)?;
            prompt.update(json!({ "platform": "disturbed" })).await?.success()?;
            created.delete().await?.status(200)?;
        }
        Ok(())
    });
    try_join_all(at_once).await.map(drop)
}
