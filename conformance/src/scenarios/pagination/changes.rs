//! Walks over a list that changes under way. The specification promises
//! nothing here; our server shows each prompt that stays exactly once (S-02).

use futures::future::{try_join, try_join_all};
use serde_json::json;

use super::walk::{Page, ask, go_on, in_vault, once, own, page, put, stock, stocked, walk};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "pagination.changes.created" ["PG-06"] created,
        "Prompts made during a walk do not show up in it and disturb no other (S-02)" },
    reference! { "pagination.changes.deleted" ["PG-06"] deleted,
        "A prompt deleted during a walk is left out and disturbs no other (S-02)" },
    reference! { "pagination.changes.cursor-entry-deleted" ["PG-06"] cursor_entry_deleted,
        "A walk goes on although the entry its cursor was given at is deleted (S-02)" },
    reference! { "pagination.changes.all-deleted" ["PG-06", "PG-08"] all_deleted,
        "A walk ends with an empty page if all that would follow is deleted (S-02)" },
    reference! { "pagination.changes.removed-from-vault" ["PG-06"] removed_from_vault,
        "A prompt taken out of the vault during a walk is left out (S-02)" },
    reference! { "pagination.changes.added-to-vault" ["PG-06"] added_to_vault,
        "Prompts put into the vault during a walk disturb no other (S-02)" },
    reference! { "pagination.changes.updated" ["PG-06"] updated,
        "Prompts updated during a walk are met exactly once (S-02)" },
    reference! { "pagination.changes.other-type" ["PG-06"] other_type,
        "A prompt that changes its type during a walk by type is left out (S-02)" },
    reference! { "pagination.changes.vault-deleted" ["PR-15"] vault_deleted,
        "A walk over a vault that is deleted meanwhile is refused with 400, naming vaultId (S-57)" },
    reference! { "pagination.changes.at-once" ["PG-06"] at_once,
        "While others make, update and delete prompts, a walk meets each that stays once (S-02)" },
    reference! { "pagination.changes.at-once-unfiltered" ["PG-06"] at_once_unfiltered,
        "Such a walk over the whole list meets each that stays once too (S-02)" },
];

async fn created(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, stay) = stocked(&case, &wire, 7).await?;
    let mut pages = vec![page(&wire, &in_vault(vault), Some(2), None).await?];
    let mut new = Vec::new();
    while let Some(cursor) = pages.last().and_then(|page| page.next.clone()) {
        new.extend(stock(&case, &wire, vault, 3).await?);
        pages.push(page(&wire, &in_vault(vault), Some(2), Some(&cursor)).await?);
    }
    once("prompts that were there from the start", &pages, &stay)?;
    check::equal("new prompts in the walk", &own(&pages, &new), &Vec::new())
}

async fn deleted(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 8).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(2), None).await?;
    // One that came already, and two of those to come, one of them the last.
    let gone = [prompts[7], prompts[4], prompts[0]];
    let coming = [prompts[1], prompts[2], prompts[3], prompts[5]];
    for id in gone {
        case.wire().delete(&format!("/prompts/{id}")).await?.status(200)?;
    }
    let pages = go_on(&case.wire(), &in_vault(vault), Some(2), first).await?;
    once("prompts that stay", &pages, &coming)?;
    check::equal("deleted prompts after", &own(&pages[1..], &gone), &Vec::new())
}

async fn cursor_entry_deleted(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, prompts) = stocked(&case, &wire, 6).await?;
    let mut pages = vec![page(&wire, &in_vault(vault), Some(2), None).await?];
    while let Some(cursor) = pages.last().and_then(|page| page.next.clone()) {
        for id in pages.last().map(|page| page.ids.clone()).unwrap_or_default() {
            wire.delete(&format!("/prompts/{id}")).await?.status(200)?;
        }
        pages.push(page(&wire, &in_vault(vault), Some(2), Some(&cursor)).await?);
    }
    once("prompts that were there until their page came", &pages, &prompts)
}

async fn all_deleted(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, prompts) = stocked(&case, &wire, 3).await?;
    let first = page(&wire, &in_vault(vault), Some(1), None).await?;
    for id in prompts {
        wire.delete(&format!("/prompts/{id}")).await?.status(200)?;
    }
    let rest = page(&wire, &in_vault(vault), Some(1), first.next.as_deref()).await?;
    check::equal("ids and next cursor", &(rest.ids, rest.next), &(Vec::new(), None))
}

