//! `GET /vaults/{vaultId}/prompts`: what its entries are. Their order is in
//! `order`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{entries, listing, pin};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

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
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let fields = json!({
        "vaultId": vault,
        "platform": "poster",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    let prompt = make::prompt_with(&case, &wire, fields).await?.integer("/data/id")?;
    let second = make::vault(&case, &wire).await?;
    make::fill(&wire, second, &[prompt]).await?;
    let alone = wire.get(&format!("/prompts/{prompt}")).await?;
    let entry = listing(&wire, vault).await?.entry(prompt)?;
    let (alone, settled) = (check::stable_fields(alone.data(200)?), check::stable_fields(&entry));
    for key in ["id", "title", "prompt", "promptType", "platform", "images"] {
        check::equal(&format!("{key} of the entry"), &settled.get(key), &alone.get(key))?;
    }
    let vaults = |prompt: &Value| {
        let ids = prompt["vaultIds"].as_array().into_iter().flatten().map(Value::as_i64);
        ids.collect::<BTreeSet<_>>()
    };
    check::equal("vaultIds of the entry", &vaults(&entry), &vaults(&alone))?;
    for key in ["status", "createdAt", "updatedAt"] {
        check::ensure(entry[key].is_string(), &format!("{key} in the entry"), "none")?;
    }
    Ok(())
}

async fn added_fields(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::fill(&wire, vault, &make::prompts(&case, &wire, 3).await?).await?;
    let reply = listing(&wire, vault).await?;
    for n in 0..reply.array("/data")?.len() {
        reply.integer(&format!("/data/{n}/vaultPromptId"))?;
        reply.boolean(&format!("/data/{n}/isPinned"))?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    listing(&case.wire(), vault).await?.equals("/data", json!([]))?;
    Ok(())
}

async fn only_its_own(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let prompts = make::prompts(&case, &wire, 5).await?;
    make::fill(&wire, vault, &prompts[..3]).await?;
    make::fill(&wire, second, &prompts[2..4]).await?;
    let listed: BTreeSet<_> = super::prompts(&wire, vault).await?.into_iter().collect();
    let expected: BTreeSet<_> = prompts[..3].iter().copied().collect();
    check::equal("the prompts of the listing", &listed, &expected)
}

/// More prompts than the longest page of this API has entries.
async fn whole(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let mut expected = BTreeSet::new();
    for _ in 0..7 {
        let prompts = make::prompts(&case, &wire, 15).await?;
        let body = json!({ "promptIds": prompts });
        wire.post(&format!("/vaults/{vault}/prompts"), body).await?.status(201)?;
        expected.extend(prompts);
    }
    let reply = listing(&wire, vault).await?;
    let listed: BTreeSet<_> = reply.integers("/data", "id")?.into_iter().collect();
    let missing = expected.difference(&listed).count();
    let what = "all of 105 prompts in one response";
    reply.ensure(missing == 0, what, format!("{missing} of them missing"))?;
    let next = reply.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
    reply.ensure(next.is_null(), "no cursor to a next page", next)?;
    Ok(())
}

async fn pinned_here(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (pinned, plain) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    let member = make::members(&case, &wire, pinned, 1).await?[0];
    make::fill(&wire, plain, &[member.prompt]).await?;
    pin(&wire, pinned, member.membership).await?;
    for (vault, expected) in [(pinned, true), (plain, false)] {
        let shown = entries(&wire, vault).await?.iter().any(|entry| entry.pinned);
        check::equal("isPinned in the vault it was pinned in, and in another", &shown, &expected)?;
    }
    Ok(())
}

/// S-03 and S-32.
async fn ignores_queries(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 3).await?;
    let plain = listing(&wire, vault).await?;
    for query in ["limit=1", "limit=0", "cursor=none", "limit=1&limit=2", "type=image", "x=%00"] {
        let reply = wire.get(&format!("/vaults/{vault}/prompts?{query}")).await?;
        reply.accepted(200, format!("the query {query}"))?;
        reply.equals("/data", plain.at("/data")?.clone())?;
    }
    Ok(())
}

/// S-32 and S-68.
async fn no_pagination_key(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let reply = listing(&case.wire(), vault).await?;
    let keys: Vec<_> = reply.json()?.as_object().into_iter().flatten().map(|(k, _)| k).collect();
    reply.ensure(keys == ["data", "error"], "the keys data and error", format!("{keys:?}"))?;
    Ok(())
}
