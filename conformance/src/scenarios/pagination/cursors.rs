//! What a cursor is good for: sent again, with another page size, changed,
//! with other filters, under another key.

use serde_json::json;

use super::walk::{ask, go_on, in_vault, once, page, path, stocked};
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.cursors.of-another-account" ["PR-14"] [OtherAccount] of_another_account,
        "A cursor of another account shows none of that account's prompts" },
    reference! { "pagination.cursors.again" ["PG-06", "PG-09"] again,
        "A cursor that is used again gives the same page (S-02)" },
    reference! { "pagination.cursors.other-limit" ["PG-06"] other_limit,
        "The limit may change from page to page (S-02)" },
    reference! { "pagination.cursors.order-of-parameters" ["PG-06", "PG-09"] order_of_parameters,
        "A cursor is good whatever the order of the query parameters (S-02)" },
    reference! { "pagination.cursors.other-key" ["PG-06", "PG-09"] [ReadOnlyKey] other_key,
        "A cursor is good under another key of the same account (S-02)" },
    reference! { "pagination.cursors.mangled" ["PG-09"] mangled,
        "A cursor that was changed, cut or made up is refused with 400, naming cursor (S-02)" },
    reference! { "pagination.cursors.other-filters" ["PG-09"] other_filters,
        "A cursor with other filters is refused with 400, naming cursor (S-02)" },
    reference! { "pagination.cursors.refused-of-another-account"
        ["PG-09"] [OtherAccount] refused_of_another_account,
        "A cursor of another account is refused with 400, naming cursor (S-02)" },
];

async fn of_another_account(case: Case) -> Result<(), Failure> {
    stocked(&case, &case.wire(), 2).await?;
    let (_, theirs) = stocked(&case, &case.other(), 3).await?;
    let first = page(&case.other(), &[], Some(1), None).await?;
    let reply = ask(&case.wire(), &[], Some(100), first.next.as_deref()).await?;
    if reply.status_code() == 200 {
        let ids = reply.integers("/data", "id")?;
        let foreign = ids.iter().any(|id| theirs.contains(id) || first.ids.contains(id));
        reply.ensure(!foreign, "no prompt of another account", format!("{ids:?}"))?;
        return Ok(());
    }
    reply.status_in(400..=499)?;
    Ok(())
}

async fn again(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 5).await?;
    let filters = in_vault(vault);
    let first = page(&case.wire(), &filters, Some(2), None).await?;
    let second = page(&case.wire(), &filters, Some(2), first.next.as_deref()).await?;
    page(&case.wire(), &filters, Some(2), second.next.as_deref()).await?;
    let again = page(&case.wire(), &filters, Some(2), first.next.as_deref()).await?;
    check::equal("the page of a cursor used twice", &again.ids, &second.ids)
}

async fn other_limit(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 9).await?;
    let filters = in_vault(vault);
    let mut pages = vec![page(&case.wire(), &filters, Some(1), None).await?];
    for limit in [Some(3), Some(2), Some(100)] {
        let cursor = pages.last().and_then(|page| page.next.clone());
        pages.push(page(&case.wire(), &filters, limit, cursor.as_deref()).await?);
    }
    once("limits 1, 3, 2, 100", &pages, &prompts)?;
    let first = page(&case.wire(), &filters, Some(2), None).await?;
    let pages = go_on(&case.wire(), &filters, None, first).await?;
    once("limit 2, then none", &pages, &prompts)
}

async fn order_of_parameters(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 4).await?;
    let mut query = in_vault(vault);
    query.push(("type", "text".to_owned()));
    query.push(("limit", "2".to_owned()));
    let first = case.wire().get(&path(&query)).await?;
    query.push(("cursor", first.status(200)?.string("/pagination/nextCursor")?.to_owned()));
    let expected = case.wire().get(&path(&query)).await?.integers("/data", "id")?;
    query.reverse();
    let reply = case.wire().get(&path(&query)).await?;
    let got = reply.status(200)?.integers("/data", "id")?;
    check::equal("the page of the same query in another order", &got, &expected)
}

async fn other_key(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 3).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(1), None).await?;
    let pages = go_on(&case.read_only(), &in_vault(vault), Some(1), first).await?;
    once("the rest with another key", &pages, &prompts)
}

async fn mangled(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 3).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(1), None).await?;
    let Some(cursor) = first.next else {
        return Err(first.reply.failure("a next cursor", "null"));
    };
    for changed in mangled_forms(&cursor) {
        let reply = ask(&case.wire(), &in_vault(vault), Some(1), Some(&changed)).await?;
        refused(&reply, &format!("the cursor {changed:?} in place of {cursor:?}"))?;
    }
    Ok(())
}

/// The cursor with each of its characters changed, cut at each place, longer,
/// and things that never were a cursor.
fn mangled_forms(cursor: &str) -> Vec<String> {
    let mut forms: Vec<String> = [
        "abc",
        "1",
        "0",
        "-1",
        "null",
        "undefined",
        "é",
        "😀",
        "\u{0}",
        "../..",
        "=",
        "AAAA",
        "%",
        "eyJpZCI6MX0",
        " ",
    ]
    .map(str::to_owned)
    .to_vec();
    let chars: Vec<char> = cursor.chars().collect();
    for at in 0..chars.len() {
        let mut changed = chars.clone();
        changed[at] = if chars[at] == 'A' { 'B' } else { 'A' };
        forms.push(changed.into_iter().collect());
        if at > 0 {
            forms.push(chars[..at].iter().collect());
        }
    }
    forms.extend([
        format!("{cursor}A"),
        format!("{cursor}="),
        format!("A{cursor}"),
        format!("{cursor}{cursor}"),
        format!("{cursor} "),
        "A".repeat(4000),
    ]);
    forms
}

async fn other_filters(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, _) = stocked(&case, &wire, 3).await?;
    let another = make::vault(&case, &wire).await?;
    let alone = in_vault(vault);
    let typed = |mut filters: Vec<_>, kind: &str| {
        filters.push(("type", kind.to_owned()));
        filters
    };
    let lists = [vec![], typed(vec![], "text"), alone.clone(), typed(alone.clone(), "text")];
    let mut others = lists.to_vec();
    others.extend([
        typed(vec![], "image"),
        typed(alone, "video"),
        in_vault(another),
        typed(in_vault(another), "text"),
    ]);
    for list in &lists {
        let first = page(&wire, list, Some(1), None).await?;
        for other in others.iter().filter(|other| *other != list) {
            let reply = ask(&wire, other, Some(1), first.next.as_deref()).await?;
            refused(&reply, &format!("a cursor of {list:?} with {other:?}"))?;
        }
    }
    Ok(())
}

async fn refused_of_another_account(case: Case) -> Result<(), Failure> {
    stocked(&case, &case.other(), 2).await?;
    let first = page(&case.other(), &[], Some(1), None).await?;
    let reply = ask(&case.wire(), &[], Some(1), first.next.as_deref()).await?;
    refused(&reply, "a cursor of another account")
}

fn refused(reply: &Reply, what: &str) -> Result<(), Failure> {
    let named = reply.status_code() == 400 && reply.string("/details/cursor").is_ok();
    let got = format!("status {}: {}", reply.status_code(), reply.json().unwrap_or(&json!(null)));
    reply.ensure(named, format!("status 400 naming cursor for {what}"), got)?;
    Ok(())
}
