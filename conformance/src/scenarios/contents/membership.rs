//! Memberships: what they are called, and that a prompt has one for each of
//! its vaults.

use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

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
    reference! { "contents.membership.wrong-vault"
        ["VC-15", "VC-20", "VC-21", "VC-25", "VC-26"] wrong_vault,
        "A membership of another vault than the path's is found by no call and stays as it is" },
];

async fn own_id(case: Case) -> Result<(), Failure> {
    let prompt = case.prompt().await?;
    let mut memberships = Vec::new();
    for vault in case.vaults::<4>().await? {
        vault.add_in_turn([&prompt]).await?;
        memberships.extend(vault.entries().await?.iter().map(|entry| entry.membership));
    }
    memberships.sort_unstable();
    memberships.dedup();
    check::equal("the number of distinct vaultPromptIds", &memberships.len(), &4)
}

/// The prompt is one whose id is no membership of the vault by chance: where
/// both kinds count from 1, the prompt left out in the middle sees to it.
async fn not_the_prompt_id(case: Case) -> Result<(), Failure> {
    let [vault, target] = case.vaults().await?;
    vault.fill(2).await?;
    case.prompt().await?;
    vault.fill(2).await?;
    let before = vault.entries().await?;
    let known = |id: i64| before.iter().any(|entry| entry.membership == id);
    let Some(prompt) = before.iter().map(|entry| entry.prompt).find(|prompt| !known(*prompt))
    else {
        return Err(Failure::failed("a vaultPromptId that is not a prompt's id", "only such ids"));
    };
    let by_prompt = vault.membership(prompt, &case.prompt_at(prompt));
    by_prompt.pin().await?.is_client_error("pin with the id of the prompt")?;
    by_prompt.move_to(&target).await?.is_client_error("move with the id of the prompt")?;
    // Removing what is not there may be a success (S-31).
    by_prompt.remove().await?;
    vault.expect_entries(&before).await
}

async fn many_vaults(case: Case) -> Result<(), Failure> {
    let (vaults, prompt) = (case.vaults::<5>().await?, case.prompt().await?);
    for vault in &vaults {
        vault.add_in_turn([&prompt]).await?;
    }
    prompt.expect_vaults(&vaults, &vaults).await?;
    for vault in vaults {
        vault.expect_prompts([&prompt]).await?;
    }
    Ok(())
}

async fn others_kept(case: Case) -> Result<(), Failure> {
    let [first, added, saved] = case.vaults().await?;
    let [member, _] = first.filled().await?;
    member.pinned().await?;
    let before = first.entries().await?;
    added.add_in_turn([&member]).await?;
    first.expect_entries(&before).await?;
    member.prompt.save_into(&saved).await?.status(200)?;
    first.expect_entries(&before).await
}

/// S-31. The other vault holds the prompts too, under memberships of its own.
async fn wrong_vault(case: Case) -> Result<(), Failure> {
    let [vault, second, target] = case.vaults().await?;
    let [pinned, plain] = vault.filled().await?;
    second.add_in_turn([&pinned, &plain]).await?;
    pinned.pinned().await?;
    let vaults = [&vault, &second, &target];
    let mut before = Vec::new();
    for vault in vaults {
        before.push(vault.entries().await?);
    }
    let [pinned, plain] = [pinned, plain].map(|it| second.membership(it.id, &it.prompt));
    let replies = [
        ("pin", plain.pin().await?),
        ("unpin", pinned.unpin().await?),
        ("move", plain.move_to(&target).await?),
        ("removal", plain.remove().await?),
    ];
    for (call, reply) in replies {
        reply.has_status(404, format!("the {call} of a membership of another vault"))?;
    }
    for (vault, before) in vaults.into_iter().zip(before) {
        vault.expect_entries(&before).await?;
    }
    Ok(())
}
