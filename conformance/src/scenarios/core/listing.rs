//! `GET /vaults/{vaultId}/prompts`: what its entries are, and their order.

use crate::scenarios::core::vault_list::holds_all;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "contents.listing.entries" ["VC-04"] whole_prompts,
        "The listing holds the prompts of this vault and no others, as whole prompt objects" },
    core! { "contents.listing.whole" ["VC-05"] whole,
        "The listing holds the whole vault; a limit makes no page of it: it is ignored or refused" },
    core! { "contents.listing.pinned-here" ["VC-06"] pinned_here,
        "isPinned is about the vault that is listed, not about another" },
    core! { "contents.order.every-way-in" ["VC-09"] |case| by_date(case, every_way_in),
        "The order goes by the date of adding, whichever call added; an update moves no prompt" },
    core! { "contents.order.pinned-first" ["VC-07"] pinned_first,
        "Pinned prompts come before all others" },
    core! { "contents.order.by-pin-date" ["VC-08"] |case| by_date(case, by_pin_date),
        "Pinned prompts are ordered among themselves by the date they were pinned" },
];

async fn whole_prompts(case: Case) -> Result {
    let [vault, second] = case.vaults().await?;
    let fields = json!({
        "vaultId": vault.id,
        "platform": "poster",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    let (prompt, _) = case.prompt_with(fields).await?;
    let others = case.prompts(3).await?;
    vault.add_in_turn(&others[..2]).await?;
    second.add_in_turn([&prompt, &others[2]]).await?;
    vault.expect_prompts_in_any_order([&prompt, &others[0], &others[1]]).await?;
    let alone = prompt.read().await?;
    let listing = vault.listing().await?;
    let entry = listing.entry(prompt.id)?;
    let (entry, alone) = (check::stable_fields(&entry), check::stable_fields(alone.at("/data")?));
    for key in ["id", "title", "prompt", "promptType", "platform", "images", "vaultIds"] {
        let (got, expected) = (&entry[key], &alone[key]);
        listing.ensure(got == expected, format!("{key} of the entry to be {expected}"), got)?;
    }
    Ok(())
}

/// More prompts than the longest page of this API has entries.
async fn whole(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut expected = BTreeSet::new();
    for _ in 0..7 {
        let prompts = case.prompts(15).await?;
        vault.add(&prompts).await?.status(201)?;
        expected.extend(prompts.iter().map(|prompt| prompt.id));
    }
    holds_all(&case, &format!("{}/prompts", vault.path()), &expected).await
}

async fn pinned_here(case: Case) -> Result {
    let (pinned, plain, [member]) = case.source_and_target().await?;
    plain.add_in_turn([&member]).await?;
    member.pinned().await?;
    for (vault, expected) in [(pinned, true), (plain, false)] {
        vault.listing().await?.equals("/data/0/isPinned", expected)?;
    }
    Ok(())
}

/// Neither the order in which five were created nor the reverse of it.
pub(crate) const MIXED: [usize; 5] = [2, 0, 4, 1, 3];

async fn every_way_in(case: Case, pause: Duration) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts_in_turn(5).await?);
    vault.add_in_turn([&prompts[3]]).await?;
    for (n, way) in [(1, Way::Save), (2, Way::Update)] {
        tokio::time::sleep(pause).await;
        vault.put(&prompts[n], way).await?.status(200)?;
    }
    tokio::time::sleep(pause).await;
    let (created, _) = case.prompt_with(json!({ "vaultId": vault.id })).await?;
    tokio::time::sleep(pause).await;
    vault.add_in_turn([&prompts[0]]).await?;
    let expected = [&prompts[0], &created, &prompts[2], &prompts[1], &prompts[3]];
    vault.expect_prompts(expected).await?;
    for prompt in &expected[2..] {
        prompt.update(json!({ "title": case.name("changed") })).await?.status(200)?;
    }
    vault.expect_prompts(expected).await
}

async fn pinned_first(case: Case) -> Result {
    let (vault, members) = case.filled_vault::<5>().await?;
    let pinned = [&members[0], &members[2]];
    for member in pinned {
        member.pinned().await?;
    }
    let listing = vault.listing().await?;
    let listed = listing.integers("/data", "id")?;
    let top: Vec<_> = listed.iter().take(2).collect();
    let on_top = ids(pinned).iter().all(|id| top.contains(&id));
    listing.ensure(on_top, "the two pinned prompts on top", json_text(&listed)).map(drop)
}

/// A vault of five, all of them pinned in the mixed order; the members, the last pinned first.
pub(crate) async fn pinned_in_turn(case: &Case, pause: Duration) -> Result<(Vault, Vec<Member>)> {
    let (vault, members) = case.filled_vault::<5>().await?;
    for n in MIXED {
        tokio::time::sleep(pause).await;
        members[n].pinned().await?;
    }
    Ok((vault, MIXED.iter().rev().map(|n| members[*n].clone()).collect()))
}

/// S-24: core takes either direction.
async fn by_pin_date(case: Case, pause: Duration) -> Result {
    let (vault, latest_first) = pinned_in_turn(&case, pause).await?;
    match vault.expect_prompts(latest_first.iter().rev()).await {
        Ok(()) => Ok(()),
        Err(_) => check::with_context("or the reverse", vault.expect_prompts(&latest_first).await),
    }
}
