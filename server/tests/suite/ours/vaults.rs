//! Vaults and forks at the points where the specification is silent.

use crate::prelude::*;
use promptarium_conformance::scenarios::core::vault_fork::texts;
use promptarium_conformance::scenarios::core::vault_object::{general, list, shows, unique_word};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "vaults.fork.own" ["S-22", "S-23"] own,
        "One's own public or unlisted vault can be forked; a private one is 400 without details" },
    scenario! { "vaults.fork.fields" ["S-22"] [OtherAccount] fields,
        "A fork has the name and the description of the source" },
    scenario! { "vaults.fork.order" ["S-22"] order,
        "The copies are in the order in which the source's prompts were added, and not pinned" },
    scenario! { "vaults.fork.only-there" ["S-05", "S-22"] only_there,
        "The copies are in the new vault only, and have what no response shows, such as modelId" },
    scenario! { "vaults.fork.dates" ["S-16", "S-22"] dates,
        "A fork and its copies have the date of the fork, and the fork a slug that is free" },
    scenario! { "vaults.object.plain" ["S-13", "S-14", "S-15"] plain,
        "A vault made from a name alone has no description, access type, lock or cover image" },
    scenario! { "vaults.slug.form" ["S-16"] form,
        "A slug is the name in lower-case ASCII letters and digits, joined by single dashes" },
    scenario! { "vaults.slug.unique" ["S-16", "S-17"] unique,
        "Vaults may have the same name; a slug that is taken gets the smallest free number" },
    scenario! { "vaults.slug.follows-rename" ["S-16"] follows_rename,
        "A rename makes a new slug, and an update that leaves the name as it is leaves the slug" },
    scenario! { reads "vaults.general.listed" ["S-18"] listed,
        "The list holds one system vault, named General" },
    scenario! { "vaults.general.fixed" ["S-18"] fixed,
        "The General vault can be neither renamed nor deleted; its description can be changed" },
    scenario! { "vaults.general.holds-prompts" ["S-18"] holds_prompts,
        "Prompts go into the General vault and out of it as in any vault" },
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

/// Added in another order than created; a pin does not change the place of the copy.
async fn order(case: Case) -> Result {
    let (vault, members) = public(&case, 2).await?;
    vault.add_in_turn(case.prompts_in_turn(3).await?.iter().rev()).await?;
    let sources = texts(&vault).await?;
    members[0].pinned().await?;
    let (fork, _) = case.fork_of(&vault).await?;
    let listing = fork.listing().await?;
    let pinned = listing.array("/data")?.iter().any(|copy| copy["isPinned"] != false);
    listing.ensure(!pinned, "no pinned copy", "one that is pinned")?;
    check::equal("the copies as listed", &texts(&fork).await?, &sources)
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

async fn plain(case: Case) -> Result {
    shows(case.clone(), "isLocked", json!(false)).await?;
    for field in ["description", "accessType", "coverImageUrl"] {
        shows(case.clone(), field, Value::Null).await?;
    }
    Ok(())
}

async fn form(case: Case) -> Result {
    let names = [
        ("Harbour Dusk", "harbour-dusk"),
        ("  Harbour -- Dusk!! ", "harbour-dusk"),
        ("Straße Ünï", "strasse-uni"),
        ("a_b.c/d", "a-b-c-d"),
        ("漢字", "han-zi"),
    ];
    for (name, slug) in names {
        let word = unique_word();
        let (_, created) = case.vault_with(json!({ "name": format!("{name} {word}") })).await?;
        created.equals("/data/slug", format!("{slug}-{word}"))?;
    }
    let (_, created) = case.vault_with(json!({ "name": "!?!" })).await?;
    let slug = created.string("/data/slug")?;
    let number = slug.strip_prefix("vault-").and_then(|n| n.parse::<u64>().ok());
    let fits = slug == "vault" || number.is_some_and(|n| n >= 2);
    created.ensure(fits, "the slug vault, or vault with a number if that is taken", slug).map(drop)
}

async fn unique(case: Case) -> Result {
    let word = unique_word();
    let name = json!({ "name": format!("Twin {word}") });
    let mut vaults = Vec::new();
    for number in ["", "-2", "-3"] {
        let (vault, created) = case.vault_with(name.clone()).await?;
        created.equals("/data/slug", format!("twin-{word}{number}"))?;
        vaults.push(vault);
    }
    vaults[1].delete().await?.status(200)?;
    let (_, created) = case.vault_with(name).await?;
    created.equals("/data/slug", format!("twin-{word}-2")).map(drop)
}

async fn follows_rename(case: Case) -> Result {
    let (vault, word) = (case.vault().await?, unique_word());
    let reply = vault.update(json!({ "name": format!("Renamed {word}") })).await?;
    reply.status(200)?.equals("/data/slug", format!("renamed-{word}"))?;
    // The number of a slug shows that none is made anew: the plain form is free again by then.
    let name = json!({ "name": format!("Kept {}", unique_word()) });
    let (first, _) = case.vault_with(name.clone()).await?;
    let (second, created) = case.vault_with(name.clone()).await?;
    first.delete().await?.status(200)?;
    for fields in [name, json!({ "visibility": "public" }), json!({})] {
        second.update(fields.clone()).await?.status(200)?;
        let read = second.read().await?;
        let same = read.equals("/data/slug", created.string("/data/slug")?);
        check::with_context(format!("after {fields}"), same)?;
    }
    Ok(())
}

async fn fixed(case: Case) -> Result {
    let general = general(&case).await?;
    let reply = general.update(json!({ "name": case.name("vault") })).await?;
    reply.is_bad_request("another name of the General vault")?.string("/details/name")?;
    let reply = general.update(json!({ "name": "General" })).await?;
    reply.status(200)?.equals("/data/name", "General")?;
    let reply = general.delete().await?;
    reply.is_bad_request("the deletion of the General vault")?.equals("/details", json!({}))?;
    let before =
        general.read().await?.equals("/data/name", "General")?.at("/data/description")?.clone();
    let description = case.name("note");
    let reply = general.update(json!({ "description": description })).await?;
    let put_back = general.update(json!({ "description": before })).await?;
    reply.status(200)?.equals("/data/description", description)?;
    put_back.status(200)?.equals("/data/description", before).map(drop)
}

async fn holds_prompts(case: Case) -> Result {
    let (general, prompt) = (general(&case).await?, case.prompt().await?);
    let added = general.add([&prompt]).await?;
    added.status(201)?.equals("/data/added", 1)?;
    let member = general.member_of(&prompt).await?;
    member.remove().await?.has_status(200, "a removal from the General vault").map(drop)
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

async fn listed(case: Case) -> Result {
    let vaults = list(&case).await?;
    let entries = vaults.array("/data")?;
    let system = entries.iter().filter(|vault| vault["isSystem"] == true);
    let names: Vec<_> = system.map(|vault| vault["name"].clone()).collect();
    vaults.ensure(names == ["General"], "one system vault, General", json_text(&names)).map(drop)
}
