//! Forks of vaults of another account: a server may refuse the fork of the caller's own vault (S-22).

use super::prompt_create::typed;
use super::vault_object::{list, same_object};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "vaults.fork.answer" ["VA-29", "VA-31"] [OtherAccount] answer,
        "A fork of another account's public or unlisted vault is 201 with a private vault" },
    scenario! { "vaults.fork.own-private" ["VA-30"]
        |case| async move { case.vault().await?.fork().await?.is_client_error(PRIVATE).map(drop) },
        "A private vault of the caller cannot be forked" },
    scenario! { "vaults.fork.made-private" ["VA-30"] [OtherAccount] made_private,
        "A vault that was made private again cannot be forked" },
    scenario! { "vaults.fork.whole" ["VA-33", "VA-32"] [OtherAccount] whole,
        "A fork holds and counts a copy of every prompt, also of a source longer than any page" },
    scenario! { "vaults.fork.copies" ["VA-33"] [OtherAccount] copies,
        "Each copy of a fork is a new record with an id of its own that the caller owns" },
    scenario! { "vaults.fork.changes" ["VA-34"] [OtherAccount] changes,
        "Changes of the source and its prompts do not reach the fork, nor the other way round" },
];

const PRIVATE: &str = "the fork of a private vault";

pub async fn source(case: &Case, visibility: &str, prompts: usize) -> Result<Vault> {
    let (vault, _) = case.other_account().vault_with(json!({ "visibility": visibility })).await?;
    vault.fill(prompts).await?;
    Ok(vault)
}

/// The fields of each prompt that a user has written, in the order of the listing.
pub async fn texts(vault: &Vault) -> Result<Vec<String>> {
    let prompts = vault.listing().await?.array("/data")?;
    let written = ["title", "prompt", "promptType", "platform"];
    let text = |prompt: &Value| Value::from_iter(written.map(|key| (key, prompt[key].clone())));
    Ok(prompts.iter().map(|prompt| text(prompt).to_string()).collect())
}

async fn sorted_texts(fork: &Vault, source: &Vault) -> Result<[Vec<String>; 2]> {
    let mut both = [texts(fork).await?, texts(source).await?];
    both.iter_mut().for_each(|texts| texts.sort_unstable());
    Ok(both)
}

