//! Memberships: what they are called, that a prompt has one for each of its vaults, and the calls
//! that remove and pin them. The order of several pins is in `listing`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "contents.membership.own-id" ["VC-01"] own_id,
        "A prompt has a vaultPromptId of its own in each vault, which calls take and not its id" },
    core! { "contents.membership.others-kept" ["VC-03"] others_kept,
        "Saving or adding a prompt leaves its other memberships as they are" },
    core! { "contents.membership.answers" ["VC-15", "VC-25", "VC-26"] answers,
        "Remove, pin and unpin answer 200 with the membership's id and its new state" },
    core! { "contents.remove.takes-out" ["VC-15", "VC-16"] takes_out,
        "A removal takes the prompt out of this vault only, and leaves the vault's other prompts" },
    core! { "contents.pin.to-the-top" ["VC-27"] to_the_top,
        "A pinned prompt is shown as pinned and is on top of the listing" },
    core! { "contents.unpin.back-to-its-place" ["VC-28"] back_to_its_place,
        "An unpinned prompt is back where the normal order has it" },
    core! { "contents.pin.again" ["VC-29"] pin_again,
        "Pinning a pinned prompt answers 200 and changes nothing" },
    core! { "contents.unpin.again" ["VC-30"] unpin_again,
        "Unpinning a prompt that is not pinned answers 200 and changes nothing" },
];

async fn own_id(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let mut memberships = Vec::new();
    for vault in case.vaults::<4>().await? {
        vault.add_in_turn([&prompt]).await?;
        memberships.extend(vault.entries().await?.iter().map(|entry| entry.membership));
    }
    check::distinct("vaultPromptIds", memberships)?;
    not_the_prompt_id(&case).await
}

async fn answers(case: Case) -> Result {
    let (_, members) = vault_with_distinct_ids(&case, 4).await?;
    let member = &members[1];
    for (reply, field, value) in [
        (member.pin().await?, "isPinned", true),
        (member.unpin().await?, "isPinned", false),
        (member.remove().await?, "removed", true),
    ] {
        reply.status(200)?.equals("/data/vaultPromptId", member.id)?;
        reply.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

/// The prompt is one whose id is no membership of the vault by chance: where
/// both kinds count from 1, the prompt left out in the middle sees to it.
async fn not_the_prompt_id(case: &Case) -> Result {
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

async fn others_kept(case: Case) -> Result {
    let [first, added, saved] = case.vaults().await?;
    let [member, _] = first.filled().await?;
    member.pinned().await?;
    let before = first.entries().await?;
    added.add_in_turn([&member]).await?;
    first.expect_entries(&before).await?;
    member.prompt.save_into(&saved).await?.status(200)?;
    first.expect_entries(&before).await
}

async fn takes_out(case: Case) -> Result {
    let (vault, second, [pinned, removed, alone, _]) = case.source_and_target().await?;
    second.add_in_turn([&removed]).await?;
    pinned.pinned().await?;
    let (mut expected, elsewhere) = (vault.entries().await?, second.entries().await?);
    removed.remove().await?.status(200)?;
    expected.retain(|entry| entry.membership != removed.id);
    vault.expect_entries(&expected).await?;
    second.expect_entries(&elsewhere).await?;
    removed.prompt.expect_vaults([&vault, &second], [&second]).await?;
    alone.remove().await?.status(200)?;
    alone.prompt.expect_vaults([&vault], []).await
}

/// A vault with four prompts, in the order of the listing: the latest added first.
async fn four(case: &Case) -> Result<(Vault, Vec<Member>)> {
    let vault = case.vault().await?;
    vault.fill(4).await?;
    vault.expect_size(4).await?;
    let members = vault.members().await?;
    Ok((vault, members))
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

/// A new vault with prompts. The id of no membership is that of its prompt: where both are the
/// same number, one that is taken for the other does not show.
pub(crate) async fn vault_with_distinct_ids(
    case: &Case,
    count: usize,
) -> Result<(Vault, Vec<Member>)> {
    let mut tries = 0;
    loop {
        let vault = case.vault().await?;
        let members = vault.fill(count).await?;
        tries += 1;
        if tries == 8 || members.iter().all(|member| member.id != member.prompt.id) {
            return Ok((vault, members));
        }
        // Prompts are ahead of memberships by one more the next time.
        case.prompt().await?;
    }
}
