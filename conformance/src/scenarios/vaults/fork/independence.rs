//! After a fork nothing that happens on one side shows on the other.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{source, texts};
use crate::fixture::Vault;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
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

/// What is changed.
enum Side {
    Source,
    Fork,
}

/// A source of the other account with three prompts, and the caller's fork: first the one that
/// is changed, then the one that must stay.
async fn changed_and_kept(case: &Case, changed: Side) -> Result<(Vault, Vault), Failure> {
    let source = source(case, "public", 3).await?;
    let (fork, _) = case.fork_of(&source).await?;
    // A scenario may delete the fork, and the copies are not found by it then.
    for copy in fork.prompts().await? {
        case.adopt_prompt(copy.into());
    }
    Ok(match changed {
        Side::Source => (source, fork),
        Side::Fork => (fork, source),
    })
}

async fn prompts_change(case: Case, changed: Side) -> Result<(), Failure> {
    let (here, there) = &changed_and_kept(&case, changed).await?;
    let before = State::of(there).await?;
    let members = here.members().await?;
    let fields = json!({
        "title": case.name("changed"),
        "prompt": "A lighthouse at dawn",
        "platform": "poster",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    members[0].prompt.update(fields).await?.status(200)?;
    before.unchanged(there, "an update of a prompt").await?;
    members[1].prompt.delete().await?.status(200)?;
    before.unchanged(there, "the deletion of a prompt").await
}

async fn vault_changes(case: Case, changed: Side) -> Result<(), Failure> {
    let (here, there) = &changed_and_kept(&case, changed).await?;
    let before = State::of(there).await?;
    let members = here.members().await?;
    let fields = json!({
        "name": case.name("renamed"),
        "description": "changed",
        "visibility": "unlisted",
    });
    here.update(fields).await?.status(200)?;
    before.unchanged(there, "an update of the vault").await?;
    here.fill(1).await?;
    before.unchanged(there, "the addition of a prompt").await?;
    members[0].pinned().await?;
    before.unchanged(there, "a pin").await?;
    members[0].remove().await?.status(200)?;
    before.unchanged(there, "the removal of a prompt").await?;
    here.delete().await?.status(200)?;
    before.unchanged(there, "the deletion of the vault").await
}

/// What a change on the other side must not touch.
#[derive(Debug, PartialEq)]
struct State {
    fields: [Value; 4],
    memberships: Vec<[Value; 3]>,
    texts: BTreeSet<String>,
}

impl State {
    async fn of(vault: &Vault) -> Result<Self, Failure> {
        let read = vault.read().await?;
        let data = read.at("/data")?;
        let memberships = vault.listing().await?.array("/data")?;
        let keys = ["id", "vaultPromptId", "isPinned"];
        Ok(Self {
            fields: ["name", "description", "visibility", "promptCount"].map(|it| data[it].clone()),
            memberships: memberships.iter().map(|it| keys.map(|key| it[key].clone())).collect(),
            texts: texts(vault).await?,
        })
    }

    async fn unchanged(&self, vault: &Vault, step: &str) -> Result<(), Failure> {
        check::equal(&format!("the other side after {step}"), &Self::of(vault).await?, self)
    }
}