async fn answer(case: Case) -> Result {
    for visibility in ["public", "unlisted"] {
        let source = source(&case, visibility, 2).await?;
        // As long as a name may be, which is the limit of the fork's too.
        let name = format!("{:漢<50}", case.name("long"));
        let fields = json!({ "name": name, "description": "Boats, cranes, gulls" });
        set_up(async { source.update(fields).await?.success().map(drop) }).await?;
        list(&case).await?;
        let (fork, forked) = case.fork_of(&source).await?;
        same_object(&forked, forked.at("/data")?, &list(&case).await?.entry(fork.id)?)?;
        let length = forked.string("/data/name")?.chars().count();
        forked.ensure((1..=50).contains(&length), "a name of 1 to 50 characters", length)?;
        forked.equals("/data/description", "Boats, cranes, gulls")?;
        let own = json!({ "visibility": "private", "isSystem": false });
        forked.shows(&own)?;
        fork.read().await?.shows(&own)?;
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
    // Two have one title.
    let poster = || json!({ "title": "Dusk", "platform": "poster" });
    for fields in [typed(&case, "image"), typed(&case, "video"), poster(), poster()] {
        let fields = merged(fields, json!({ "vaultId": source_vault.id }));
        case.other_account().prompt_with(fields).await?;
    }
    // What was deleted or removed is not copied, and a pin is no reason to leave one out.
    let [deleted, removed] = case.on(case.other()).vault_at(source_vault.id).filled().await?;
    deleted.prompt.delete().await?.success()?;
    removed.remove().await?.success()?;
    if let Some(first) = source_vault.members().await?.first() {
        first.pinned().await?;
    }
    let (fork, _) = case.fork_of(&source_vault).await?;
    let [copies, sources] = sorted_texts(&fork, &source_vault).await?;
    check::equal("title, text, type and platform of the copies", &copies, &sources)?;
    let sources = ids(source_vault.members().await?);
    for copy in fork.members().await? {
        let reply = copy.prompt.get().await?;
        reply.has_status(200, "a copy")?;
        let is_new = !sources.contains(&copy.prompt.id);
        reply.ensure(is_new, "an id of its own", "the id of a source prompt")?;
    }
    case.list().find(&case, fork.members().await?).await?;
    fork.list().walk().await?.expect_exactly(fork.members().await?)?;
    // A fork is forked with what it holds by then.
    fork.update(json!({ "visibility": "unlisted" })).await?.status(200)?;
    fork.fill(1).await?;
    let (again, _) = case.other_account().fork_of(&fork).await?;
    let [copies, sources] = sorted_texts(&again, &fork).await?;
    check::equal("the copies of the fork's prompts", &copies, &sources)?;
    for entry in fork.listing().await?.array("/data")? {
        // The model of a copy shows by its effect only.
        let copy = case.prompt_at(entry["id"].as_i64().unwrap_or_default());
        for kind in [json!("text"), entry["promptType"].clone()] {
            let reply = copy.update(json!({ "promptType": kind })).await?;
            check::with_context("a copy to another type and back", reply.success())?;
        }
    }
    let (fork, _) = case.fork_of(&source(&case, "unlisted", 0).await?).await?;
    fork.expect_size(0).await?;
    // The fork of one's own vault may be refused (S-22).
    let (own, _) = case.vault_with(json!({ "visibility": "public" })).await?;
    let sources = ids(own.fill(2).await?);
    let reply = own.fork().await?;
    let Some(reply) = reply.unless_refused("the fork of an own vault")? else { return Ok(()) };
    let copies = case.vault_at(reply.integer("/data/id")?).prompts().await?;
    check::distinct("prompts of both vaults", sources.into_iter().chain(copies))
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
    let [copies, sources] = sorted_texts(&fork, &source).await?;
    check::ensure(copies == sources, "copies of all 105 prompts of the source", "other texts")
}

/// Once the source of the other account is changed, once the caller's fork.
async fn changes(case: Case) -> Result {
    for fork_is_changed in [false, true] {
        let source = source(&case, "public", 3).await?;
        let (fork, _) = case.fork_of(&source).await?;
        // Clean-up finds the copies by the fork, which may be deleted.
        for copy in fork.prompts().await? {
            case.adopt_prompt(copy);
        }
        match fork_is_changed {
            true => changed_and_kept(&case, &fork, &source).await?,
            false => changed_and_kept(&case, &source, &fork).await?,
        }
    }
    Ok(())
}

async fn changed_and_kept(case: &Case, changed: &Vault, kept: &Vault) -> Result {
    let before = &kept.state().await?;
    let is_kept = async |step: &str| {
        check::equal(&format!("the other side after {step}"), &kept.state().await?, before)
    };
    let members = changed.members().await?;
    let [first, second, ..] = &members[..] else {
        return Err(Failure::failed("two prompts in the vault", members.len().to_string()));
    };
    let texts = json!({ "title": "changed", "prompt": "changed", "platform": "changed" });
    first.prompt.update(merged(texts, typed(case, "image"))).await?.status(200)?;
    is_kept("an update of a prompt").await?;
    second.prompt.delete().await?.status(200)?;
    is_kept("the deletion of a prompt").await?;
    let name = case.name("renamed");
    let fields = json!({ "name": name, "description": "changed", "visibility": "unlisted" });
    changed.update(fields).await?.status(200)?;
    is_kept("an update of the vault").await?;
    changed.fill(1).await?;
    is_kept("the addition of a prompt").await?;
    members[0].pinned().await?;
    is_kept("a pin").await?;
    members[0].remove().await?.status(200)?;
    is_kept("the removal of a prompt").await?;
    changed.delete().await?.status(200)?;
    is_kept("the deletion of the vault").await
}
