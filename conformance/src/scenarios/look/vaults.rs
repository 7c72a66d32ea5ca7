//! Vaults that are there already, and what is in them.

use super::{Type, furnish, look, present, same_at_its_own_address, shaped};
use crate::scenario::core;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "look.vaults.shape"
        ["VA-01", "VA-02", "VA-03", "VA-04", "VA-05", "VA-06", "VA-07", "VA-08", "VA-09", "VA-10",
        "VA-11"] shape,
        "Vaults that are there have every member of a vault object, of its type" },
    core! { "look.vaults.order" ["VA-14"] order,
        "The list of vaults is ordered by createdAt, newest first" },
    core! { "look.vaults.item" ["VA-13", "VA-21"] item,
        "A vault that is in the list is at its own address, with the same id, name and slug" },
    core! { "look.vaults.count" ["VA-10", "VC-04"] count,
        "A vault's promptCount is the number of prompts that it lists" },
    core! { "look.vaults.contents" ["VC-04", "VC-06", "VC-07"] contents,
        "Entries of a vault have a membership, say whether they are pinned, and pins come first" },
];

async fn shape(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    furnish(&case, &wire).await?;
    look(&case, || async {
        let (reply, entries) = present(&wire, "/vaults").await?;
        let members = [
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
            ("createdAt", Type::Moment),
            ("updatedAt", Type::Moment),
        ];
        shaped(&reply, &entries, &members)
    })
    .await
}

async fn order(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    furnish(&case, &wire).await?;
    let reply = wire.get("/vaults").await?;
    let vaults = reply.status(200)?.array("/data")?;
    let dates: Option<Vec<_>> =
        vaults.iter().map(|vault| check::timestamp(vault["createdAt"].as_str()?)).collect();
    let descend = dates.is_some_and(|dates| dates.is_sorted_by(|a, b| a >= b));
    reply.ensure(descend, "descending createdAt", "another order").map(drop)
}

async fn item(case: Case) -> Result<(), Failure> {
    let members = ["id", "name", "slug", "visibility", "isSystem", "createdAt"];
    same_at_its_own_address(&case, "/vaults", &members).await
}

async fn count(case: Case) -> Result<(), Failure> {
    let wire = &case.wire();
    furnish(&case, wire).await?;
    for vault in present(wire, "/vaults").await?.1 {
        let path = &format!("/vaults/{}", vault["id"]);
        look(&case, || async move {
            let before = wire.get(path).await?;
            let listing = wire.get(&format!("{path}/prompts")).await?;
            let after = wire.get(path).await?;
            // Deleted, or changed by somebody else, between two of the answers.
            let steady = [&before, &listing, &after].iter().all(|one| one.status_code() == 200)
                && before.integer("/data/promptCount")? == after.integer("/data/promptCount")?;
            if !steady {
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

/// Pins the prompt at the bottom, which then has to be on top.
async fn pin_the_last(wire: &Wire, vault: i64) -> Result<(), Failure> {
    if let Some(member) = make::contents(wire, vault).await?.last() {
        let path = format!("/vaults/{vault}/prompts/{}/pin", member.membership);
        wire.post_empty(&path).await?.status(200)?;
    }
    Ok(())
}

async fn contents(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let own = furnish(&case, &wire).await?;
    if let Some(vault) = own {
        pin_the_last(&wire, vault).await?;
    }
    look(&case, || async {
        let mut seen = 0;
        let found = present(&wire, "/vaults").await?.1;
        for vault in found.iter().filter_map(|vault| vault["id"].as_i64()).chain(own) {
            let path = format!("/vaults/{vault}/prompts");
            let listing = wire.get(&path).await?;
            if listing.status_code() == 404 {
                continue;
            }
            let entries = listing.status(200)?.array("/data")?;
            let members = [
                ("id", Type::Integer),
                ("vaultPromptId", Type::Integer),
                ("isPinned", Type::Boolean),
            ];
            shaped(&listing, &entries, &members)?;
            let sorted = entries.is_sorted_by_key(|entry| entry["isPinned"] == false);
            listing.ensure(sorted, "pinned prompts before all others", "one behind another")?;
            seen += entries.len();
        }
        if seen == 0 {
            return Err(Failure::blocked("none of the vaults holds a prompt to look at"));
        }
        Ok(())
    })
    .await
}
