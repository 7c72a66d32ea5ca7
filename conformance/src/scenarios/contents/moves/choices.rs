//! Moves the specification is silent on: what core can still say of them, and
//! what the reference server does.

use super::super::{Entry, ask_move, entries, path, pin};
use super::{Two, two};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "contents.move.into-a-holder-once" ["VC-21"] into_a_holder_once,
        "A move to a vault that holds the prompt leaves it there once" },
    reference! { "contents.move.within-one-vault-once" ["VC-21"] within_one_vault_once,
        "A move to the vault it comes from leaves the prompt there once" },
    reference! { "contents.move.into-a-holder" ["VC-19", "VC-20"] into_a_holder,
        "A move to a vault that holds the prompt replaces the membership there by a new one" },
    reference! { "contents.move.within-one-vault" ["VC-19", "VC-20"] within_one_vault,
        "A move to the vault it comes from gives a new membership on top, not pinned" },
    reference! { "contents.move.unpins" ["VC-20"] unpins,
        "A pinned prompt is not pinned after a move" },
    reference! { "contents.move.on-top" ["VC-09", "VC-20"] on_top,
        "A moved prompt is on top of the target's part that is not pinned" },
    reference! { "contents.move.old-membership-404" ["VC-20"] old_membership_404,
        "The membership in the source is not found after a move" },
];

/// S-28: a server may refuse, or keep the membership that is there.
async fn into_a_holder_once(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let prompt = members[0].prompt;
    make::fill(&wire, target, &[prompt]).await?;
    let reply = ask_move(&wire, source, members[0].membership, target).await?;
    let moved = reply.status_code() == 200;
    let expected = if moved { vec![] } else { vec![prompt] };
    let what = if moved { "the source after a move" } else { "the source after a refusal" };
    check::equal(what, &super::prompts(&wire, source).await?, &expected)?;
    check::equal("the target", &super::prompts(&wire, target).await?, &vec![prompt])
}

/// S-29: a server may refuse, or give the old membership back.
async fn within_one_vault_once(case: Case) -> Result<(), Failure> {
    let Two { wire, source, members, .. } = two(&case, 1).await?;
    ask_move(&wire, source, members[0].membership, source).await?;
    check::equal("the vault", &super::prompts(&wire, source).await?, &vec![members[0].prompt])
}

/// S-28.
async fn into_a_holder(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let prompt = members[0].prompt;
    make::fill(&wire, target, &[prompt]).await?;
    let held = entries(&wire, target).await?;
    let held = held.first().map(|entry| entry.membership).unwrap_or_default();
    pin(&wire, target, held).await?;
    let others = make::members(&case, &wire, target, 2).await?;

    let reply = ask_move(&wire, source, members[0].membership, target).await?;
    let new = reply.status(200)?.integer("/data/vaultPromptId")?;
    let is_new = new != held && new != members[0].membership;
    reply.ensure(is_new, "a new vaultPromptId", new)?;
    let entry = |prompt, membership| Entry { prompt, membership, pinned: false };
    let mut expected = vec![entry(prompt, new)];
    expected.extend(others.iter().rev().map(|other| entry(other.prompt, other.membership)));
    check::equal("the target", &entries(&wire, target).await?, &expected)?;
    wire.delete(&path(target, held)).await?.accepted(404, "the replaced membership")?;
    Ok(())
}

/// S-29.
async fn within_one_vault(case: Case) -> Result<(), Failure> {
    let Two { wire, source, members, .. } = two(&case, 3).await?;
    pin(&wire, source, members[0].membership).await?;
    let reply = ask_move(&wire, source, members[0].membership, source).await?;
    let new = reply.status(200)?.integer("/data/vaultPromptId")?;
    reply.ensure(new != members[0].membership, "a new vaultPromptId", new)?;
    let entry = |prompt, membership| Entry { prompt, membership, pinned: false };
    let expected = vec![
        entry(members[0].prompt, new),
        entry(members[2].prompt, members[2].membership),
        entry(members[1].prompt, members[1].membership),
    ];
    check::equal("the listing", &entries(&wire, source).await?, &expected)
}

/// S-30.
async fn unpins(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    pin(&wire, source, members[0].membership).await?;
    ask_move(&wire, source, members[0].membership, target).await?.status(200)?;
    let pins: Vec<_> = entries(&wire, target).await?.iter().map(|entry| entry.pinned).collect();
    check::equal("isPinned in the target", &pins, &vec![false])
}

/// S-30. The prompt that is moved was added before those of the target.
async fn on_top(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let there = make::members(&case, &wire, target, 3).await?;
    pin(&wire, target, there[0].membership).await?;
    ask_move(&wire, source, members[0].membership, target).await?.status(200)?;
    let expected = vec![there[0].prompt, members[0].prompt, there[2].prompt, there[1].prompt];
    check::equal("the target", &super::prompts(&wire, target).await?, &expected)
}

/// S-31.
async fn old_membership_404(case: Case) -> Result<(), Failure> {
    let Two { wire, source, target, members } = two(&case, 1).await?;
    let old = members[0].membership;
    ask_move(&wire, source, old, target).await?.status(200)?;
    for vault in [source, target] {
        wire.delete(&path(vault, old)).await?.accepted(404, "the old membership")?;
    }
    Ok(())
}
