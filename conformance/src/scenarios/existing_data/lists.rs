//! Existing prompts and vaults, and what is in the vaults.

use std::collections::HashSet;

use super::{create_data, have_members, present, same_at_its_own_address, shaped, some, stable};
use crate::scenarios::answers::shapes::{MEMBER, PROMPT, VAULT};
use crate::scenarios::prelude::*;

/// As many pages as are read to see the end of a list.
const PAGES_MAX: usize = 300;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { reads "existing-data.prompts.shape"
        ["PR-01", "PR-02", "PR-03", "PR-04", "PR-05", "PR-06", "PR-07", "PR-08", "PR-09"]
        |case| have_members(case, "/prompts", PROMPT),
        "Existing prompts have every member of a prompt object, of its type" },
    core! { reads "existing-data.prompts.item" ["PR-13", "PR-30"]
        |case| same_at_its_own_address(case, "/prompts", &["id", "title", "prompt", "promptType", "createdAt"]),
        "A listed prompt is at its own address, with the same id, title and text" },
    core! { reads "existing-data.prompts.filters" ["PR-15", "PR-16"] filters,
        "A list with a filter holds prompts of that type or that vault only" },
    core! { reads "existing-data.prompts.pages" ["PG-03", "PG-06", "PG-07"] pages,
        "Pages of two go on where the one before stopped, and no entry comes twice" },
    core! { reads "existing-data.prompts.end" ["PG-01", "PG-08"] end,
        "A list that ends has null for its last cursor" },
    core! { reads "existing-data.vaults.shape"
        ["VA-01", "VA-02", "VA-03", "VA-04", "VA-05", "VA-06", "VA-07", "VA-08", "VA-09", "VA-10",
        "VA-11"]
        |case| have_members(case, "/vaults", VAULT),
        "Existing vaults have every member of a vault object, of its type" },
    core! { reads "existing-data.vaults.order" ["VA-14"] order,
        "The list of vaults is ordered by createdAt, newest first" },
    core! { reads "existing-data.vaults.item" ["VA-13", "VA-21"]
        |case| same_at_its_own_address(case, "/vaults", &["id", "name", "slug", "visibility", "isSystem", "createdAt"]),
        "A listed vault is at its own address, with the same id, name and slug" },
    core! { reads "existing-data.vaults.count" ["VA-10", "VC-04"] count,
        "A vault's promptCount is the number of prompts that it lists" },
    core! { reads "existing-data.vaults.contents" ["VC-04", "VC-06", "VC-07"] contents,
        "Entries of a vault have a membership, say whether they are pinned, and pins come first" },
];

async fn filters(case: Case) -> Result {
    let wire = case.wire();
    let own = create_data(&case).await?;
    if own.is_some() {
        // One that the filter by vault has to leave out.
        case.prompt().await?;
    }
    stable(&case, || async {
        let (_, entries) = present(&wire, "/prompts?limit=100").await?;
        for kind in ["image", "text", "video"] {
            let (reply, found) = some(&wire, &format!("/prompts?type={kind}")).await?;
            let types: HashSet<_> =
                found.iter().map(|entry| entry["promptType"].as_str()).collect();
            let right = types.iter().all(|one| *one == Some(kind));
            let got = format!("the types {}", json_text(&types));
            reply.ensure(right, format!("prompts of the type {kind} only"), got)?;
        }
        let found = entries.iter().find_map(|entry| entry["vaultIds"][0].as_i64());
        let Some(vault) = own.as_ref().map(|vault| vault.id).or(found) else { return Ok(()) };
        let (reply, found) = some(&wire, &format!("/prompts?vaultId={vault}")).await?;
        let inside = |vaults: &serde_json::Value| {
            vaults.as_array().is_some_and(|ids| ids.iter().any(|id| *id == vault))
        };
        let all = !found.is_empty() && found.iter().all(|entry| inside(&entry["vaultIds"]));
        let vaults: Vec<_> = found.iter().map(|entry| &entry["vaultIds"]).collect();
        let got = format!("vaultIds {}", json_text(&vaults));
        reply.ensure(all, format!("prompts of the vault {vault} only"), got).map(drop)
    })
    .await
}

