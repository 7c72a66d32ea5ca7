//! `GET /prompts`: its pages and `limit`, its filters `vaultId` and `type`, and what it lists. Cursors
//! that are used again or elsewhere are in `cursors`.

use super::prompt_create::typed;
use crate::fixture::Page;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "pagination.pages.next-cursor" ["PG-01", "EN-07"] next_cursor,
        "Every page carries pagination.nextCursor, a string or null" },
    scenario! { "pagination.pages.beginning" ["PG-05"] beginning,
        "Without cursor the list starts at its beginning, also in the middle of a walk" },
    scenario! { "pagination.pages.each-once" ["PG-03", "PG-06", "PG-07", "PG-08", "PG-09", "PR-15"]
        |case| page_sizes(case, 14, &[
            (Some(1), &[1; 14]), (Some(2), &[2; 7]), (Some(3), &[3, 3, 3, 3, 2]), (Some(7), &[7, 7]),
            (Some(100), &[14]),
        ]),
        "Pages of any limit are full but the last, hold each entry once, and the last cursor is null" },
    scenario! { "pagination.pages.each-once-by-type" ["PG-06", "PR-16"] each_once_by_type,
        "Pages with vaultId and type keep both filters and hold each entry exactly once" },
    scenario! { "pagination.pages.while-changing" ["PG-06", "PG-09"] while_changing,
        "Entries that stay are on some page, whatever is made, changed and deleted between pages" },
    scenario! { "pagination.limit.default" ["PG-02", "PG-06"]
        |case| page_sizes(case, 45, &[(None, &[20, 20, 5])]),
        "Without limit every page but the last holds 20 entries" },
    scenario! { "pagination.limit.size" ["PG-03", "PG-08"] full_pages,
        "Every page but the last holds as many entries as limit says, also among all prompts" },
    scenario! { "pagination.limit.hundred" ["PG-03", "PG-06"]
        |case| page_sizes(case, 101, &[(Some(100), &[100, 1])]),
        "With limit 100 the first page holds 100 of 101 entries, and the second one the last" },
    scenario! { "pagination.cursors.of-another-account" ["PR-14"] [OtherAccount] of_another_account,
        "A cursor of another account shows none of that account's prompts" },
    scenario! { "prompts.list.holds-own" ["PR-13", "PR-14"] holds_own,
        "The list without filters holds every prompt of the caller, in a vault or not" },
    scenario! { "prompts.list.vault" ["PR-15", "PG-08"] vault,
        "With vaultId the list holds exactly the prompts of that vault, also after changes" },
    scenario! { "prompts.list.type" ["PR-16"] kind,
        "With type every page holds prompts of that type and no other" },
    scenario! { "prompts.list.type-and-vault" ["PR-15", "PR-16"] type_and_vault,
        "With type and vaultId the list holds exactly the prompts that match both" },
    scenario! { "prompts.list.type-follows-changes" ["PR-16"] type_follows_changes,
        "A prompt that changes its type changes the lists with type" },
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
    check::equal("the page without a cursor", &again.ids, &first.ids)?;
    // A cursor may be good for its own limit only (S-02).
    let one = vault.list().limit(1).after(&first).get().await?;
    let Some(one) = one.unless_refused("a cursor with another limit")? else { return Ok(()) };
    let count = one.status(200)?.array("/data")?.len();
    one.ensure(count == 1, "one entry with limit 1", count).map(drop)
}

/// Before each page that follows an entry is made, and one that was not shown yet is changed or
/// deleted: whichever way a list is cut into pages, no other entry is lost by that. Where one that
/// was shown is deleted, some ways lose an entry, and the list goes on all the same.
async fn while_changing(case: Case) -> Result {
    let (vault, prompts) = case.vault_of(12).await?;
    let list = vault.list().limit(3);
    let mut walk = Walk::from(list.page().await?);
    let mut touched = Vec::new();
    while walk.last().next.is_some() {
        vault.fill(1).await?;
        let seen = walk.ids();
        let is_new = |one: &&Prompt| !seen.contains(&one.id) && !touched.contains(&one.id);
        if let Some(unseen) = prompts.iter().find(is_new).filter(|_| touched.len() < 3) {
            let changed = json!({ "title": case.name("changed") });
            match touched.len() {
                1 => unseen.delete().await?.success()?,
                _ => unseen.update(changed).await?.success()?,
            };
            touched.push(unseen.id);
        }
        walk.advance(&list).await?;
    }
    let (seen, mut lost) = (walk.ids(), ids(&prompts));
    lost.retain(|id| !touched.contains(id) && !seen.contains(id));
    walk.last().reply.ensure(lost.is_empty(), "every entry that stays", json_text(&lost))?;
    // The second one was deleted.
    walk.expect_none(touched.get(1))?;
    let mut walk = Walk::from(list.page().await?);
    while walk.last().next.is_some() {
        let shown = *walk.last().ids.last().unwrap_or(&0);
        case.prompt_at(shown).delete().await?.success()?;
        walk.advance(&list).await?;
    }
    check::distinct("entries of all pages", walk.ids())
}

