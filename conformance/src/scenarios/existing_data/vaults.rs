//! Existing vaults, and what is in them.

use super::{Type, create_data, have_members, present, same_at_its_own_address, shaped, stable};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "existing-data.vaults.shape"
        ["VA-01", "VA-02", "VA-03", "VA-04", "VA-05", "VA-06", "VA-07", "VA-08", "VA-09", "VA-10",
        "VA-11"]
        |case| have_members(case, "/vaults", VAULT),
        "Existing vaults have every member of a vault object, of its type" },
    core! { "existing-data.vaults.order" ["VA-14"] order,
        "The list of vaults is ordered by createdAt, newest first" },
    core! { "existing-data.vaults.item" ["VA-13", "VA-21"]
        |case| same_at_its_own_address(case, "/vaults", &["id", "name", "slug", "visibility", "isSystem", "createdAt"]),
        "A listed vault is at its own address, with the same id, name and slug" },
    core! { "existing-data.vaults.count" ["VA-10", "VC-04"] count,
        "A vault's promptCount is the number of prompts that it lists" },
    core! { "existing-data.vaults.contents" ["VC-04", "VC-06", "VC-07"] contents,
        "Entries of a vault have a membership, say whether they are pinned, and pins come first" },
];

const VAULT: &[(&str, Type)] = &[
    ("id", Type::Integer),
    ("name", Type::Text),
    ("description", Type::TextOrNull),
    ("slug", Type::Text),
    ("visibility", Type::OneOf(&["private", "unlisted", "public"])),
    ("accessType", Type::TextOrNull),
    ("isLocked", Type::Boolean),
    ("coverImageUrl", Type::TextOrNull),
    ("isSystem", Type::Boolean),
    ("promptCount", Type::Integer),
    ("createdAt", Type::Timestamp),
    ("updatedAt", Type::Timestamp),
];

const MEMBERSHIP: &[(&str, Type)] =
    &[("id", Type::Integer), ("vaultPromptId", Type::Integer), ("isPinned", Type::Boolean)];

async fn order(case: Case) -> Result {
    let wire = case.wire();
    create_data(&case).await?;
    let reply = wire.get("/vaults").await?;
    let vaults = reply.status(200)?.array("/data")?;
    let dates: Vec<_> =
        vaults.iter().map(|vault| vault["createdAt"].as_str().and_then(check::timestamp)).collect();
    let descend = dates.is_sorted_by(|a, b| a >= b) && !dates.contains(&None);
    let first_wrong = dates.windows(2).find(|pair| pair[0] < pair[1]);
    reply.ensure(descend, "descending createdAt", format!("{first_wrong:?}")).map(drop)
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
            shaped(&listing, &entries, MEMBERSHIP)?;
            let pinned: Vec<_> = entries.iter().map(|entry| entry["isPinned"] == true).collect();
            let sorted = pinned.is_sorted_by_key(|pinned| !pinned);
            let got = format!("isPinned {pinned:?}");
            listing.ensure(sorted, "pinned prompts before all others", got)?;
            seen += entries.len();
        }
        if seen == 0 {
            return Err(Failure::blocked("none of the vaults holds a prompt to look at"));
        }
        Ok(())
    })
    .await
}