async fn pages(case: Case) -> Result {
    create_data(&case).await?;
    let list = case.list().limit(2);
    stable(&case, || async {
        let first = list.page().await?;
        let count = first.ids.len();
        first.reply.ensure(count <= 2, "at most two entries", count)?;
        if first.next.is_none() {
            return Err(Failure::skipped("the list of prompts is too short for two pages"));
        }
        let second = list.clone().after(&first).page().await?;
        let ids: Vec<_> = first.ids.iter().chain(&second.ids).copied().collect();
        let once = ids.iter().collect::<HashSet<_>>().len() == ids.len();
        second.reply.ensure(
            once && second.ids.len() <= 2,
            "at most two entries a page, none twice",
            json_text(&ids),
        )?;
        Ok(())
    })
    .await
}

async fn end(case: Case) -> Result {
    create_data(&case).await?;
    let list = case.list().limit(100);
    stable(&case, || async {
        let mut last = list.page().await?;
        for _ in 1..PAGES_MAX {
            let Some(cursor) = last.next.clone() else { return Ok(()) };
            last = list.clone().after(&last).page().await?;
            let other = last.next.as_ref() != Some(&cursor);
            check::ensure(other, "another cursor on the next page", format!("{cursor} again"))?;
        }
        match last.next {
            None => Ok(()),
            Some(_) => Err(Failure::skipped(format!(
                "the list of prompts has more than {PAGES_MAX} pages of 100, so its end was not seen"
            ))),
        }
    })
    .await
}

async fn order(case: Case) -> Result {
    let wire = case.wire();
    create_data(&case).await?;
    let reply = wire.get("/vaults").await?;
    let vaults = reply.status(200)?.array("/data")?;
    let dates: Vec<_> =
        vaults.iter().map(|vault| vault["createdAt"].as_str().and_then(check::timestamp)).collect();
    let descend = dates.is_sorted_by(|a, b| a >= b) && !dates.contains(&None);
    let first_wrong = dates.windows(2).find(|pair| pair[0] < pair[1]);
    reply.ensure(descend, "descending createdAt", json_text(&first_wrong)).map(drop)
}

async fn count(case: Case) -> Result {
    let wire = &case.wire();
    create_data(&case).await?;
    for vault in present(wire, "/vaults").await?.1 {
        let path = &format!("/vaults/{}", vault["id"]);
        stable(&case, || async move {
            let before = wire.get(path).await?;
            let listing = wire.get(&format!("{path}/prompts")).await?;
            let after = wire.get(path).await?;
            // Deleted, or changed by somebody else, between two of the answers.
            let unchanged = [&before, &listing, &after].iter().all(|one| one.status_code() == 200)
                && before.integer("/data/promptCount")? == after.integer("/data/promptCount")?;
            if !unchanged {
                return Ok(());
            }
            let (count, listed) = (before.integer("/data/promptCount")?, listing.array("/data")?);
            let same = usize::try_from(count).is_ok_and(|count| count == listed.len());
            listing.ensure(same, format!("{count} entries, as promptCount says"), listed.len())?;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

async fn contents(case: Case) -> Result {
    let wire = case.wire();
    let own = create_data(&case).await?;
    if let Some(vault) = &own
        && let Some(last) = vault.members().await?.last()
    {
        // It then has to be on top.
        last.pinned().await?;
    }
    let own = own.map(|vault| vault.id);
    stable(&case, || async {
        let mut seen = 0;
        let found = present(&wire, "/vaults").await?.1;
        for vault in found.iter().filter_map(|vault| vault["id"].as_i64()).chain(own) {
            let path = format!("/vaults/{vault}/prompts");
            let listing = wire.get(&path).await?;
            if listing.status_code() == 404 {
                continue;
            }
            let entries = listing.status(200)?.array("/data")?;
            shaped(&listing, &entries, MEMBER)?;
            let pinned: Vec<_> = entries.iter().map(|entry| entry["isPinned"] == true).collect();
            let sorted = pinned.is_sorted_by_key(|pinned| !pinned);
            let got = format!("isPinned {}", json_text(&pinned));
            listing.ensure(sorted, "pinned prompts before all others", got)?;
            seen += entries.len();
        }
        if seen == 0 {
            return Err(Failure::skipped("none of the vaults holds a prompt to look at"));
        }
        Ok(())
    })
    .await
}
