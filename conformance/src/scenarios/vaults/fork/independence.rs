//! After a fork nothing that happens on one side shows on the other.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{fork, source, texts};
use crate::scenario::core;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    core! { "vaults.fork.source-prompts-change" ["VA-34"] [OtherAccount] source_prompts_change,
        "Changes of the source's prompts do not reach the copies" },
    core! { "vaults.fork.copies-change" ["VA-34"] [OtherAccount] copies_change,
        "Changes of the copies do not reach the source's prompts" },
    core! { "vaults.fork.source-vault-changes" ["VA-34"] [OtherAccount] source_vault_changes,
        "Changes of the source vault do not reach the fork" },
    core! { "vaults.fork.fork-changes" ["VA-34"] [OtherAccount] fork_changes,
        "Changes of the fork do not reach the source vault" },
];

/// A vault under the key of its owner.
struct Side {
    wire: Wire,
    vault: i64,
}

/// A source of the other account with three prompts, and the caller's fork.
async fn two_sides(case: &Case) -> Result<(Side, Side), Failure> {
    let vault = source(case, "public", 3).await?;
    let forked = fork(&case.wire(), vault).await?.integer("/data/id")?;
    // A scenario may delete the fork, and the copies are not found by it then.
    for copy in make::contents(&case.wire(), forked).await? {
        case.adopt_prompt(copy.prompt.into());
    }
    let source = Side { wire: case.other(), vault };
    Ok((source, Side { wire: case.wire(), vault: forked }))
}

async fn source_prompts_change(case: Case) -> Result<(), Failure> {
    let (source, copy) = two_sides(&case).await?;
    prompts_change(&case, &source, &copy).await
}

async fn copies_change(case: Case) -> Result<(), Failure> {
    let (source, copy) = two_sides(&case).await?;
    prompts_change(&case, &copy, &source).await
}

async fn source_vault_changes(case: Case) -> Result<(), Failure> {
    let (source, copy) = two_sides(&case).await?;
    vault_changes(&case, &source, &copy).await
}

async fn fork_changes(case: Case) -> Result<(), Failure> {
    let (source, copy) = two_sides(&case).await?;
    vault_changes(&case, &copy, &source).await
}

async fn prompts_change(case: &Case, here: &Side, there: &Side) -> Result<(), Failure> {
    let before = seen(there).await?;
    let prompts = make::contents(&here.wire, here.vault).await?;
    let path = |n: usize| format!("/prompts/{}", prompts[n].prompt);
    let body = json!({
        "title": case.name("changed"),
        "prompt": "A lighthouse at dawn",
        "platform": "poster",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    here.wire.patch(&path(0), body).await?.status(200)?;
    unchanged(there, &before, "an update of a prompt").await?;
    here.wire.delete(&path(1)).await?.status(200)?;
    unchanged(there, &before, "the deletion of a prompt").await
}

async fn vault_changes(case: &Case, here: &Side, there: &Side) -> Result<(), Failure> {
    let before = seen(there).await?;
    let path = format!("/vaults/{}", here.vault);
    let members = make::contents(&here.wire, here.vault).await?;

    let body = json!({
        "name": case.name("renamed"),
        "description": "changed",
        "visibility": "unlisted",
    });
    here.wire.patch(&path, body).await?.status(200)?;
    unchanged(there, &before, "an update of the vault").await?;

    make::members(case, &here.wire, here.vault, 1).await?;
    unchanged(there, &before, "the addition of a prompt").await?;

    let membership = format!("{path}/prompts/{}", members[0].membership);
    here.wire.post_empty(&format!("{membership}/pin")).await?.status(200)?;
    unchanged(there, &before, "a pin").await?;

    here.wire.delete(&membership).await?.status(200)?;
    unchanged(there, &before, "the removal of a prompt").await?;

    here.wire.delete(&path).await?.status(200)?;
    unchanged(there, &before, "the deletion of the vault").await
}

/// What a change on the other side must not touch.
#[derive(Debug, PartialEq)]
struct Seen {
    vault: Vec<Value>,
    members: Vec<make::Member>,
    pins: Vec<Value>,
    texts: BTreeSet<String>,
}

async fn seen(side: &Side) -> Result<Seen, Failure> {
    let vault = super::read(&side.wire, side.vault).await?;
    let fields = ["name", "description", "visibility", "promptCount"];
    let fields = fields.map(|field| vault.at("/data").map(|data| data[field].clone()));
    let listing = side.wire.get(&format!("/vaults/{}/prompts", side.vault)).await?;
    let pins = listing.array("/data")?.into_iter().map(|prompt| prompt["isPinned"].clone());
    Ok(Seen {
        vault: fields.into_iter().collect::<Result<_, _>>()?,
        members: make::contents(&side.wire, side.vault).await?,
        pins: pins.collect(),
        texts: texts(&side.wire, side.vault).await?,
    })
}

async fn unchanged(side: &Side, before: &Seen, step: &str) -> Result<(), Failure> {
    let now = seen(side).await?;
    check::equal(&format!("the other side after {step}"), &now, before)
}
