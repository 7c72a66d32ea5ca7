//! What a cursor is good for: sent again, with another page size, changed,
//! with other filters, under another key.

use crate::fixture::{List, Walk};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.cursors.of-another-account" ["PR-14"] [OtherAccount] of_another_account,
        "A cursor of another account shows none of that account's prompts" },
    reference! { "pagination.cursors.again" ["PG-06", "PG-09"] ("S-02") again,
        "A cursor that is used again gives the same page, whatever the order of the query parameters, \
         and the limit may change from page to page" },
    reference! { "pagination.cursors.other-key" ["PG-06", "PG-09"] ("S-02") [ReadOnlyKey] other_key,
        "A cursor is good under another key of the same account" },
    reference! { "pagination.cursors.mangled" ["PG-09"] ("S-02") mangled,
        "A cursor that was changed, cut or made up, and one with other filters, is refused with 400, \
         naming cursor" },
    reference! { "pagination.cursors.refused-of-another-account"
        ["PG-09"] ("S-02") [OtherAccount] refused_of_another_account,
        "A cursor of another account is refused with 400, naming cursor" },
];

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

async fn again(case: Case) -> Result {
    let (vault, _) = case.vault_of(5).await?;
    let list = vault.list().with("type", "text").limit(2);
    let first = list.page().await?;
    let second = list.clone().after(&first).page().await?;
    list.clone().after(&second).page().await?;
    for list in [list.clone().after(&first), list.after(&first).reversed()] {
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
    let Some(cursor) = first.next else {
        return Err(first.reply.failure("a next cursor", "null"));
    };
    for changed in mangled_forms(&cursor) {
        let reply = list.clone().with("cursor", &changed).get().await?;
        refused(
            &reply,
            &format!("the cursor {} in place of {}", json_text(&changed), json_text(&cursor)),
        )?;
    }
    other_filters(&case).await
}

/// The cursor with each of its characters changed, cut at each place, longer,
/// and things that never were a cursor.
fn mangled_forms(cursor: &str) -> Vec<String> {
    let others = "abc 1 0 -1 null undefined é 😀 ../.. = AAAA % eyJpZCI6MX0";
    let others = others.split(' ').chain(["\u{0}", " "]).map(str::to_owned);
    let mut forms: Vec<String> = others.collect();
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

async fn other_filters(case: &Case) -> Result {
    let (vault, _) = case.vault_of(3).await?;
    let (all, of_vault, of_another) = (case.list(), vault.list(), case.vault().await?.list());
    let typed = |list: &List, kind: &str| list.clone().with("type", kind);
    let lists = [all.clone(), typed(&all, "text"), of_vault.clone(), typed(&of_vault, "text")];
    let mut others = lists.to_vec();
    others.extend([
        typed(&all, "image"),
        typed(&of_vault, "video"),
        of_another.clone(),
        typed(&of_another, "text"),
    ]);
    for list in &lists {
        let first = list.clone().limit(1).page().await?;
        for other in others.iter().filter(|other| other.path() != list.path()) {
            let reply = other.clone().limit(1).after(&first).get().await?;
            refused(&reply, &format!("a cursor of {} with {}", list.path(), other.path()))?;
        }
    }
    Ok(())
}

async fn refused_of_another_account(case: Case) -> Result {
    let owner = case.other_account();
    owner.vault_of(2).await?;
    let first = owner.list().limit(1).page().await?;
    let reply = case.list().limit(1).after(&first).get().await?;
    refused(&reply, "a cursor of another account")
}

fn refused(reply: &ApiResponse, what: &str) -> Result {
    reply.is_bad_request(what)?.string("/details/cursor").map(drop)
}