async fn removed_from_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 5).await?;
    let first = page(&wire, &in_vault(vault), Some(1), None).await?;
    let gone = members[2];
    let path = format!("/vaults/{vault}/prompts/{}", gone.membership);
    wire.delete(&path).await?.status(200)?;
    let pages = go_on(&wire, &in_vault(vault), Some(1), first).await?;
    let ids = members.iter().map(|member| member.prompt);
    let stay: Vec<_> = ids.filter(|id| *id != gone.prompt).collect();
    once("prompts that stay", &pages, &stay)?;
    check::equal("removed prompts", &own(&pages, &[gone.prompt]), &Vec::new())
}

async fn added_to_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let older = make::prompt(&case, &wire).await?;
    let (vault, mut stay) = stocked(&case, &wire, 3).await?;
    let between = make::prompt(&case, &wire).await?;
    stay.extend(stock(&case, &wire, vault, 3).await?);
    let first = page(&wire, &in_vault(vault), Some(2), None).await?;
    put(&wire, vault, &[older, between]).await?;
    let pages = go_on(&wire, &in_vault(vault), Some(2), first).await?;
    once("prompts that were there from the start", &pages, &stay)
}

async fn updated(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, prompts) = stocked(&case, &wire, 6).await?;
    let mut pages = vec![page(&wire, &in_vault(vault), Some(2), None).await?];
    while let Some(cursor) = pages.last().and_then(|page| page.next.clone()) {
        for id in &prompts {
            let body = json!({ "title": case.name("updated") });
            wire.patch(&format!("/prompts/{id}"), body).await?.status_in(200..=299)?;
        }
        pages.push(page(&wire, &in_vault(vault), Some(2), Some(&cursor)).await?);
    }
    once("prompts updated on the way", &pages, &prompts)
}

async fn other_type(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, prompts) = stocked(&case, &wire, 4).await?;
    let mut filters = in_vault(vault);
    filters.push(("type", "text".to_owned()));
    let first = page(&wire, &filters, Some(1), None).await?;
    let body = json!({ "promptType": "image", "modelId": case.image_model() });
    wire.patch(&format!("/prompts/{}", prompts[1]), body).await?.status_in(200..=299)?;
    let pages = go_on(&wire, &filters, Some(1), first).await?;
    once("prompts that keep their type", &pages, &[prompts[0], prompts[2], prompts[3]])?;
    check::equal("prompts of another type", &own(&pages, &[prompts[1]]), &Vec::new())
}

async fn vault_deleted(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, _) = stocked(&case, &wire, 2).await?;
    let first = page(&wire, &in_vault(vault), Some(1), None).await?;
    wire.delete(&format!("/vaults/{vault}")).await?.status(200)?;
    let reply = ask(&wire, &in_vault(vault), Some(1), first.next.as_deref()).await?;
    reply.status(400)?.string("/details/vaultId")?;
    Ok(())
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let (vault, stay) = stocked(&case, &case.wire(), 12).await?;
    let (wire, filters) = (case.wire(), in_vault(vault));
    let walk = walk(&wire, &filters, Some(2));
    let (pages, ()) = try_join(walk, disturb(&case, vault, &stay)).await?;
    once("prompts that stay", &pages, &stay)
}

async fn at_once_unfiltered(case: Case) -> Result<(), Failure> {
    let (vault, stay) = stocked(&case, &case.wire(), 12).await?;
    let (pages, ()) = try_join(walk_to(&case, stay[0]), disturb(&case, vault, &stay)).await?;
    once("prompts that stay", &pages, &stay)
}

/// Walks the whole list in small pages until it is past `oldest`.
async fn walk_to(case: &Case, oldest: i64) -> Result<Vec<Page>, Failure> {
    let wire = case.wire();
    let mut pages = vec![page(&wire, &[], Some(5), None).await?];
    while let Some(last) = pages.last()
        && let Some(cursor) = last.next.clone()
        && last.ids.iter().all(|id| *id >= oldest)
    {
        pages.push(page(&wire, &[], Some(5), Some(&cursor)).await?);
    }
    Ok(pages)
}

/// Makes, changes and deletes prompts in the vault, several at a time.
async fn disturb(case: &Case, vault: i64, stay: &[i64]) -> Result<(), Failure> {
    let hands = stay.chunks(3).map(|some| disturb_with(case, vault, some));
    try_join_all(hands).await?;
    Ok(())
}

async fn disturb_with(case: &Case, vault: i64, stay: &[i64]) -> Result<(), Failure> {
    let wire = case.wire();
    for patched in stay {
        let made = make::prompt(case, &wire).await?;
        put(&wire, vault, &[made]).await?;
        let body = json!({ "platform": "disturbed" });
        wire.patch(&format!("/prompts/{patched}"), body).await?.status_in(200..=299)?;
        wire.delete(&format!("/prompts/{made}")).await?.status(200)?;
    }
    Ok(())
}
