//! `POST` and `DELETE …/pin`. The order of several pins is in `order`.

use super::vault_with_distinct_ids;
use crate::fixture::Entry;
use crate::scenarios::prelude::*;

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
    core! { "contents.pin.again" ["VC-29"] pin_again,
        "Pinning a pinned prompt answers 200 and changes nothing" },
    core! { "contents.unpin.again" ["VC-30"] unpin_again,
        "Unpinning a prompt that is not pinned answers 200 and changes nothing" },
];

/// A vault with four prompts, in the order of the listing: the latest added first.
async fn four(case: &Case) -> Result<(Vault, Vec<Member>)> {
    let vault = case.vault().await?;
    vault.fill(4).await?;
    let members = vault.members().await?;
    vault.expect_size(4).await?;
    Ok((vault, members))
}

async fn pin_answer(case: Case) -> Result {
    let (_, members) = vault_with_distinct_ids(&case, 4).await?;
    let reply = members[1].pin().await?;
    reply.status(200)?.equals("/data/vaultPromptId", members[1].id)?;
    reply.equals("/data/isPinned", true).map(drop)
}

async fn unpin_answer(case: Case) -> Result {
    let (_, members) = vault_with_distinct_ids(&case, 4).await?;
    members[1].pinned().await?;
    let reply = members[1].unpin().await?;
    reply.status(200)?.equals("/data/vaultPromptId", members[1].id)?;
    reply.equals("/data/isPinned", false).map(drop)
}

async fn to_the_top(case: Case) -> Result {
    let (vault, listed) = four(&case).await?;
    listed[2].pinned().await?;
    let top = Entry { pinned: true, ..listed[2].entry() };
    let others = [0, 1, 3].map(|n| listed[n].entry());
    vault.expect_entries(&[&[top], &others[..]].concat()).await
}

async fn back_to_its_place(case: Case) -> Result {
    let (vault, listed) = four(&case).await?;
    for n in [1, 3] {
        listed[n].pinned().await?;
    }
    for n in [3, 1] {
        listed[n].unpin().await?.status(200)?;
    }
    vault.expect_entries(&[0, 1, 2, 3].map(|n| listed[n].entry())).await
}

async fn pin_again(case: Case) -> Result {
    let (vault, listed) = four(&case).await?;
    for member in &listed[..3] {
        member.pinned().await?;
    }
    let before = vault.entries().await?;
    for member in &listed[..3] {
        let reply = member.pin().await?;
        reply.has_status(200, "the pin of a pinned prompt")?.equals("/data/isPinned", true)?;
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

async fn unpin_again(case: Case) -> Result {
    let (vault, listed) = four(&case).await?;
    listed[0].pinned().await?;
    let before = vault.entries().await?;
    let reply = listed[2].unpin().await?;
    reply.has_status(200, "the unpin of a prompt that is not pinned")?;
    reply.equals("/data/isPinned", false)?;
    vault.expect_entries(&before).await
}
