//! Pages of `GET /prompts`: where a walk begins, how it goes on, where it ends, in which order it
//! goes, and the query `limit`. What a cursor is good for is in `cursors`.

use crate::fixture::List;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "pagination.pages.next-cursor" ["PG-01", "EN-07"] next_cursor,
        "Every page carries pagination.nextCursor, a string or null" },
    core! { "pagination.pages.beginning" ["PG-05"] beginning,
        "Without cursor the list starts at its beginning, also in the middle of a walk" },
    core! { "pagination.pages.each-once" ["PG-06", "PG-07", "PG-08", "PG-09", "PR-15"]
        |case| each_once(case, 14, [1, 2, 3, 7, 100].map(Some)),
        "A walk with any page size meets each entry of the vault once, and ends at null" },
    core! { "pagination.pages.each-once-by-default" ["PG-06"] |case| each_once(case, 45, [None]),
        "A walk without limit meets each entry of the vault once and no other" },
    core! { "pagination.pages.each-once-by-type" ["PG-06", "PR-16"] each_once_by_type,
        "A walk with vaultId and type keeps both and meets each entry exactly once" },
    core! { "pagination.limit.default" ["PG-02"]
        |case| page_sizes(case, 45, vec![(None, vec![20, 20, 5])]),
        "Without limit every page but the last holds 20 entries" },
    core! { "pagination.limit.size" ["PG-03", "PG-08"]
        |case| page_sizes(case, 8, vec![
            (Some(1), vec![1; 8]),
            (Some(2), vec![2; 4]),
            (Some(3), vec![3, 3, 2]),
            (Some(7), vec![7, 1]),
        ]),
        "Every page but the last holds as many entries as limit says, and no page is empty" },
    core! { "pagination.limit.hundred" ["PG-03", "PG-06"]
        |case| page_sizes(case, 101, vec![(Some(100), vec![100, 1])]),
        "With limit 100 the first page holds 100 of 101 entries, and the second one the last" },
    core! { "pagination.cursors.of-another-account" ["PR-14"] [OtherAccount] of_another_account,
        "A cursor of another account shows none of that account's prompts" },
];

async fn next_cursor(case: Case) -> Result {
    let (vault, _) = case.vault_of(2).await?;
    let (all, list) = (case.list(), vault.list());
    let text = all.clone().with("type", "text");
    for list in [all, text, list.clone().limit(1), list.limit(100)] {
        let reply = list.get().await?;
        let cursor = reply.at("/pagination/nextCursor")?;
        reply.ensure(cursor.is_string() || cursor.is_null(), "a string or null", cursor)?;
    }
    Ok(())
}

async fn beginning(case: Case) -> Result {
    let (vault, _) = case.vault_of(5).await?;
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
) -> Result {
    let (vault, prompts) = case.vault_of(entries).await?;
    // One that the filter has to leave out, on every page.
    case.prompt().await?;
    for limit in limits {
        let list = limit.into_iter().fold(vault.list(), List::limit);
        check::with_context(list.path(), list.walk().await?.expect_exactly(&prompts))?;
    }
    Ok(())
}

async fn each_once_by_type(case: Case) -> Result {
    let (vault, texts) = case.vault_of(3).await?;
    let mut texts = ids(texts);
    let mut images = Vec::new();
    for _ in 0..4 {
        let fields = json!({ "promptType": "image", "modelId": case.image_model() });
        images.push(case.prompt_with(fields).await?.0);
        texts.extend(ids(vault.fill(1).await?));
    }
    vault.add_in_turn(&images).await?;
    for limit in [1, 2, 3] {
        let walk = vault.list().with("type", "image").limit(limit).walk().await?;
        walk.expect_once(&images)?;
        walk.expect_none(&texts)?;
    }
    Ok(())
}

/// The pages of a vault with so many entries have these sizes, with each of these limits.
async fn page_sizes(
    case: Case,
    entries: usize,
    expected: Vec<(Option<usize>, Vec<usize>)>,
) -> Result {
    let (vault, _) = case.vault_of(entries).await?;
    for (limit, expected) in expected {
        let list = limit.into_iter().fold(vault.list(), List::limit);
        let pages = list.walk().await?.pages;
        let sizes: Vec<_> = pages.iter().map(|page| page.ids.len()).collect();
        check::equal(&format!("the page sizes of {}", list.path()), &sizes, &expected)?;
    }
    Ok(())
}

async fn of_another_account(case: Case) -> Result {
    case.vault_of(2).await?;
    let owner = case.other_account();
    let (_, theirs) = owner.vault_of(3).await?;
    let first = owner.list().limit(1).page().await?;
    let reply = case.list().limit(100).after(&first).get().await?;
    if reply.status_code() != 200 {
        return reply.is_client_error("a cursor of another account").map(drop);
    }
    let ids = reply.integers("/data", "id")?;
    let mut foreign = theirs.iter().map(|prompt| prompt.id).chain(first.ids);
    let shown = foreign.any(|id| ids.contains(&id));
    reply.ensure(!shown, "no prompt of another account", json_text(&ids)).map(drop)
}
