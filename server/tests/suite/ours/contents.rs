//! Prompts in vaults at the points where the specification is silent: adding twice, memberships, moves.

use crate::prelude::*;
use promptarium_conformance::scenarios::core::moves::deleted_prompt;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "contents.add.all-or-nothing" ["S-27"] all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    scenario! { "contents.add-again.changes-nothing" ["S-26"] changes_nothing,
        "Putting a prompt into its vault again leaves membership, place and pin as they are" },
    scenario! { "contents.add-again.counts-new" ["S-26"] counts_new,
        "added counts each prompt that was not in the vault once; entries as sent have the limit" },
    scenario! { "contents.membership.not-found" ["S-31"] not_found,
        "No call finds a membership of another vault, a removed one or one that was moved away" },
    scenario! { "contents.move.into-a-holder" ["S-28"] into_a_holder,
        "A move to a vault that holds the prompt replaces the membership there by a new one" },
    scenario! { "contents.move.within-one-vault" ["S-29"] within_one_vault,
        "A move to the vault it comes from gives a new membership on top, not pinned" },
    scenario! { "contents.move.unpins" ["S-30"] unpins,
        "A pinned prompt is not pinned after a move, and on top of the target's part that is not" },
];

async fn all_or_nothing(case: Case) -> Result {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    let unknown = deleted_prompt(&case).await?;
    for prompts in [[&known, &unknown], [&unknown, &known]] {
        let reply = vault.add(prompts).await?;
        reply.is_bad_request("a list with a deleted prompt")?.string("/details/promptIds")?;
    }
    vault.listing().await?.equals("/data", json!([])).map(drop)
}

async fn changes_nothing(case: Case) -> Result {
    let (vault, members) = case.filled_vault::<4>().await?;
    members[0].pinned().await?;
    members[1].pinned().await?;
    let before = vault.entries().await?;
    for member in [&members[0], &members[2]] {
        vault.add([member]).await?.status(201)?;
        for way in [Way::Save, Way::Update] {
            let reply = vault.put(&member.prompt, way).await?;
            reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
        }
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

async fn counts_new(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(4).await?);
    let [first, last] = [&prompts[..2], &prompts[1..]];
    for (some, added, count) in [(first, 2, 2), (first, 0, 2), (last, 2, 4)] {
        let reply = vault.add(some).await?;
        reply.status(201)?.equals("/data/added", added)?.equals("/data/promptCount", count)?;
    }
    let vault = case.vault().await?;
    let [a, b] = [&prompts[0], &prompts[1]];
    let reply = vault.add([a, b, a, a]).await?;
    reply.status(201)?.equals("/data/added", 2)?.equals("/data/promptCount", 2)?;
    vault.expect_size(2).await?;
    vault.add([a; 51]).await?.is_bad_request("one id 51 times")?;
    let reply = vault.add([&prompts[2]; 50]).await?;
    reply.has_status(201, "one id 50 times")?.equals("/data/added", 1).map(drop)
}

/// No call finds it, whether it is pinned or not.
async fn found_by_none(member: &Member, target: &Vault, what: &str) -> Result {
    let replies = [
        ("pin", member.pin().await?),
        ("unpin", member.unpin().await?),
        ("move", member.move_to(target).await?),
        ("removal", member.remove().await?),
    ];
    for (call, reply) in replies {
        reply.has_status(404, format!("the {call} of a membership {what}"))?;
    }
    Ok(())
}

/// The other vault holds the prompts too, under memberships of its own.
async fn not_found(case: Case) -> Result {
    let [vault, second, target] = case.vaults().await?;
    let [pinned, plain, removed, moved] = vault.filled().await?;
    second.add_in_turn([&pinned, &plain]).await?;
    pinned.pinned().await?;
    removed.remove().await?.status(200)?;
    moved.moved_to(&target).await?;
    let vaults = [&vault, &second, &target];
    let before = try_join_all(vaults.map(Vault::entries)).await?;
    for member in [pinned, plain] {
        let member = second.membership(member.id, &member.prompt);
        found_by_none(&member, &target, "of another vault").await?;
    }
    found_by_none(&removed, &target, "that was removed").await?;
    for vault in [&vault, &target] {
        let member = vault.membership(moved.id, &moved.prompt);
        found_by_none(&member, &second, "that was moved away").await?;
    }
    for (vault, before) in vaults.into_iter().zip(before) {
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

async fn into_a_holder(case: Case) -> Result {
    let (source, target, [member]) = case.source_and_target().await?;
    target.add_in_turn([&member]).await?;
    let held = target.member_of(&member.prompt).await?;
    held.pinned().await?;
    let [first, second] = target.filled().await?;

    let moved = member.moved_to(&target).await?;
    check::distinct("vaultPromptIds", [moved.id, held.id, member.id])?;
    target.expect_entries(&[moved, second, first].map(|it| it.entry())).await?;
    source.expect_size(0).await?;
    held.remove().await?.has_status(404, "the replaced membership").map(drop)
}

async fn within_one_vault(case: Case) -> Result {
    let (source, _, [member, second, third]) = case.source_and_target().await?;
    member.pinned().await?;
    let moved = member.moved_to(&source).await?;
    check::distinct("vaultPromptIds", [moved.id, member.id])?;
    source.expect_entries(&[moved, third, second].map(|it| it.entry())).await
}

/// The prompt that is moved was added before those of the target.
async fn unpins(case: Case) -> Result {
    let (_, target, [member]) = case.source_and_target().await?;
    let [pinned, second, third] = target.filled().await?;
    pinned.pinned().await?;
    member.pinned().await?;
    let moved = member.moved_to(&target).await?.entry();
    let pinned = Entry { pinned: true, ..pinned.entry() };
    target.expect_entries(&[pinned, moved, third.entry(), second.entry()]).await
}
