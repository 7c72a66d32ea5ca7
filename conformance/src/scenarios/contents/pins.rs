//! `POST` and `DELETE …/pin`. The order of several pins is in `order`.

use super::{Entry, apart, entries, path, pin};
use crate::scenario::{core, reference};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.pin.answer" ["VC-25"] pin_answer,
        "A pin answers 200 with the membership's id and isPinned true" },
    core! { "contents.unpin.answer" ["VC-26"] unpin_answer,
        "An unpin answers 200 with the membership's id and isPinned false" },
    core! { "contents.pin.to-the-top" ["VC-27"] to_the_top,
        "A pinned prompt is shown as pinned and is on top of the listing" },
    core! { "contents.unpin.back-to-its-place" ["VC-28"] back_to_its_place,
        "An unpinned prompt is back where the normal order has it" },
    reference! { "contents.pin.wrong-vault" ["VC-25", "VC-26"] wrong_vault,
        "A membership of another vault than the path's is not pinned or unpinned" },
    core! { "contents.pin.again" ["VC-29"] pin_again,
        "Pinning a pinned prompt answers 200 and changes nothing" },
    core! { "contents.unpin.again" ["VC-30"] unpin_again,
        "Unpinning a prompt that is not pinned answers 200 and changes nothing" },
];

async fn ask_pin(wire: &Wire, vault: i64, membership: i64) -> Result<Reply, Failure> {
    wire.post_empty(&format!("{}/pin", path(vault, membership))).await
}

async fn ask_unpin(wire: &Wire, vault: i64, membership: i64) -> Result<Reply, Failure> {
    wire.delete(&format!("{}/pin", path(vault, membership))).await
}

/// A vault with four prompts: the listing, latest added first.
async fn four(case: &Case) -> Result<(i64, Vec<Entry>), Failure> {
    let wire = case.wire();
    let vault = make::vault(case, &wire).await?;
    make::members(case, &wire, vault, 4).await?;
    let listed = entries(&wire, vault).await?;
    check::equal("the number of prompts listed", &listed.len(), &4)?;
    Ok((vault, listed))
}

async fn pin_answer(case: Case) -> Result<(), Failure> {
    let (vault, members) = apart(&case, &case.wire(), 4).await?;
    let id = members[1].membership;
    let reply = ask_pin(&case.wire(), vault, id).await?;
    reply.status(200)?.equals("/data/vaultPromptId", id)?.equals("/data/isPinned", true)?;
    Ok(())
}

async fn unpin_answer(case: Case) -> Result<(), Failure> {
    let (vault, members) = apart(&case, &case.wire(), 4).await?;
    let id = members[1].membership;
    pin(&case.wire(), vault, id).await?;
    let reply = ask_unpin(&case.wire(), vault, id).await?;
    reply.status(200)?.equals("/data/vaultPromptId", id)?.equals("/data/isPinned", false)?;
    Ok(())
}

async fn to_the_top(case: Case) -> Result<(), Failure> {
    let (vault, mut expected) = four(&case).await?;
    pin(&case.wire(), vault, expected[2].membership).await?;
    let mut pinned = expected.remove(2);
    pinned.pinned = true;
    expected.insert(0, pinned);
    check::equal("the listing", &entries(&case.wire(), vault).await?, &expected)
}

async fn back_to_its_place(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, before) = four(&case).await?;
    for entry in [before[1], before[3]] {
        pin(&wire, vault, entry.membership).await?;
    }
    for entry in [before[3], before[1]] {
        ask_unpin(&wire, vault, entry.membership).await?.status(200)?;
    }
    check::equal("the listing", &entries(&wire, vault).await?, &before)
}

async fn wrong_vault(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, listed) = four(&case).await?;
    let second = make::vault(&case, &wire).await?;
    make::fill(&wire, second, &[listed[1].prompt, listed[2].prompt]).await?;
    pin(&wire, vault, listed[2].membership).await?;
    let before = [entries(&wire, vault).await?, entries(&wire, second).await?];
    let pinned = ask_pin(&wire, second, listed[1].membership).await?;
    pinned.is_client_error("the pin of a membership of another vault")?;
    let unpinned = ask_unpin(&wire, second, listed[2].membership).await?;
    unpinned.is_client_error("the unpin of a membership of another vault")?;
    let after = [entries(&wire, vault).await?, entries(&wire, second).await?];
    check::equal("the two vaults", &after, &before)
}

async fn pin_again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, listed) = four(&case).await?;
    for entry in &listed[..3] {
        pin(&wire, vault, entry.membership).await?;
    }
    let before = entries(&wire, vault).await?;
    for entry in &listed[..3] {
        let reply = ask_pin(&wire, vault, entry.membership).await?;
        reply.accepted(200, "the pin of a pinned prompt")?.equals("/data/isPinned", true)?;
        check::equal("the listing", &entries(&wire, vault).await?, &before)?;
    }
    Ok(())
}

async fn unpin_again(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, listed) = four(&case).await?;
    pin(&wire, vault, listed[0].membership).await?;
    let before = entries(&wire, vault).await?;
    let reply = ask_unpin(&wire, vault, listed[2].membership).await?;
    reply.accepted(200, "the unpin of a prompt that is not pinned")?;
    reply.equals("/data/isPinned", false)?;
    check::equal("the listing", &entries(&wire, vault).await?, &before)
}
