//! What a cursor is good for: sent again, with another page size, changed, with other filters,
//! under another key. And walks over a list that changes under way: the specification promises
//! nothing there; our server shows each prompt that stays exactly once (S-02).

use crate::prelude::*;
use promptarium_conformance::fixture::{List, Page, PromptId, Walk};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "pagination.cursors.again" ["S-02"] again,
        "A cursor gives the same page again, and limit and order of parameters may change" },
    scenario! { "pagination.cursors.other-key" ["S-02"] [ReadOnlyKey] other_key,
        "A cursor is good under another key of the same account" },
    scenario! { "pagination.cursors.mangled" ["S-02"] [OtherAccount] mangled,
        "A cursor that was changed, of other filters or another account, is 400 naming cursor" },
    scenario! { "pagination.changes.deleted" ["S-02"] deleted,
        "Prompts that leave the list during a walk are left out and disturb no other" },
    scenario! { "pagination.changes.added-to-vault" ["S-02"] added_to_vault,
        "Prompts that are created, added or updated during a walk disturb no other" },
    scenario! { "pagination.changes.vault-deleted" ["S-57"] vault_deleted,
        "A walk over a vault that is deleted meanwhile is refused with 400, naming vaultId" },
    scenario! { "pagination.changes.at-once" ["S-02"] at_once,
        "While others create, update and delete, walks meet each prompt that stays once" },
];

async fn again(case: Case) -> Result {
    let (vault, _) = case.vault_of(5).await?;
    let list = vault.list().with("type", "text").limit(2);
    let first = list.page().await?;
    let second = list.clone().after(&first).page().await?;
    list.clone().after(&second).page().await?;
    let other_order = case.list().after(&first).limit(2).with("type", "text");
    for list in [list.after(&first), other_order.with("vaultId", &vault.id)] {
        check::equal("the page of a cursor used again", &list.page().await?.ids, &second.ids)?;
    }
    let (vault, prompts) = case.vault_of(9).await?;
    let list = vault.list();
    let mut walk = Walk::from(list.clone().limit(1).page().await?);
    for limit in [3, 2, 100] {
        let follows = walk.advance(&list.clone().limit(limit)).await?;
        walk.last().reply.ensure(follows, "a cursor while entries follow", "none")?;
    }
    check::with_context("limits 1, 3, 2, 100", walk.expect_once(&prompts))?;
    let first = list.clone().limit(2).page().await?;
    check::with_context("limit 2, then none", list.walk_from(first).await?.expect_once(&prompts))
}

async fn other_key(case: Case) -> Result {
    let (vault, prompts) = case.vault_of(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    list.on(case.read_only()).walk_from(first).await?.expect_once(&prompts)
}

async fn mangled(case: Case) -> Result {
    let (vault, _) = case.vault_of(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    let cursor = first.reply.string("/pagination/nextCursor")?;
    for changed in mangled_forms(cursor) {
        let reply = list.clone().with("cursor", &changed).get().await?;
        let what = format!("the cursor {} in place of {}", json_text(&changed), json_text(&cursor));
        reply.is_bad_request_naming("cursor", what)?;
    }
    let owner = case.other_account();
    owner.vault_of(2).await?;
    let first = owner.list().limit(1).page().await?;
    let reply = case.list().limit(1).after(&first).get().await?;
    reply.is_bad_request_naming("cursor", "a cursor of another account")?;
    // A cursor is refused under other filters.
    let (vault, _) = case.vault_of(3).await?;
    let (all, of_vault, of_another) = (case.list(), vault.list(), case.vault().await?.list());
    let typed = |list: &List, kind: &str| list.clone().with("type", kind);
    let lists = [&all, &of_vault].map(|list| [list.clone(), typed(list, "text")]).concat();
    let others = [typed(&all, "image"), typed(&of_vault, "video"), typed(&of_another, "text")];
    let others = [&lists, &others[..], &[of_another]].concat();
    for list in &lists {
        let first = list.clone().limit(1).page().await?;
        for other in others.iter().filter(|other| other.path() != list.path()) {
            let reply = other.clone().limit(1).after(&first).get().await?;
            let what = format!("a cursor of {} with {}", list.path(), other.path());
            reply.is_bad_request_naming("cursor", what)?;
        }
    }
    Ok(())
}

/// The cursor changed and cut at each place, or longer, and texts that never were one.
fn mangled_forms(cursor: &str) -> Vec<String> {
    let others = "abc 1 0 -1 null undefined é 😀 ../.. = AAAA % eyJpZCI6MX0";
    let others = others.split(' ').chain(["\0", " "]).map(str::to_owned);
    let length = cursor.chars().count();
    let changed = (0..length).map(|place| mistyped(cursor, place));
    let cut = (1..length).map(|count| cursor.chars().take(count).collect());
    let longer = [["", "A"], ["", "="], ["A", ""], [cursor, ""], ["", " "]];
    let longer = longer.map(|[before, after]| format!("{before}{cursor}{after}"));
    let long = longer.into_iter().chain(["A".repeat(4000)]);
    others.chain(changed).chain(cut).chain(long).collect()
}

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
    // The entries before each page, and in the end all that follow.
    let (vault, prompts) = case.vault_of(6).await?;
    let delete = |page: &Page| {
        let (case, ids) = (case.clone(), page.ids.clone());
        async move { delete_all(&case, &ids).await }
    };
    vault.list().limit(2).walk_with(delete).await?.expect_once(&prompts)?;
    let (vault, prompts) = case.vault_of(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    delete_all(&case, &prompts).await?;
    let rest = list.after(&first).page().await?;
    check::equal("ids and next cursor", &(rest.ids, rest.next), &(vec![], None))?;
    // Entries that are removed from the vault, or no longer have the type.
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
    while walk.last().ids.iter().all(|id| *id >= oldest.id) && walk.advance(&list).await? {}
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
