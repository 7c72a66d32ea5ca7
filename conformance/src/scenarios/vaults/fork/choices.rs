//! What the reference server carries over in a fork, and how it refuses one.

use serde_json::{Value, json};

use super::{fork, read};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "vaults.fork.own" ["VA-29"] own,
        "The caller's own public or unlisted vault can be forked" },
    reference! { "vaults.fork.fields" ["VA-29"] [OtherAccount] fields,
        "A fork has the name and the description of the source" },
    reference! { "vaults.fork.slug" ["VA-04"] slug,
        "A fork has a slug that is free in the caller's account" },
    reference! { "vaults.fork.order" ["VA-33"] order,
        "The copies are in the order in which the source's prompts were added" },
    reference! { "vaults.fork.no-pins" ["VA-33"] no_pins,
        "Pins are not copied" },
    reference! { "vaults.fork.only-there" ["VA-33"] only_there,
        "The copies are in the new vault only" },
    reference! { "vaults.fork.hidden-fields" ["VA-33"] hidden_fields,
        "A fork copies what no response shows, such as modelId" },
    reference! { "vaults.fork.dates" ["VA-11", "VA-33"] dates,
        "The dates of a fork and its copies are the moment of the fork" },
    reference! { "vaults.fork.own-private-400" ["VA-30"] own_private,
        "The fork of one's own private vault is refused with 400 and no details" },
];

/// A public vault of the caller with so many prompts, the first added first.
async fn public(case: &Case, prompts: usize) -> Result<(i64, Vec<make::Member>), Failure> {
    let made = make::vault_with(case, &case.wire(), json!({ "visibility": "public" })).await?;
    let vault = made.integer("/data/id")?;
    let members = make::members(case, &case.wire(), vault, prompts).await?;
    Ok((vault, members))
}

/// S-22.
async fn own(case: Case) -> Result<(), Failure> {
    let (vault, _) = public(&case, 2).await?;
    for visibility in ["public", "unlisted"] {
        let body = json!({ "visibility": visibility });
        case.wire().patch(&format!("/vaults/{vault}"), body).await?.status(200)?;
        let reply = case.wire().post_empty(&format!("/vaults/{vault}/fork")).await?;
        reply.accepted(201, format!("the fork of one's own {visibility} vault"))?;
    }
    Ok(())
}

/// S-22.
async fn fields(case: Case) -> Result<(), Failure> {
    for description in [json!("Boats, cranes, gulls"), Value::Null] {
        let fields = json!({ "visibility": "public", "description": description });
        let made = make::vault_with(&case, &case.other(), fields).await?;
        let forked = fork(&case.wire(), made.integer("/data/id")?).await?;
        for field in ["name", "description", "coverImageUrl"] {
            let place = format!("/data/{field}");
            forked.equals(&place, made.at(&place)?.clone())?;
        }
    }
    Ok(())
}

/// S-16 and S-22.
async fn slug(case: Case) -> Result<(), Failure> {
    let (vault, _) = public(&case, 0).await?;
    let source = read(&case.wire(), vault).await?;
    let slug = source.string("/data/slug")?;
    for number in [2, 3] {
        fork(&case.wire(), vault).await?.equals("/data/slug", format!("{slug}-{number}"))?;
    }
    Ok(())
}

/// Titles of a vault's prompts as listed.
async fn titles(case: &Case, vault: i64) -> Result<Vec<Value>, Failure> {
    let reply = case.wire().get(&format!("/vaults/{vault}/prompts")).await?;
    let prompts = reply.status(200)?.array("/data")?;
    Ok(prompts.iter().map(|prompt| prompt["title"].clone()).collect())
}

/// S-22. The prompts are added in another order than they were made.
async fn order(case: Case) -> Result<(), Failure> {
    let (vault, _) = public(&case, 2).await?;
    let mut more = Vec::new();
    for _ in 0..3 {
        more.push(make::prompt(&case, &case.wire()).await?);
    }
    more.reverse();
    make::fill(&case.wire(), vault, &more).await?;
    let forked = fork(&case.wire(), vault).await?.integer("/data/id")?;
    let (copies, sources) = (titles(&case, forked).await?, titles(&case, vault).await?);
    check::equal("the titles of the copies as listed", &copies, &sources)
}

/// S-22. A pinned prompt is copied to the place its adding gave it.
async fn no_pins(case: Case) -> Result<(), Failure> {
    let (vault, members) = public(&case, 3).await?;
    let sources = titles(&case, vault).await?;
    let pin = format!("/vaults/{vault}/prompts/{}/pin", members[0].membership);
    case.wire().post_empty(&pin).await?.status(200)?;
    let forked = fork(&case.wire(), vault).await?.integer("/data/id")?;
    let listing = case.wire().get(&format!("/vaults/{forked}/prompts")).await?;
    let pinned = listing.array("/data")?.iter().any(|copy| copy["isPinned"] != false);
    listing.ensure(!pinned, "no pinned copy", "one that is pinned")?;
    let copies = titles(&case, forked).await?;
    check::equal("the titles of the copies as listed", &copies, &sources)
}

/// S-22.
async fn only_there(case: Case) -> Result<(), Failure> {
    let (vault, members) = public(&case, 2).await?;
    let second = make::vault(&case, &case.wire()).await?;
    make::fill(&case.wire(), second, &[members[0].prompt]).await?;
    let forked = fork(&case.wire(), vault).await?.integer("/data/id")?;
    for copy in make::contents(&case.wire(), forked).await? {
        let vaults = make::vaults_of(&case.wire(), copy.prompt).await?;
        check::equal("vaultIds of a copy", &vaults, &vec![forked])?;
    }
    Ok(())
}

/// S-05 and S-22. A text prompt may become an image only if it has a model.
async fn hidden_fields(case: Case) -> Result<(), Failure> {
    let (vault, _) = public(&case, 0).await?;
    let fields = json!({ "modelId": case.image_model(), "vaultId": vault });
    make::prompt_with(&case, &case.wire(), fields).await?;
    let forked = fork(&case.wire(), vault).await?.integer("/data/id")?;
    for copy in make::contents(&case.wire(), forked).await? {
        let body = json!({ "promptType": "image" });
        let reply = case.wire().patch(&format!("/prompts/{}", copy.prompt), body).await?;
        reply.accepted(200, "promptType image for a copy whose source has a modelId")?;
    }
    Ok(())
}

/// S-22.
async fn dates(case: Case) -> Result<(), Failure> {
    let (vault, members) = public(&case, 2).await?;
    let newest = case.wire().get(&format!("/prompts/{}", members[1].prompt)).await?;
    let before = newest.status(200)?.timestamp("/data/createdAt")?;
    let forked = fork(&case.wire(), vault).await?;
    let moment = forked.timestamp("/data/createdAt")?;
    forked.ensure(moment > before, format!("a createdAt after {before}"), moment)?;
    check::equal("updatedAt of the fork", &forked.timestamp("/data/updatedAt")?, &moment)?;
    let forked = forked.integer("/data/id")?;
    let listing = case.wire().get(&format!("/vaults/{forked}/prompts")).await?;
    for n in 0..listing.array("/data")?.len() {
        for date in ["createdAt", "updatedAt"] {
            let copied = listing.timestamp(&format!("/data/{n}/{date}"))?;
            check::equal(&format!("{date} of a copy"), &copied, &moment)?;
        }
    }
    Ok(())
}

/// S-23.
async fn own_private(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let reply = case.wire().post_empty(&format!("/vaults/{vault}/fork")).await?;
    reply.refused("the fork of one's own private vault")?.equals("/details", json!({}))?;
    Ok(())
}
