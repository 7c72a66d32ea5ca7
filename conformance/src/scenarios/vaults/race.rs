//! Vaults that are created, deleted and forked by many requests at once.

use std::collections::BTreeSet;

use futures::future::try_join;

use crate::scenarios::prelude::*;

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
    reference! { "vaults.race.one-deletes" ["VA-27"] ("S-76")
        |case| async move { race::expect_successes(&deleted_by_many(&case).await?.1, 1) },
        "Of many deletions of one vault exactly one succeeds" },
    reference! { "vaults.race.updates" ["VA-24"] updates,
        "Of many updates at the same time one stands as a whole" },
    reference! { "vaults.race.slugs" ["VA-04"] ("S-16") slugs,
        "Vaults made at the same time under one name have slugs of their own" },
];

async fn deletes(case: Case) -> Result {
    let (vault, deletions) = deleted_by_many(&case).await?;
    race::expect_success(&deletions)?;
    vault.get().await?.status(404).map(drop)
}

/// A vault that many requests delete at once, and their replies.
async fn deleted_by_many(case: &Case) -> Result<(Vault, Vec<ApiResponse>)> {
    let vault = case.under_contention().vault().await?;
    vault.fill(2).await?;
    let deletions = race::times(16, || vault.delete()).await?;
    Ok((vault, deletions))
}

async fn delete_while_adding(case: Case) -> Result {
    let case = case.under_contention();
    let (vault, prompts) = (case.vault().await?, case.prompts(16).await?);
    let adds = race::all(prompts.iter().map(|prompt| vault.add([prompt])));
    let (_, deleted) = try_join(adds, vault.delete()).await?;
    deleted.status(200)?;
    for prompt in prompts {
        prompt.expect_vaults([&vault], []).await?;
    }
    Ok(())
}

async fn forks(case: Case) -> Result {
    let case = case.under_contention();
    let source = case.vault_at(super::fork::source(&case, "public", 4).await?.id);
    let replies = race::times(8, || source.fork()).await?;
    let mut copies = BTreeSet::new();
    for reply in &replies {
        let fork = case.vault_at(reply.status(201)?.integer("/data/id")?);
        fork.expect_size(4).await?;
        copies.extend(fork.prompts().await?);
    }
    check::equal("the number of distinct copies", &copies.len(), &(4 * replies.len()))
}

async fn fork_while_adding(case: Case) -> Result {
    let (case, owner) = (case.under_contention(), case.other_account().under_contention());
    let source = super::fork::source(&case, "public", 1).await?;
    let prompts = owner.prompts(8).await?;
    let adds = race::all(prompts.iter().map(|prompt| source.add([prompt])));
    let forked = case.vault_at(source.id);
    let (_, forks) = try_join(adds, race::times(4, || forked.fork())).await?;
    for reply in forks {
        let fork = case.vault_at(reply.status(201)?.integer("/data/id")?);
        reply.equals("/data/promptCount", fork.members().await?.len())?;
    }
    Ok(())
}

async fn updates(case: Case) -> Result {
    let vault = case.under_contention().vault().await?;
    let texts: Vec<_> = (0..16).map(|_| case.name("pair")).collect();
    let fields = texts.iter().map(|text| json!({ "name": text, "description": text }));
    race::expect_status(&race::all(fields.map(|fields| vault.update(fields))).await?, 200)?;
    let now = vault.read().await?;
    let name = now.string("/data/name")?;
    now.ensure(texts.iter().any(|text| text == name), "the name of one update", name)?;
    now.equals("/data/description", name).map(drop)
}

async fn slugs(case: Case) -> Result {
    let (wire, body) = (case.wire().under_contention(), json!({ "name": case.name("same") }));
    let replies = race::times(12, || wire.post("/vaults", body.clone())).await?;
    let mut slugs = BTreeSet::new();
    for reply in &replies {
        slugs.insert(reply.status(201)?.string("/data/slug")?);
    }
    check::equal("the number of distinct slugs", &slugs.len(), &replies.len())
}
