//! Forking a vault of another account, which is what core knows of it: a server may refuse the fork
//! of one's own (S-22). After a fork nothing that happens on one side shows on the other. What else
//! is copied is in `choices`.

pub(super) mod choices;

use super::{list, same_object};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.fork.public-and-unlisted" ["VA-29"] [OtherAccount] public_and_unlisted,
        "A public and an unlisted vault of another account can be forked" },
    core! { "vaults.fork.answer" ["VA-29"] [OtherAccount] answer,
        "A fork answers 201 with the vault object that is then in the caller's list" },
    core! { "vaults.fork.own-private" ["VA-30"]
        |case| async move { case.vault().await?.fork().await?.is_client_error(PRIVATE).map(drop) },
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
    core! { "vaults.fork.source-prompts-change" ["VA-34"] [OtherAccount]
        |case| prompts_change(case, Side::Source),
        "Changes of the source's prompts do not reach the copies" },
    core! { "vaults.fork.copies-change" ["VA-34"] [OtherAccount]
        |case| prompts_change(case, Side::Fork),
        "Changes of the copies do not reach the source's prompts" },
    core! { "vaults.fork.source-vault-changes" ["VA-34"] [OtherAccount]
        |case| vault_changes(case, Side::Source),
        "Changes of the source vault do not reach the fork" },
    core! { "vaults.fork.fork-changes" ["VA-34"] [OtherAccount]
        |case| vault_changes(case, Side::Fork),
        "Changes of the fork do not reach the source vault" },
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

async fn public_and_unlisted(case: Case) -> Result {
    for visibility in ["public", "unlisted"] {
        let source = source(&case, visibility, 1).await?;
        let reply = case.vault_at(source.id).fork().await?;
        reply.has_status(201, format!("the fork of an {visibility} vault"))?;
    }
    Ok(())
}

async fn answer(case: Case) -> Result {
    let source = source(&case, "public", 2).await?;
    let (fork, forked) = case.fork_of(&source).await?;
    same_object(&forked, forked.at("/data")?, &list(&case).await?.entry(fork.id)?)
}

async fn made_private(case: Case) -> Result {
    let source = source(&case, "public", 1).await?;
    source.update(json!({ "visibility": "private" })).await?.status(200)?;
    let reply = case.vault_at(source.id).fork().await?;
    reply.is_client_error(PRIVATE).map(drop)
}

async fn is_private(case: Case) -> Result {
    let (fork, forked) = case.fork_of(&source(&case, "public", 1).await?).await?;
    for reply in [forked, fork.read().await?] {
        reply.equals("/data/visibility", "private")?.equals("/data/isSystem", false)?;
    }
    Ok(())
}

async fn count(case: Case) -> Result {
    for prompts in [0, 1, 4] {
        let (fork, forked) = case.fork_of(&source(&case, "public", prompts).await?).await?;
        forked.equals("/data/promptCount", fork.counts_what_it_lists().await?)?;
    }
    Ok(())
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
    let (fork, _) = case.fork_of(&source(&case, "unlisted", 0).await?).await?;
    fork.expect_size(0).await
}

async fn whole(case: Case) -> Result {
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

async fn new_records(case: Case) -> Result {
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

/// What is changed.
enum Side {
    Source,
    Fork,
}

/// A source of the other account with three prompts, and the caller's fork: first the one that
/// is changed, then the one that must stay.
async fn changed_and_kept(case: &Case, changed: Side) -> Result<(Vault, Vault)> {
    let source = source(case, "public", 3).await?;
    let (fork, _) = case.fork_of(&source).await?;
    // A scenario may delete the fork, and the copies are not found by it then.
    for copy in fork.prompts().await? {
        case.adopt_prompt(copy);
    }
    Ok(match changed {
        Side::Source => (source, fork),
        Side::Fork => (fork, source),
    })
}

async fn prompts_change(case: Case, changed: Side) -> Result {
    let (here, there) = &changed_and_kept(&case, changed).await?;
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
    unchanged(there, &before, "the deletion of a prompt").await
}

async fn vault_changes(case: Case, changed: Side) -> Result {
    let (here, there) = &changed_and_kept(&case, changed).await?;
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
    unchanged(there, &before, "the deletion of the vault").await
}

async fn unchanged(vault: &Vault, before: &Value, step: &str) -> Result {
    check::equal(&format!("the other side after {step}"), &vault.state().await?, before)
}
