//! What the reference server carries over in a fork, and how it refuses one.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "vaults.fork.own" ["VA-29", "VA-30"] ("S-22", "S-23") own,
        "The caller's own public or unlisted vault can be forked; the fork of a private one is refused \
         with 400 and no details" },
    reference! { "vaults.fork.fields" ["VA-29"] ("S-22") [OtherAccount] fields,
        "A fork has the name and the description of the source" },
    reference! { "vaults.fork.order" ["VA-33"] ("S-22") order,
        "The copies are in the order in which the source's prompts were added, and not pinned" },
    reference! { "vaults.fork.only-there" ["VA-33"] ("S-05", "S-22") only_there,
        "The copies are in the new vault only, and have what no response shows, such as modelId" },
    reference! { "vaults.fork.dates" ["VA-04", "VA-11", "VA-33"] ("S-16", "S-22") dates,
        "The dates of a fork and its copies are the moment of the fork, and its slug is one that is free \
         in the caller's account" },
];

/// A public vault of the caller with members, the first added first.
async fn public(case: &Case, prompts: usize) -> Result<(Vault, Vec<Member>)> {
    let (vault, _) = case.vault_with(json!({ "visibility": "public" })).await?;
    let members = vault.fill(prompts).await?;
    Ok((vault, members))
}

async fn own(case: Case) -> Result {
    let refused = case.vault().await?.fork().await?;
    refused.is_bad_request("the fork of one's own private vault")?.equals("/details", json!({}))?;
    let (vault, _) = public(&case, 2).await?;
    for visibility in ["public", "unlisted"] {
        vault.update(json!({ "visibility": visibility })).await?.status(200)?;
        let reply = vault.fork().await?;
        reply.has_status(201, format!("the fork of one's own {visibility} vault"))?;
    }
    Ok(())
}

async fn fields(case: Case) -> Result {
    for description in [json!("Boats, cranes, gulls"), Value::Null] {
        let fields = json!({ "visibility": "public", "description": description });
        let (vault, created) = case.other_account().vault_with(fields).await?;
        let (_, forked) = case.fork_of(&vault).await?;
        for place in ["/data/name", "/data/description", "/data/coverImageUrl"] {
            forked.equals(place, created.at(place)?.clone())?;
        }
    }
    Ok(())
}

/// Titles of a vault's prompts as listed.
async fn titles(vault: &Vault) -> Result<Vec<Value>> {
    let prompts = vault.listing().await?.array("/data")?;
    Ok(prompts.iter().map(|prompt| prompt["title"].clone()).collect())
}

/// The prompts are added in another order than they were created. A pinned prompt is copied to the
/// place its adding gave it.
async fn order(case: Case) -> Result {
    let (vault, members) = public(&case, 2).await?;
    vault.add_in_turn(case.prompts_in_turn(3).await?.iter().rev()).await?;
    let sources = titles(&vault).await?;
    members[0].pinned().await?;
    let (fork, _) = case.fork_of(&vault).await?;
    let listing = fork.listing().await?;
    let pinned = listing.array("/data")?.iter().any(|copy| copy["isPinned"] != false);
    listing.ensure(!pinned, "no pinned copy", "one that is pinned")?;
    check::equal("the titles of the copies as listed", &titles(&fork).await?, &sources)
}

/// A text prompt may become an image only if it has a model.
async fn only_there(case: Case) -> Result {
    let (vault, _) = public(&case, 1).await?;
    let model = json!({ "modelId": case.image_model(), "vaultId": vault.id });
    case.vault().await?.add_in_turn([&case.prompt_with(model).await?.0]).await?;
    let (fork, _) = case.fork_of(&vault).await?;
    let mut images = 0;
    for copy in fork.members().await? {
        copy.prompt.read().await?.equals("/data/vaultIds", json!([fork.id]))?;
        let reply = copy.prompt.update(json!({ "promptType": "image" })).await?;
        images += usize::from(reply.status_code() == 200);
    }
    check::equal("the copies whose source has a modelId", &images, &1)
}

async fn dates(case: Case) -> Result {
    let (vault, members) = public(&case, 2).await?;
    let before = members[1].prompt.read().await?.timestamp("/data/createdAt")?;
    let (fork, forked) = case.fork_of(&vault).await?;
    let moment = forked.timestamp("/data/createdAt")?;
    forked.ensure(moment > before, format!("a createdAt after {before}"), moment)?;
    let same = |reply: &ApiResponse, place: &str| {
        let date = reply.timestamp(place)?;
        reply.ensure(date == moment, format!("{place} to be {moment}"), date).map(drop)
    };
    same(&forked, "/data/updatedAt")?;
    let listing = fork.listing().await?;
    for n in 0..listing.array("/data")?.len() {
        same(&listing, &format!("/data/{n}/createdAt"))?;
        same(&listing, &format!("/data/{n}/updatedAt"))?;
    }
    let source = vault.read().await?;
    let slug = source.string("/data/slug")?;
    // The first fork has the number 2.
    for number in [3, 4] {
        let (_, forked) = case.fork_of(&vault).await?;
        forked.equals("/data/slug", format!("{slug}-{number}"))?;
    }
    Ok(())
}
