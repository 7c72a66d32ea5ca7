//! Forking a vault of another account, which is what core knows of it: a
//! server may refuse the fork of one's own (S-22). That the copy is on its own
//! from then on is in `independence`, what else is copied in `choices`.

pub(super) mod choices;
pub(super) mod independence;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{list, same_object};
use crate::fixture::{Vault, ids};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.fork.public-and-unlisted" ["VA-29"] [OtherAccount] public_and_unlisted,
        "A public and an unlisted vault of another account can be forked" },
    core! { "vaults.fork.answer" ["VA-29"] [OtherAccount] answer,
        "A fork answers 201 with the vault object that is then in the caller's list" },
    core! { "vaults.fork.own-private" ["VA-30"] own_private,
        "A private vault of the caller cannot be forked" },
    core! { "vaults.fork.made-private" ["VA-30"] [OtherAccount] made_private,
        "A vault that was made private again cannot be forked" },
    core! { "vaults.fork.is-private" ["VA-31"] [OtherAccount] is_private,
        "A fork is private and no system vault" },
    core! { "vaults.fork.count" ["VA-32"] [OtherAccount] count,
        "The promptCount of a fork is the number of prompts that were copied" },
    core! { "vaults.fork.whole" ["VA-33", "VA-32"] [OtherAccount] whole,
        "A fork holds a copy of every prompt of a source that is longer than any page" },
    core! { "vaults.fork.copies" ["VA-33"] [OtherAccount] copies,
        "A fork holds a copy of every prompt of the source" },
    core! { "vaults.fork.new-records" ["VA-33"] [OtherAccount] new_records,
        "The prompts of a fork are new records with ids of their own, which the caller owns" },
];

/// A vault of the other account with new prompts.
pub(super) async fn source(
    case: &Case,
    visibility: &str,
    prompts: usize,
) -> Result<Vault, Failure> {
    let owner = case.other_account();
    let (vault, _) = owner.vault_with(json!({ "visibility": visibility })).await?;
    vault.fill(prompts).await?;
    Ok(vault)
}

/// What a person wrote into each prompt of the vault, whatever the order.
async fn texts(vault: &Vault) -> Result<BTreeSet<String>, Failure> {
    let prompts = vault.listing().await?.array("/data")?;
    let written = ["title", "prompt", "promptType", "platform"];
    let text = |prompt: &Value| Value::from_iter(written.map(|key| (key, prompt[key].clone())));
    Ok(prompts.iter().map(|prompt| text(prompt).to_string()).collect())
}

async fn public_and_unlisted(case: Case) -> Result<(), Failure> {
    for visibility in ["public", "unlisted"] {
        let source = source(&case, visibility, 1).await?;
        let reply = case.vault_at(source.id).fork().await?;
        reply.has_status(201, format!("the fork of an {visibility} vault"))?;
    }
    Ok(())
}

async fn answer(case: Case) -> Result<(), Failure> {
    let source = source(&case, "public", 2).await?;
    let (fork, forked) = case.fork_of(&source).await?;
    same_object(&forked, forked.at("/data")?, &list(&case).await?.entry(fork.id)?)
}

async fn own_private(case: Case) -> Result<(), Failure> {
    let reply = case.vault().await?.fork().await?;
    reply.is_client_error("the fork of a private vault").map(drop)
}

async fn made_private(case: Case) -> Result<(), Failure> {
    let source = source(&case, "public", 1).await?;
    source.update(json!({ "visibility": "private" })).await?.status(200)?;
    let reply = case.vault_at(source.id).fork().await?;
    reply.is_client_error("the fork of a vault that is private by now").map(drop)
}

async fn is_private(case: Case) -> Result<(), Failure> {
    let (fork, forked) = case.fork_of(&source(&case, "public", 1).await?).await?;
    for reply in [forked, fork.read().await?] {
        reply.equals("/data/visibility", "private")?.equals("/data/isSystem", false)?;
    }
    Ok(())
}

async fn count(case: Case) -> Result<(), Failure> {
    for prompts in [0, 1, 4] {
        let (fork, forked) = case.fork_of(&source(&case, "public", prompts).await?).await?;
        forked.equals("/data/promptCount", fork.counts_what_it_lists().await?)?;
    }
    Ok(())
}

async fn copies(case: Case) -> Result<(), Failure> {
    let source_vault = source(&case, "public", 3).await?;
    let into = source_vault.id;
    for fields in [
        json!({ "promptType": "image", "modelId": case.image_model(), "vaultId": into }),
        json!({ "promptType": "video", "modelId": case.video_model(), "vaultId": into }),
        json!({ "platform": "poster", "vaultId": into }),
    ] {
        case.other_account().prompt_with(fields).await?;
    }
    let (fork, _) = case.fork_of(&source_vault).await?;
    let (copies, sources) = (texts(&fork).await?, texts(&source_vault).await?);
    check::equal("title, text, type and platform of the copies", &copies, &sources)?;
    let (fork, _) = case.fork_of(&source(&case, "unlisted", 0).await?).await?;
    fork.expect_size(0).await
}

async fn whole(case: Case) -> Result<(), Failure> {
    let source = source(&case, "public", 0).await?;
    for _ in 0..7 {
        source.add(&case.other_account().prompts(15).await?).await?.status(201)?;
    }
    let (fork, forked) = case.fork_of(&source).await?;
    forked.equals("/data/promptCount", 105)?;
    let (copies, sources) = (texts(&fork).await?, texts(&source).await?);
    check::equal("the number of different prompts", &copies.len(), &sources.len())?;
    check::ensure(copies == sources, "copies of all 105 prompts of the source", "other texts")
}

async fn new_records(case: Case) -> Result<(), Failure> {
    let source = source(&case, "public", 3).await?;
    let (fork, _) = case.fork_of(&source).await?;
    let sources = ids(source.members().await?);
    for copy in fork.members().await? {
        let reply = copy.prompt.get().await?;
        reply.has_status(200, "a copy")?;
        let is_new = !sources.contains(&copy.prompt.id);
        reply.ensure(is_new, "an id of its own", "the id of a source prompt")?;
    }
    Ok(())
}
