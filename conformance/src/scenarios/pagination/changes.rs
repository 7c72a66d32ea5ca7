//! Walks over a list that changes under way. The specification promises
//! nothing here; our server shows each prompt that stays exactly once (S-02).

use crate::fixture::{Page, PromptId, Walk};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "pagination.changes.deleted" ["PG-06", "PG-08"] ("S-02") deleted,
        "A prompt that is deleted during a walk, taken out of the vault or changed to another type is \
         left out and disturbs no other; the entries of the cursor may be gone, and all that follow" },
    reference! { "pagination.changes.added-to-vault" ["PG-06"] ("S-02") added_to_vault,
        "Prompts made, put into the vault or updated during a walk disturb no other, and those that are \
         new do not show up in it" },
    reference! { "pagination.changes.vault-deleted" ["PR-15"] ("S-57") vault_deleted,
        "A walk over a vault that is deleted meanwhile is refused with 400, naming vaultId" },
    reference! { "pagination.changes.at-once" ["PG-06"] ("S-02") at_once,
        "While others make, update and delete prompts, a walk over the vault and one over the whole \
         list meet each that stays once" },
];

async fn delete_all(case: &Case, prompts: &[impl PromptId]) -> Result {
    for prompt in prompts {
        case.prompt_at(prompt.prompt_id()).delete().await?.status(200)?;
    }
    Ok(())
}

async fn deleted(case: Case) -> Result {
    let (vault, prompts) = case.vault_of(8).await?;
    let list = vault.list().limit(2);
    let first = list.page().await?;
    // One that came already, and two of those to come, one of them the last.
    let gone = [7, 4, 0].map(|n| prompts[n].id);
    delete_all(&case, &gone).await?;
    let mut walk = list.walk_from(first).await?;
    walk.expect_once([1, 2, 3, 5].map(|n| &prompts[n]))?;
    walk.pages.remove(0);
    check::equal("deleted prompts after the first page", &walk.among(gone), &vec![])?;
    cursor_entries_deleted(&case).await?;
    taken_out(&case).await
}

/// The entries before each page, and in the end all that follow.
async fn cursor_entries_deleted(case: &Case) -> Result {
    let (vault, prompts) = case.vault_of(6).await?;
    let delete = |page: &Page| {
        let (case, ids) = (case.clone(), page.ids.clone());
        async move { delete_all(&case, &ids).await }
    };
    vault.list().limit(2).walk_with(delete).await?.expect_once(&prompts)?;
    let (vault, prompts) = case.vault_of(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    delete_all(case, &prompts).await?;
    let rest = list.after(&first).page().await?;
    check::equal("ids and next cursor", &(rest.ids, rest.next), &(vec![], None))
}

async fn taken_out(case: &Case) -> Result {
    let vault = case.vault().await?;
    let mut members = vault.fill(5).await?;
    let list = vault.list().with("type", "text").limit(1);
    let first = list.page().await?;
    let (removed, changed) = (members.remove(2), members.remove(1));
    removed.remove().await?.status(200)?;
    let image = json!({ "promptType": "image", "modelId": case.image_model() });
    changed.prompt.update(image).await?.success()?;
    let walk = list.walk_from(first).await?;
    walk.expect_once(&members)?;
    walk.expect_none([&removed, &changed])
}

async fn added_to_vault(case: Case) -> Result {
    let older = case.prompt().await?;
    let (vault, stay) = case.vault_of(3).await?;
    let mut stay = ids(stay);
    let between = case.prompt().await?;
    stay.extend(ids(vault.fill(3).await?));
    let list = vault.list().limit(2);
    let first = list.page().await?;
    vault.add([&older, &between]).await?.status(201)?;
    list.walk_from(first).await?.expect_once(&stay)?;
    let (vault, prompts) = case.vault_of(6).await?;
    let update = |_: &Page| async {
        for prompt in &prompts {
            prompt.update(json!({ "title": case.name("updated") })).await?.success()?;
        }
        Ok(())
    };
    vault.list().limit(2).walk_with(update).await?.expect_once(&prompts)?;
    let (vault, stay) = case.vault_of(7).await?;
    let list = vault.list().limit(2);
    let (mut new, mut walk) = (Vec::new(), Walk::from(list.page().await?));
    while walk.last().next.is_some() {
        // A walk that new entries move back must end too.
        if new.len() < 9 {
            new.extend(vault.fill(3).await?);
        }
        walk.advance(&list).await?;
    }
    walk.expect_once(&stay)?;
    walk.expect_none(&new)
}

async fn vault_deleted(case: Case) -> Result {
    let (vault, _) = case.vault_of(2).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    vault.delete().await?.status(200)?;
    list.after(&first).get().await?.status(400)?.string("/details/vaultId").map(drop)
}

async fn at_once(case: Case) -> Result {
    let (vault, stay) = case.vault_of(12).await?;
    let list = vault.list().limit(2);
    let walks = try_join(list.walk(), walk_to(&case, &stay[0]));
    let ((of_vault, of_all), ()) = try_join(walks, disturb(&case, &vault, &stay)).await?;
    of_vault.expect_once(&stay)?;
    of_all.expect_once(&stay)
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
