//! What the reference server does where the specification is silent on a move.

use super::source_and_target;
use crate::fixture::Entry;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "contents.move.into-a-holder" ["VC-19", "VC-20", "VC-21"] into_a_holder,
        "A move to a vault that holds the prompt replaces the membership there by a new one" },
    reference! { "contents.move.within-one-vault" ["VC-19", "VC-20", "VC-21"] within_one_vault,
        "A move to the vault it comes from gives a new membership on top, not pinned" },
    reference! { "contents.move.unpins" ["VC-20"] unpins,
        "A pinned prompt is not pinned after a move" },
    reference! { "contents.move.on-top" ["VC-09", "VC-20"] on_top,
        "A moved prompt is on top of the target's part that is not pinned" },
    reference! { "contents.move.old-membership-404" ["VC-20"] old_membership_404,
        "The membership in the source is not found after a move" },
];

/// S-28.
async fn into_a_holder(case: Case) -> Result<(), Failure> {
    let (source, target, [member]) = source_and_target(&case).await?;
    target.add_in_turn([&member]).await?;
    let held = target.member_of(&member.prompt).await?;
    held.pinned().await?;
    let [first, second] = target.filled().await?;

    let reply = member.move_to(&target).await?;
    let new = reply.status(200)?.integer("/data/vaultPromptId")?;
    reply.ensure(new != held.id && new != member.id, "a new vaultPromptId", new)?;
    let moved = Entry { membership: new, ..member.entry() };
    target.expect_entries(&[moved, second.entry(), first.entry()]).await?;
    source.expect_size(0).await?;
    held.remove().await?.has_status(404, "the replaced membership").map(drop)
}

/// S-29.
async fn within_one_vault(case: Case) -> Result<(), Failure> {
    let (source, _, [member, second, third]) = source_and_target(&case).await?;
    member.pinned().await?;
    let reply = member.move_to(&source).await?;
    let new = reply.status(200)?.integer("/data/vaultPromptId")?;
    reply.ensure(new != member.id, "a new vaultPromptId", new)?;
    let moved = Entry { membership: new, ..member.entry() };
    source.expect_entries(&[moved, third.entry(), second.entry()]).await
}

/// S-30.
async fn unpins(case: Case) -> Result<(), Failure> {
    let (_, target, [member]) = source_and_target(&case).await?;
    member.pinned().await?;
    let moved = member.moved_to(&target).await?;
    target.expect_entries(&[moved.entry()]).await
}

/// S-30. The prompt that is moved was added before those of the target.
async fn on_top(case: Case) -> Result<(), Failure> {
    let (_, target, [member]) = source_and_target(&case).await?;
    let [pinned, second, third] = target.filled().await?;
    pinned.pinned().await?;
    member.move_to(&target).await?.status(200)?;
    target.expect_prompts([&pinned, &member, &third, &second]).await
}

/// S-31.
async fn old_membership_404(case: Case) -> Result<(), Failure> {
    let (source, target, [old]) = source_and_target(&case).await?;
    old.move_to(&target).await?.status(200)?;
    for vault in [source, target] {
        let old = vault.membership(old.id, &old.prompt);
        old.remove().await?.has_status(404, "the old membership")?;
    }
    Ok(())
}
