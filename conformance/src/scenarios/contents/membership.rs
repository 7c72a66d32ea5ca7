//! Memberships: what they are called, and that a prompt has one for each of
//! its vaults.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Entry, ask_move, entries, path, pin};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.membership.own-id" ["VC-01"] own_id,
        "A prompt has another vaultPromptId in each of its vaults" },
    core! { "contents.membership.not-the-prompt-id" ["VC-01"] not_the_prompt_id,
        "Pin, move and remove take the membership's id, not the prompt's" },
    core! { "contents.membership.many-vaults" ["VC-02"] many_vaults,
        "A prompt can be in many vaults at the same time" },
    core! { "contents.membership.others-kept" ["VC-03"] others_kept,
        "Saving or adding a prompt leaves its other memberships as they are" },
];

async fn own_id(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let mut memberships = BTreeSet::new();
    for _ in 0..4 {
        let vault = make::vault(&case, &wire).await?;
        make::fill(&wire, vault, &[prompt]).await?;
        memberships.extend(entries(&wire, vault).await?.iter().map(|entry| entry.membership));
    }
    check::equal("the number of distinct vaultPromptIds", &memberships.len(), &4)
}

/// The prompt is one whose id is no membership of the vault by chance: where
/// both kinds count from 1, the prompt left out in the middle sees to it.
async fn not_the_prompt_id(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, target) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    make::members(&case, &wire, vault, 2).await?;
    make::prompt(&case, &wire).await?;
    make::members(&case, &wire, vault, 2).await?;
    let before = entries(&wire, vault).await?;
    let known = |id: i64| before.iter().any(|entry| entry.membership == id);
    let Some(Entry { prompt, .. }) = before.iter().find(|entry| !known(entry.prompt)) else {
        return Err(Failure::failed("a vaultPromptId that is not a prompt's id", "only such ids"));
    };
    let by_prompt = path(vault, *prompt);
    let replies = [
        ("pin", wire.post_empty(&format!("{by_prompt}/pin")).await?),
        ("move", ask_move(&wire, vault, *prompt, target).await?),
        ("remove", wire.delete(&by_prompt).await?),
    ];
    // Removing what is not there may be a success (S-31).
    for (call, reply) in replies.iter().filter(|(call, _)| *call != "remove") {
        reply.is_client_error(format!("{call} with the id of the prompt"))?;
    }
    check::equal("the listing", &entries(&wire, vault).await?, &before)
}

async fn many_vaults(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let mut vaults = Vec::new();
    for _ in 0..5 {
        let vault = make::vault(&case, &wire).await?;
        make::fill(&wire, vault, &[prompt]).await?;
        vaults.push(vault);
    }
    vaults.sort_unstable();
    let shown = make::vaults_among(&wire, prompt, &vaults).await?;
    check::equal("vaultIds", &shown, &vaults)?;
    for vault in vaults {
        let listed = super::prompts(&wire, vault).await?;
        check::equal("the listing of each of the vaults", &listed, &vec![prompt])?;
    }
    Ok(())
}

async fn others_kept(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let first = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, first, 2).await?;
    let prompt = members[0].prompt;
    pin(&wire, first, members[0].membership).await?;
    let before = entries(&wire, first).await?;

    let (added, saved) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    make::fill(&wire, added, &[prompt]).await?;
    let after = entries(&wire, first).await?;
    check::equal("the first vault after adding to another", &after, &before)?;

    let save = format!("/prompts/{prompt}/save");
    wire.post(&save, json!({ "vaultId": saved })).await?.status(200)?;
    let after = entries(&wire, first).await?;
    check::equal("the first vault after saving to another", &after, &before)
}
