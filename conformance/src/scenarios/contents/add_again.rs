//! A prompt that is in the vault already, and ids that come twice.

use serde_json::json;

use crate::fixture::{Prompt, Vault, vault_ids};
use crate::scenario::{core, reference};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.add-again.vault-ids" ["PR-08"] names_the_vault_once,
        "vaultIds names a vault once, however often the prompt was put into it" },
    reference! { "contents.add-again.changes-nothing" ["PR-38", "PR-44", "VC-03"] changes_nothing,
        "Putting a prompt into its vault again leaves membership, place and pin as they are" },
    reference! { "contents.add-again.counts-new" ["VC-11"] counts_new,
        "added counts the prompts that were not in the vault before" },
    reference! { "contents.add-again.twice-in-one" ["VC-11"] twice_in_one,
        "An id that is in promptIds twice counts once" },
    reference! { "contents.add-again.limit-as-sent" ["LI-08"] limit_as_sent,
        "The limit of 50 is on the entries as sent" },
];

/// The replies to adding, saving and updating with a vault the prompt may be in.
async fn put_in_every_way(vault: &Vault, prompt: &Prompt) -> Result<[ApiResponse; 3], Failure> {
    let added = vault.add([prompt]).await?;
    let saved = prompt.save_into(vault).await?;
    Ok([added, saved, prompt.update(json!({ "vaultId": vault.id })).await?])
}

/// S-26: a server may refuse the second time.
async fn names_the_vault_once(case: Case) -> Result<(), Failure> {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    prompt.save_into(&vault).await?.status(200)?;
    let [_, saved, updated] = put_in_every_way(&vault, &prompt).await?;
    let replies = [saved, updated].into_iter().filter(|reply| reply.status_code() == 200);
    for reply in replies.chain([prompt.read().await?]) {
        let named = vault_ids(&reply)?;
        let times = named.iter().filter(|id| **id == vault.id).count();
        reply.ensure(
            times == 1,
            format!("vaultIds with {} once", vault.id),
            format!("{named:?}"),
        )?;
    }
    Ok(())
}

/// S-26.
async fn changes_nothing(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let members = vault.fill(4).await?;
    members[0].pinned().await?;
    members[1].pinned().await?;
    let before = vault.entries().await?;
    for member in [&members[0], &members[2]] {
        let [added, saved, updated] = put_in_every_way(&vault, &member.prompt).await?;
        added.status(201)?;
        for reply in [saved, updated] {
            reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
        }
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

/// S-26.
async fn counts_new(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = (case.vault().await?, case.prompts(4).await?);
    for (some, added, count) in
        [(&prompts[..2], 2, 2), (&prompts[..2], 0, 2), (&prompts[1..], 2, 4)]
    {
        let reply = vault.add(some).await?;
        reply.status(201)?.equals("/data/added", added)?.equals("/data/promptCount", count)?;
    }
    Ok(())
}

/// S-26.
async fn twice_in_one(case: Case) -> Result<(), Failure> {
    let vault = case.vault().await?;
    let (a, b) = (case.prompt().await?, case.prompt().await?);
    let reply = vault.add([&a, &b, &a, &a]).await?;
    reply.status(201)?.equals("/data/added", 2)?.equals("/data/promptCount", 2)?;
    vault.expect_size(2).await
}

/// S-26.
async fn limit_as_sent(case: Case) -> Result<(), Failure> {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    vault.add([&prompt; 51]).await?.is_bad_request("one id 51 times")?;
    let reply = vault.add([&prompt; 50]).await?;
    reply.has_status(201, "one id 50 times")?.equals("/data/added", 1).map(drop)
}
