//! Walking the list: where it begins, how it goes on, where it ends, and in
//! which order it goes.

use std::collections::HashSet;

use serde_json::json;

use crate::fixture::{List, ids};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.pages.next-cursor" ["PG-01", "EN-07"] next_cursor,
        "Every page carries pagination.nextCursor, a string or null" },
    core! { "pagination.pages.beginning" ["PG-05"] beginning,
        "Without cursor the list starts at its beginning, also in the middle of a walk" },
    core! { "pagination.pages.each-once" ["PG-06", "PG-08"]
        |case| each_once(case, 14, [1, 2, 3, 7, 100].map(Some)),
        "A walk with any page size meets each entry exactly once and ends at a null nextCursor" },
    core! { "pagination.pages.each-once-by-default" ["PG-06"] |case| each_once(case, 45, [None]),
        "A walk without limit meets each entry exactly once" },
    core! { "pagination.pages.each-once-of-101" ["PG-06"] |case| each_once(case, 101, [Some(100)]),
        "A walk with limit 100 over 101 entries meets each exactly once" },
    core! { "pagination.pages.each-once-by-type" ["PG-06", "PR-16"] each_once_by_type,
        "A walk with vaultId and type keeps both and meets each entry exactly once" },
    core! { "pagination.pages.while-entries-follow" ["PG-07"] while_entries_follow,
        "nextCursor is a string while entries follow" },
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
    let (vault, _) = case.stocked_vault(2).await?;
    let (all, list) = (case.list(), vault.list());
    let text = all.clone().with("type", "text");
    for list in [all, text, list.clone().limit(1), list.limit(100)] {
        let reply = list.get().await?;
        let cursor = reply.at("/pagination/nextCursor")?;
        reply.ensure(cursor.is_string() || cursor.is_null(), "a string or null", cursor)?;
    }
    Ok(())
}

async fn beginning(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(5).await?;
    let list = vault.list().limit(2);
    let first = list.page().await?;
    list.clone().after(&first).page().await?;
    let again = list.page().await?;
    check::equal("the page without a cursor", &again.ids, &first.ids)
}

/// A walk over so many entries with each of these limits.
async fn each_once<const N: usize>(
    case: Case,
    entries: usize,
    limits: [Option<usize>; N],
) -> Result<(), Failure> {
    let (vault, prompts) = case.stocked_vault(entries).await?;
    for limit in limits {
        let list = limit.into_iter().fold(vault.list(), List::limit);
        check::with_context(list.path(), list.walk().await?.expect_once(&prompts))?;
    }
    Ok(())
}

async fn each_once_by_type(case: Case) -> Result<(), Failure> {
    let (vault, mut texts) = case.stocked_vault(3).await?;
    let mut images = Vec::new();
    for _ in 0..4 {
        let fields = json!({ "promptType": "image", "modelId": case.image_model() });
        images.push(case.prompt_with(fields).await?.0);
        texts.extend(vault.stock(1).await?);
    }
    vault.add_all(&images).await?;
    for limit in [1, 2, 3] {
        let walk = vault.list().with("type", "image").limit(limit).walk().await?;
        walk.expect_once(&images)?;
        walk.expect_none(&texts)?;
    }
    Ok(())
}

async fn while_entries_follow(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = case.stocked_vault(5).await?;
    for limit in [1, 2, 4] {
        let list = vault.list().limit(limit);
        let mut left: HashSet<_> = ids(&prompts).into_iter().collect();
        let mut page = list.page().await?;
        // That each page brings something new is for other scenarios to see.
        for _ in 0..100 {
            left.retain(|id| !page.ids.contains(id));
            if left.is_empty() {
                break;
            }
            let follow = page.next.is_some();
            page.reply.ensure(follow, "a string as nextCursor", "null before the last entry")?;
            page = list.clone().after(&page).page().await?;
        }
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    let walk = case.vault().await?.list().walk().await?;
    check::equal("the prompts of an empty vault", &walk.ids(), &vec![])
}

async fn cursor_unchanged(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(3).await?;
    let list = vault.list().limit(1);
    let first = list.page().await?;
    list.after(&first).get().await?.status(200).map(drop)
}

async fn no_empty_last(case: Case) -> Result<(), Failure> {
    let (vault, _) = case.stocked_vault(6).await?;
    for (limit, expected) in [(1, 6), (2, 3), (3, 2), (6, 1), (100, 1)] {
        let walk = vault.list().limit(limit).walk().await?;
        let what = format!("the number of pages of 6 entries with limit {limit}");
        check::equal(&what, &walk.pages.len(), &expected)?;
    }
    Ok(())
}

async fn newest_first(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = case.stocked_vault(5).await?;
    let walk = vault.list().limit(2).walk().await?;
    walk.expect_in_order(prompts.iter().rev())?;
    for list in [case.list(), case.list().with("type", "text")] {
        let page = list.limit(100).page().await?;
        let descending = page.ids.is_sorted_by(|one, next| one > next);
        page.reply.ensure(descending, "descending ids", format!("{:?}", page.ids))?;
    }
    Ok(())
}

async fn order_is_fixed(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = case.stocked_vault(4).await?;
    let (elsewhere, list) = (case.vault().await?, vault.list().limit(1));
    let first = list.page().await?;
    for prompt in [&prompts[0], &prompts[2]] {
        prompt.update(json!({ "title": "Moved?" })).await?.success()?;
        prompt.save_into(&elsewhere).await?.status(200)?;
    }
    list.walk_from(first).await?.expect_in_order(prompts.iter().rev())
}

async fn order_of_vault(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = (case.vault().await?, case.prompts_in_turn(4).await?);
    for n in [2, 0, 3, 1] {
        vault.add([&prompts[n]]).await?.status(201)?;
    }
    let page = vault.list().page().await?;
    check::equal("the list of the vault", &page.ids, &ids(prompts.iter().rev()))
}
