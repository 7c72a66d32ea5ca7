//! `GET /vaults/{vaultId}/prompts`: what its entries are. Their order is in
//! `order`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.listing.entries" ["VC-04"] whole_prompts,
        "Each entry of a vault's listing is the whole prompt object" },
    core! { "contents.listing.added-fields" ["VC-04"] added_fields,
        "Each entry has vaultPromptId, an integer, and isPinned, a boolean" },
    core! { "contents.listing.empty" ["VC-04"] empty,
        "The listing of an empty vault is an empty array" },
    core! { "contents.listing.only-its-own" ["VC-04"] only_its_own,
        "The listing holds the prompts of this vault and no others" },
    core! { "contents.listing.whole" ["VC-05"] whole,
        "The listing holds the whole vault without a query" },
    core! { "contents.listing.pinned-here" ["VC-06"] pinned_here,
        "isPinned is about the vault that is listed, not about another" },
    reference! { "contents.listing.ignores-queries" ["VC-05"] ignores_queries,
        "The listing takes no notice of a query" },
    reference! { "contents.listing.no-pagination-key" ["VC-05"] no_pagination_key,
        "The answer has no key but data and error" },
];

async fn whole_prompts(case: Case) -> Result<(), Failure> {
    let [vault, second] = case.vaults().await?;
    let fields = json!({
        "vaultId": vault.id,
        "platform": "poster",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    let (prompt, _) = case.prompt_with(fields).await?;
    second.add_in_turn([&prompt]).await?;
    let alone = prompt.read().await?;
    let listing = vault.listing().await?;
    let entry = listing.entry(prompt.id)?;
    let (entry, alone) = (check::stable_fields(&entry), check::stable_fields(alone.at("/data")?));
    for key in ["id", "title", "prompt", "promptType", "platform", "images", "vaultIds"] {
        let (got, expected) = (&entry[key], &alone[key]);
        listing.ensure(got == expected, format!("{key} of the entry to be {expected}"), got)?;
    }
    for key in ["status", "createdAt", "updatedAt"] {
        listing.string(&format!("/data/0/{key}"))?;
    }
    Ok(())
}

async fn added_fields(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    vault.add_in_turn(&case.prompts(3).await?).await?;
    let listing = vault.listing().await?;
    for n in 0..listing.array("/data")?.len() {
        listing.integer(&format!("/data/{n}/vaultPromptId"))?;
        listing.boolean(&format!("/data/{n}/isPinned"))?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    case.vault().await?.listing().await?.equals("/data", json!([])).map(drop)
}

async fn only_its_own(case: Case) -> Result<(), Failure> {
    let [vault, second] = case.vaults().await?;
    let prompts = case.prompts(5).await?;
    vault.add_in_turn(&prompts[..3]).await?;
    second.add_in_turn(&prompts[2..4]).await?;
    vault.expect_prompts_in_any_order(&prompts[..3]).await
}

/// More prompts than the longest page of this API has entries.
async fn whole(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let mut expected = BTreeSet::new();
    for _ in 0..7 {
        let prompts = case.prompts(15).await?;
        vault.add(&prompts).await?.status(201)?;
        expected.extend(prompts.iter().map(|prompt| prompt.id));
    }
    let listing = vault.listing().await?;
    let listed: BTreeSet<_> = listing.integers("/data", "id")?.into_iter().collect();
    let missing = expected.difference(&listed).count();
    let what = "all of 105 prompts in one response";
    listing.ensure(missing == 0, what, format!("{missing} of them missing"))?;
    let next = listing.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
    listing.ensure(next.is_null(), "no cursor to a next page", next).map(drop)
}

async fn pinned_here(case: Case) -> Result<(), Failure> {
    let [pinned, plain] = case.vaults().await?;
    let [member] = pinned.filled().await?;
    plain.add_in_turn([&member]).await?;
    member.pinned().await?;
    for (vault, expected) in [(pinned, true), (plain, false)] {
        vault.listing().await?.equals("/data/0/isPinned", expected)?;
    }
    Ok(())
}

/// S-03 and S-32.
async fn ignores_queries(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    vault.fill(3).await?;
    let listing = vault.listing().await?;
    for query in ["limit=1", "limit=0", "cursor=none", "limit=1&limit=2", "type=image", "x=%00"] {
        let reply = case.wire().get(&format!("{}/prompts?{query}", vault.path())).await?;
        reply.has_status(200, format!("the query {query}"))?;
        reply.equals("/data", listing.at("/data")?.clone())?;
    }
    Ok(())
}

/// S-32 and S-68.
async fn no_pagination_key(case: Case) -> Result<(), Failure> {
    case.vault().await?.listing().await?.has_keys(&["data", "error"]).map(drop)
}
