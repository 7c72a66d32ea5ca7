//! Walking the list: where it begins, how it goes on, where it ends, and in
//! which order it goes.

use std::collections::HashSet;

use serde_json::json;

use super::walk::{ask, go_on, in_vault, once, own, page, path, put, stock, stocked, walk};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.pages.next-cursor" ["PG-01", "EN-07"] next_cursor,
        "Every page carries pagination.nextCursor, a string or null" },
    core! { "pagination.pages.beginning" ["PG-05"] beginning,
        "Without cursor the list starts at its beginning, also in the middle of a walk" },
    core! { "pagination.pages.each-once" ["PG-06"] each_once,
        "A walk with any page size meets each entry exactly once" },
    core! { "pagination.pages.each-once-by-default" ["PG-06"] each_once_by_default,
        "A walk without limit meets each entry exactly once" },
    core! { "pagination.pages.each-once-of-101" ["PG-06"] each_once_of_101,
        "A walk with limit 100 over 101 entries meets each exactly once" },
    core! { "pagination.pages.each-once-by-type" ["PG-06", "PR-16"] each_once_by_type,
        "A walk with vaultId and type keeps both and meets each entry exactly once" },
    core! { "pagination.pages.while-entries-follow" ["PG-07"] while_entries_follow,
        "nextCursor is a string while entries follow" },
    core! { "pagination.pages.last" ["PG-08"] last,
        "The last page has the nextCursor null" },
    core! { "pagination.pages.empty" ["PG-08", "PR-15"] empty,
        "The list of an empty vault holds no entry and comes to an end" },
    core! { "pagination.pages.cursor-unchanged" ["PG-09"] cursor_unchanged,
        "A cursor that is sent back as it was given is accepted" },
    reference! { "pagination.pages.no-empty-last" ["PG-08"] no_empty_last,
        "A page with the last entry has no next cursor, also if it is full" },
    reference! { "pagination.pages.newest-first" ["PG-05", "PG-06"] newest_first,
        "The list is ordered by descending id, with and without filters (S-01)" },
    reference! { "pagination.pages.order-is-fixed" ["PG-06"] order_is_fixed,
        "An update or a save does not move a prompt in the list (S-01)" },
    reference! { "pagination.pages.order-of-vault" ["PG-06", "PR-15"] order_of_vault,
        "The list of a vault is ordered by id, whatever the order of adding (S-01)" },
];

async fn next_cursor(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 2).await?;
    let text = vec![("type", "text".to_owned())];
    for (filters, limit) in
        [(vec![], None), (text, None), (in_vault(vault), Some(1)), (in_vault(vault), Some(100))]
    {
        let reply = ask(&case.wire(), &filters, limit, None).await?;
        let cursor = reply.at("/pagination/nextCursor")?;
        reply.ensure(cursor.is_string() || cursor.is_null(), "a string or null", cursor)?;
    }
    Ok(())
}

async fn beginning(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 5).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(2), None).await?;
    page(&case.wire(), &in_vault(vault), Some(2), first.next.as_deref()).await?;
    let again = page(&case.wire(), &in_vault(vault), Some(2), None).await?;
    check::equal("the page without a cursor", &again.ids, &first.ids)
}

async fn each_once(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 14).await?;
    for limit in [1, 2, 3, 7, 100] {
        let pages = walk(&case.wire(), &in_vault(vault), Some(limit)).await?;
        once(&format!("limit {limit}"), &pages, &prompts)?;
    }
    Ok(())
}

async fn each_once_by_default(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 45).await?;
    once("no limit", &walk(&case.wire(), &in_vault(vault), None).await?, &prompts)
}

async fn each_once_of_101(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 101).await?;
    once("limit 100", &walk(&case.wire(), &in_vault(vault), Some(100)).await?, &prompts)
}

