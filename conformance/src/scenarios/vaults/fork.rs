//! Forking a vault of another account, which is what core knows of it: a server may refuse the fork
//! of one's own (S-22). After a fork nothing that happens on one side shows on the other. What else
//! is copied is in `choices`.

pub(super) mod choices;

use super::{list, same_object};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.fork.answer" ["VA-29", "VA-31"] [OtherAccount] answer,
        "A public and an unlisted vault of another account can be forked: 201 with the vault object, \
         private and no system vault, that is then in the caller's list" },
    core! { "vaults.fork.own-private" ["VA-30"]
        |case| async move { case.vault().await?.fork().await?.is_client_error(PRIVATE).map(drop) },
        "A private vault of the caller cannot be forked" },
    core! { "vaults.fork.made-private" ["VA-30"] [OtherAccount] made_private,
        "A vault that was made private again cannot be forked" },
    core! { "vaults.fork.whole" ["VA-33", "VA-32"] [OtherAccount] whole,
        "A fork holds and counts a copy of every prompt of the source, also of one that is longer than \
         any page" },
    core! { "vaults.fork.copies" ["VA-33"] [OtherAccount] copies,
        "A fork holds a copy of every prompt of the source, each a new record with an id of its own, \
         which the caller owns" },
    core! { "vaults.fork.prompts-change" ["VA-34"] [OtherAccount] prompts_change,
        "Changes of the source's prompts do not reach the copies, nor the other way round" },
    core! { "vaults.fork.vault-changes" ["VA-34"] [OtherAccount] vault_changes,
        "Changes of the source vault do not reach the fork, nor the other way round" },
];

/// What is refused.
const PRIVATE: &str = "the fork of a private vault";

/// A vault of the other account with new prompts.
pub(super) async fn source(case: &Case, visibility: &str, prompts: usize) -> Result<Vault> {
    let owner = case.other_account();
    let (vault, _) = owner.vault_with(json!({ "visibility": visibility })).await?;
    vault.fill(prompts).await?;
    Ok(vault)
}

/// What a person wrote into each prompt of the vault, whatever the order.
async fn texts(vault: &Vault) -> Result<BTreeSet<String>> {
    let prompts = vault.listing().await?.array("/data")?;
    let written = ["title", "prompt", "promptType", "platform"];
    let text = |prompt: &Value| Value::from_iter(written.map(|key| (key, prompt[key].clone())));
    Ok(prompts.iter().map(|prompt| text(prompt).to_string()).collect())
}

async fn answer(case: Case) -> Result {
    for visibility in ["public", "unlisted"] {
        let (fork, forked) = case.fork_of(&source(&case, visibility, 2).await?).await?;
        same_object(&forked, forked.at("/data")?, &list(&case).await?.entry(fork.id)?)?;
        for reply in [forked, fork.read().await?] {
            reply.equals("/data/visibility", "private")?.equals("/data/isSystem", false)?;
        }
    }
    Ok(())
}

async fn made_private(case: Case) -> Result {
    let source = source(&case, "public", 1).await?;
    source.update(json!({ "visibility": "private" })).await?.status(200)?;
    let reply = case.vault_at(source.id).fork().await?;
    reply.is_client_error(PRIVATE).map(drop)
}

async fn copies(case: Case) -> Result {
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
    let sources = ids(source_vault.members().await?);
    for copy in fork.members().await? {
        let reply = copy.prompt.get().await?;
        reply.has_status(200, "a copy")?;
        let is_new = !sources.contains(&copy.prompt.id);
        reply.ensure(is_new, "an id of its own", "the id of a source prompt")?;
    }
    let (fork, _) = case.fork_of(&source(&case, "unlisted", 0).await?).await?;
    fork.expect_size(0).await
}

async fn whole(case: Case) -> Result {
    for prompts in [0, 1, 4] {
        let (fork, forked) = case.fork_of(&source(&case, "public", prompts).await?).await?;
        forked.equals("/data/promptCount", fork.counts_what_it_lists().await?)?;
    }
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

/// A source of the other account with three prompts, and the caller's fork: each once as the one
/// that is changed, before the one that must stay.
async fn changed_and_kept(case: &Case) -> Result<[[Vault; 2]; 2]> {
    let mut pairs = Vec::new();
    for _ in 0..2 {
        let source = source(case, "public", 3).await?;
        let (fork, _) = case.fork_of(&source).await?;
        // A scenario may delete the fork, and the copies are not found by it then.
        for copy in fork.prompts().await? {
            case.adopt_prompt(copy);
        }
        pairs.push([source, fork]);
    }
    pairs[1].reverse();
    pairs.try_into().map_err(|_| Failure::error("two pairs", "another number"))
}

async fn prompts_change(case: Case) -> Result {
    for [here, there] in &changed_and_kept(&case).await? {
        let before = there.state().await?;
        let members = here.members().await?;
        let fields = json!({
            "title": case.name("changed"),
            "prompt": "A lighthouse at dawn",
            "platform": "poster",
            "promptType": "image",
            "modelId": case.image_model(),
        });
        members[0].prompt.update(fields).await?.status(200)?;
        unchanged(there, &before, "an update of a prompt").await?;
        members[1].prompt.delete().await?.status(200)?;
        unchanged(there, &before, "the deletion of a prompt").await?;
    }
    Ok(())
}

async fn vault_changes(case: Case) -> Result {
    for [here, there] in &changed_and_kept(&case).await? {
        let before = there.state().await?;
        let members = here.members().await?;
        let fields = json!({
            "name": case.name("renamed"),
            "description": "changed",
            "visibility": "unlisted",
        });
        here.update(fields).await?.status(200)?;
        unchanged(there, &before, "an update of the vault").await?;
        here.fill(1).await?;
        unchanged(there, &before, "the addition of a prompt").await?;
        members[0].pinned().await?;
        unchanged(there, &before, "a pin").await?;
        members[0].remove().await?.status(200)?;
        unchanged(there, &before, "the removal of a prompt").await?;
        here.delete().await?.status(200)?;
        unchanged(there, &before, "the deletion of the vault").await?;
    }
    Ok(())
}

async fn unchanged(vault: &Vault, before: &Value, step: &str) -> Result {
    check::equal(&format!("the other side after {step}"), &vault.state().await?, before)
}
