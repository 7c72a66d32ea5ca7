//! Vaults that are made, deleted and forked by many requests at once.

use std::collections::BTreeSet;

use futures::future::{join, join_all};
use serde_json::json;

use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.race.deletes" ["VA-26", "VA-27"] deletes,
        "Of many deletions of one vault at least one succeeds, and it is gone" },
    core! { "vaults.race.delete-while-adding" ["VA-28"] delete_while_adding,
        "A vault deleted while prompts are added leaves no membership behind" },
    core! { "vaults.race.forks" ["VA-33"] [OtherAccount] forks,
        "Forks of one vault at the same time are whole and have no prompt in common" },
    core! { "vaults.race.fork-while-adding" ["VA-32"] [OtherAccount] fork_while_adding,
        "A fork made while prompts are added counts what it holds" },
    reference! { "vaults.race.one-deletes" ["VA-27"] one_deletes,
        "Of many deletions of one vault exactly one succeeds (S-76)" },
    reference! { "vaults.race.updates" ["VA-24"] updates,
        "Of many updates at the same time one stands as a whole" },
    reference! { "vaults.race.slugs" ["VA-04"] slugs,
        "Vaults made at the same time under one name have slugs of their own" },
];

/// All replies, or the first failure to get one.
fn all(replies: Vec<Result<Reply, Failure>>) -> Result<Vec<Reply>, Failure> {
    replies.into_iter().collect()
}

async fn deletes(case: Case) -> Result<(), Failure> {
    let (vault, won) = deleted_by_many(&case).await?;
    check::ensure(won > 0, "a deletion that succeeds", "none")?;
    case.wire().under_contention().get(&format!("/vaults/{vault}")).await?.status(404).map(drop)
}

async fn one_deletes(case: Case) -> Result<(), Failure> {
    let (_, won) = deleted_by_many(&case).await?;
    check::equal("the number of deletions that succeeded", &won, &1)
}

/// A vault that many requests delete at once, and how many were told of success.
async fn deleted_by_many(case: &Case) -> Result<(i64, usize), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(case, &wire).await?;
    make::members(case, &wire, vault, 2).await?;
    let path = format!("/vaults/{vault}");
    let replies = all(join_all((0..16).map(|_| wire.delete(&path))).await)?;
    Ok((vault, replies.iter().filter(|reply| reply.status_code() == 200).count()))
}

async fn delete_while_adding(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let prompts = make::prompts(&case, &wire, 16).await?;
    let (path, into) = (format!("/vaults/{vault}"), format!("/vaults/{vault}/prompts"));
    let adding = prompts.iter().map(|prompt| wire.post(&into, json!({ "promptIds": [prompt] })));
    let (added, deleted) = join(join_all(adding), wire.delete(&path)).await;
    deleted?.status(200)?;
    all(added)?;
    for prompt in prompts {
        let vaults = make::vaults_among(&wire, prompt, &[vault]).await?;
        check::equal("the deleted vault in vaultIds", &vaults, &vec![])?;
    }
    Ok(())
}

async fn forks(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = super::fork::source(&case, "public", 4).await?;
    let path = format!("/vaults/{vault}/fork");
    let replies = all(join_all((0..8).map(|_| wire.post_empty(&path))).await)?;
    let mut copies = BTreeSet::new();
    for reply in &replies {
        let forked = reply.status(201)?.integer("/data/id")?;
        let contents = make::contents(&wire, forked).await?;
        check::equal("the number of prompts in a fork", &contents.len(), &4)?;
        copies.extend(contents.iter().map(|copy| copy.prompt));
    }
    check::equal("the number of distinct copies", &copies.len(), &(4 * replies.len()))
}

async fn fork_while_adding(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire().under_contention(), case.other().under_contention());
    let vault = super::fork::source(&case, "public", 1).await?;
    let prompts = make::prompts(&case, &other, 8).await?;
    let (path, into) = (format!("/vaults/{vault}/fork"), format!("/vaults/{vault}/prompts"));
    let adding = prompts.iter().map(|prompt| other.post(&into, json!({ "promptIds": [prompt] })));
    let forking = join_all((0..4).map(|_| wire.post_empty(&path)));
    let (added, forked) = join(join_all(adding), forking).await;
    all(added)?;
    for reply in all(forked)? {
        let forked = reply.status(201)?.integer("/data/id")?;
        let held = make::contents(&wire, forked).await?.len();
        reply.equals("/data/promptCount", held)?;
    }
    Ok(())
}

async fn updates(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let vault = make::vault(&case, &wire).await?;
    let path = format!("/vaults/{vault}");
    let texts: Vec<_> = (0..16).map(|_| case.name("pair")).collect();
    let bodies = texts.iter().map(|text| json!({ "name": text, "description": text }));
    let replies = all(join_all(bodies.map(|body| wire.patch(&path, body))).await)?;
    for reply in replies {
        reply.status(200)?;
    }
    let now = super::read(&wire, vault).await?;
    let name = now.string("/data/name")?;
    now.ensure(texts.iter().any(|text| text == name), "the name of one update", name)?;
    now.equals("/data/description", name)?;
    Ok(())
}

/// S-16.
async fn slugs(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let body = json!({ "name": case.name("same") });
    let replies = all(join_all((0..12).map(|_| wire.post("/vaults", body.clone()))).await)?;
    let mut slugs = BTreeSet::new();
    for reply in &replies {
        slugs.insert(reply.status(201)?.string("/data/slug")?.to_owned());
    }
    check::equal("the number of distinct slugs", &slugs.len(), &replies.len())
}