async fn each_once_by_type(case: Case) -> Result {
    // So many that they are not all before the images, in an order by chance.
    let (vault, texts) = case.vault_of(8).await?;
    let (mut texts, mut images) = (ids(texts), Vec::new());
    for _ in 0..4 {
        images.push(prompt_of(&case, "image").await?);
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

/// The sizes of the pages of a vault with this number of entries, each once, for each limit.
async fn page_sizes(case: Case, entries: usize, expected: &[(Option<usize>, &[usize])]) -> Result {
    let (vault, prompts) = case.vault_of(entries).await?;
    // The filter has to leave it out, on every page.
    case.prompt().await?;
    for (limit, expected) in expected {
        let list = limit.iter().fold(vault.list(), |list, limit| list.limit(*limit));
        let walk = list.walk().await?;
        walk.expect_exactly(&prompts)?;
        let sizes: Vec<_> = walk.pages.iter().map(|page| page.ids.len()).collect();
        check::equal(&format!("the page sizes of {}", list.path()), &sizes[..], expected)?;
    }
    Ok(())
}

/// In the list of all prompts, which others change meanwhile.
async fn full_pages(case: Case) -> Result {
    case.prompts(7).await?;
    let list = case.list().limit(3);
    let mut walk = Walk::from(list.page().await?);
    for _ in 0..6 {
        let Page { ids, next, reply } = walk.last();
        let full = next.is_none() || ids.len() == 3;
        reply.ensure(full, "3 entries before another page", ids.len())?;
        if !walk.advance(&list).await? {
            break;
        }
    }
    Ok(())
}

async fn of_another_account(case: Case) -> Result {
    case.vault_of(2).await?;
    let owner = case.other_account();
    let (_, theirs) = owner.vault_of(3).await?;
    let first = owner.list().limit(1).page().await?;
    let reply = case.list().limit(100).after(&first).get().await?;
    let Some(reply) = reply.unless_refused("a cursor of another account")? else { return Ok(()) };
    let ids = reply.status(200)?.integers("/data", "id")?;
    let shown = theirs.iter().map(|prompt| prompt.id).chain(first.ids).any(|id| ids.contains(&id));
    reply.ensure(!shown, "no prompt of another account", json_text(&ids)).map(drop)
}

const TYPES: [&str; 3] = ["image", "text", "video"];

pub async fn prompt_of(case: &Case, kind: &str) -> Result<Prompt> {
    Ok(case.prompt_with(typed(case, kind)).await?.0)
}

async fn holds_own(case: Case) -> Result {
    let (_, mut prompts) = case.vault_of(2).await?;
    for kind in TYPES {
        prompts.push(prompt_of(&case, kind).await?);
    }
    case.list().find(&case, &prompts).await
}

async fn vault(case: Case) -> Result {
    let (first, inside) = case.vault_of(3).await?;
    let (second, outside) = case.vault_of(2).await?;
    let empty = case.vault().await?;
    case.prompt().await?;
    first.list().walk().await?.expect_exactly(&inside)?;
    second.list().walk().await?.expect_exactly(&outside)?;
    empty.list().walk().await?.expect_exactly([0; 0])?;
    let (vault, [removed, kept]) = case.filled_vault().await?;
    let late = case.prompt().await?;
    vault.add([&late]).await?.status(201)?;
    removed.remove().await?.status(200)?;
    kept.pinned().await?;
    vault.list().walk().await?.expect_exactly([&kept.prompt, &late])
}

async fn kind(case: Case) -> Result {
    for kind in TYPES {
        let (list, prompt) = (case.list().with("type", kind), prompt_of(&case, kind).await?);
        prompt_of(&case, kind).await?;
        list.find(&case, [&prompt]).await?;
        let list = list.limit(1);
        let first = list.page().await?;
        let second = list.clone().after(&first).page().await?;
        for Page { reply, .. } in [&first, &second] {
            for shown in reply.array("/data")?.iter().map(|entry| &entry["promptType"]) {
                let expected = format!("only {kind} prompts with type={kind}");
                reply.ensure(*shown == kind, expected, shown)?;
            }
        }
    }
    Ok(())
}

async fn type_and_vault(case: Case) -> Result {
    let [vault, other] = case.vaults().await?;
    let mut all = Vec::new();
    for kind in TYPES {
        let some = (0..4).map(|_| prompt_of(&case, kind));
        let some = try_join_all(some).await?;
        vault.add(&some[..2]).await?.status(201)?;
        other.add([&some[2]]).await?.status(201)?;
        vault.list().with("type", kind).walk().await?.expect_exactly(&some[..2])?;
        other.list().with("type", kind).walk().await?.expect_exactly([&some[2]])?;
        all.push((kind, some));
    }
    for (kind, some) in all {
        vault.list().with("type", kind).limit(1).walk().await?.expect_exactly(&some[..2])?;
    }
    Ok(())
}

async fn type_follows_changes(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, prompt_of(&case, "text").await?);
    vault.add([&prompt]).await?.status(201)?;
    for now in ["image", "video", "text"] {
        prompt.update(typed(&case, now)).await?.success()?;
        for kind in TYPES {
            let expected = (kind == now).then_some(&prompt);
            vault.list().with("type", kind).walk().await?.expect_exactly(expected)?;
        }
    }
    Ok(())
}