async fn each_once_by_type(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, mut texts) = stocked(&case, &wire, 3).await?;
    let mut images = Vec::new();
    for _ in 0..4 {
        let fields = json!({ "promptType": "image", "modelId": case.image_model() });
        let made = make::prompt_with(&case, &wire, fields).await?;
        images.push(made.integer("/data/id")?);
        texts.extend(stock(&case, &wire, vault, 1).await?);
    }
    put(&wire, vault, &images).await?;
    let mut filters = in_vault(vault);
    filters.push(("type", "image".to_owned()));
    for limit in [1, 2, 3] {
        let pages = walk(&wire, &filters, Some(limit)).await?;
        let what = format!("type and vaultId, limit {limit}");
        once(&what, &pages, &images)?;
        check::equal(&format!("{what}: other types"), &own(&pages, &texts), &vec![])?;
    }
    Ok(())
}

async fn while_entries_follow(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 5).await?;
    for limit in [1, 2, 4] {
        let mut left: HashSet<_> = prompts.iter().copied().collect();
        let mut cursor = None;
        // That each page brings something new is for other scenarios to see.
        for _ in 0..100 {
            let page = page(&case.wire(), &in_vault(vault), Some(limit), cursor.as_deref()).await?;
            left.retain(|id| !page.ids.contains(id));
            if left.is_empty() {
                break;
            }
            let follow = page.next.is_some();
            page.reply.ensure(follow, "a string as nextCursor", "null before the last entry")?;
            cursor = page.next;
        }
    }
    Ok(())
}

async fn last(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 4).await?;
    for limit in [1, 2, 3, 4, 5] {
        // A walk ends at a null and fails if none comes.
        walk(&case.wire(), &in_vault(vault), Some(limit)).await?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let pages = walk(&case.wire(), &in_vault(vault), None).await?;
    let ids: Vec<_> = pages.iter().flat_map(|page| page.ids.clone()).collect();
    check::equal("the prompts of an empty vault", &ids, &Vec::new())
}

async fn cursor_unchanged(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 3).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(1), None).await?;
    let reply = ask(&case.wire(), &in_vault(vault), Some(1), first.next.as_deref()).await?;
    reply.status(200)?;
    Ok(())
}

async fn no_empty_last(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 6).await?;
    for (limit, expected) in [(1, 6), (2, 3), (3, 2), (6, 1), (100, 1)] {
        let pages = walk(&case.wire(), &in_vault(vault), Some(limit)).await?;
        let what = format!("the number of pages of 6 entries with limit {limit}");
        check::equal(&what, &pages.len(), &expected)?;
    }
    Ok(())
}

async fn newest_first(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, mut prompts) = stocked(&case, &wire, 5).await?;
    prompts.reverse();
    let pages = walk(&wire, &in_vault(vault), Some(2)).await?;
    check::equal("the prompts of the vault", &own(&pages, &prompts), &prompts)?;
    for filters in [vec![], vec![("type", "text".to_owned())]] {
        let page = page(&wire, &filters, Some(100), None).await?;
        let descending = page.ids.is_sorted_by(|one, next| one > next);
        page.reply.ensure(descending, "descending ids", format!("{:?}", page.ids))?;
    }
    Ok(())
}

async fn order_is_fixed(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, mut prompts) = stocked(&case, &wire, 4).await?;
    let elsewhere = make::vault(&case, &wire).await?;
    let first = page(&wire, &in_vault(vault), Some(1), None).await?;
    for id in [prompts[0], prompts[2]] {
        wire.patch(&format!("/prompts/{id}"), json!({ "title": "Moved?" }))
            .await?
            .status_in(200..=299)?;
        let body = json!({ "vaultId": elsewhere });
        wire.post(&format!("/prompts/{id}/save"), body).await?.status(200)?;
    }
    prompts.reverse();
    let pages = go_on(&wire, &in_vault(vault), Some(1), first).await?;
    check::equal("the prompts of the vault", &own(&pages, &prompts), &prompts)
}

async fn order_of_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let mut prompts = Vec::new();
    for _ in 0..4 {
        prompts.push(make::prompt(&case, &wire).await?);
    }
    let [oldest, older, newer, newest] = prompts[..] else { return Ok(()) };
    for id in [newer, oldest, newest, older] {
        put(&wire, vault, &[id]).await?;
    }
    let reply = wire.get(&path(&in_vault(vault))).await?;
    let ids = reply.status(200)?.integers("/data", "id")?;
    check::equal("the prompts of the vault", &ids, &vec![newest, newer, older, oldest])
}
