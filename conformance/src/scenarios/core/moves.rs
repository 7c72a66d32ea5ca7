//! `POST /vaults/{vaultId}/prompts` and `POST …/move`: their responses and effects.

use super::membership::{is_taken_by_no_call, vault_with_distinct_ids};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "contents.move.answer-values" ["VC-18"] answer_values,
        "The answer of a move names the prompt, the source and the target" },
    scenario! { "contents.move.added-now" ["VC-09", "VC-20"] |case| by_date(case, added_now),
        "A moved prompt is above those that were in the target before" },
    scenario! { "contents.move.new-membership" ["VC-19"] new_membership,
        "A move answers with a new vaultPromptId, which the target lists and other calls take" },
    scenario! { "contents.move.old-membership-ends" ["VC-20"] old_membership_ends,
        "No call accepts the membership in the source after a move" },
    scenario! { "contents.move.from-source-to-target" ["VC-20"] from_source_to_target,
        "A moved prompt is in the target and not in the source; every other membership stays" },
    scenario! { "contents.move.never-lost" ["VC-20", "VC-21"] never_lost,
        "A move to a vault that holds the prompt, or to its own, leaves it there or changes nothing" },
    scenario! { "contents.add.puts-in" ["VC-10", "VC-11"] puts_in,
        "The prompts of promptIds are in the vault, and the answer counts them and names it" },
    scenario! { "contents.add.unknown-prompt" ["VC-14"]
        |case| async move { not_added(&case, &deleted_prompt(&case).await?).await },
        "A request with the id of a deleted prompt is no success and does not add it" },
    scenario! { "contents.add.foreign-prompt" ["VC-14"] [OtherAccount]
        |case| async move { not_added(&case, &case.other_account().prompt().await?).await },
        "A request with the id of another account's prompt is no success and does not add it" },
    scenario! { "contents.add-again.vault-ids" ["PR-08"] names_the_vault_once,
        "vaultIds names a vault once, however often the prompt was put into it" },
];

async fn answer_values(case: Case) -> Result {
    let target = case.vault().await?;
    let (source, [_, member]) = vault_with_distinct_ids(&case).await?;
    let (prompt, source, to) = (member.prompt.id, source.id, target.id);
    let ids = json!({ "promptId": prompt, "sourceVaultId": source, "targetVaultId": to });
    member.move_to(&target).await?.shows(&ids).map(drop)
}

async fn new_membership(case: Case) -> Result {
    let (source, target, members) = case.source_and_target::<2>().await?;
    for member in &members {
        let reply = member.move_to(&target).await?;
        let new = reply.integer("/data/vaultPromptId")?;
        reply.ensure(new != member.id, "a new vaultPromptId", "the old one")?;
        let listed = target.member_of(&member.prompt).await?.id;
        reply.ensure(new == listed, format!("the vaultPromptId {listed} of the listing"), new)?;
    }
    let moved = target.member_of(&members[0].prompt).await?;
    moved.pin().await?.has_status(200, "the pin of the new membership")?;
    let back = moved.moved_to(&source).await?;
    back.remove().await?.has_status(200, "the removal of it").map(drop)
}

async fn old_membership_ends(case: Case) -> Result {
    let (source, target, [old, _]) = case.source_and_target().await?;
    old.move_to(&target).await?.status(200)?;
    let before = target.entries().await?;
    for vault in [&source, &target] {
        let old = vault.membership(old.id, &old.prompt);
        is_taken_by_no_call(&old, &source, "a membership that was moved away").await?;
    }
    target.expect_entries(&before).await
}

async fn from_source_to_target(case: Case) -> Result {
    let (source, target, [pinned, moved, _]) = case.source_and_target().await?;
    let third = case.vault().await?;
    third.add_in_turn([&moved]).await?;
    target.fill(2).await?[0].pinned().await?;
    pinned.pinned().await?;
    let (mut left, kept, elsewhere) =
        (source.entries().await?, target.entries().await?, third.entries().await?);
    left.retain(|entry| entry.membership != moved.id);
    moved.move_to(&target).await?.status(200)?;
    source.expect_entries(&left).await?;
    third.expect_entries(&elsewhere).await?;
    let is_other = |entry: &Entry| entry.prompt != moved.prompt.id;
    let (others, joined): (Vec<_>, Vec<_>) =
        target.entries().await?.into_iter().partition(is_other);
    check::equal("the other prompts of the target", &others, &kept)?;
    check::equal("how often the target lists the moved prompt", &joined.len(), &1)?;
    moved.prompt.expect_vaults([&source, &target, &third], [&target, &third]).await
}

/// These moves may succeed or be refused (S-28, S-29).
async fn never_lost(case: Case) -> Result {
    let (source, target, [member, other]) = case.source_and_target().await?;
    target.add_in_turn([&member]).await?;
    let into_holder = member.move_to(&target).await?;
    let expected = (!into_holder.is_success()).then_some(&source).into_iter().chain([&target]);
    member.prompt.expect_vaults([&source, &target], expected).await?;
    other.move_to(&source).await?;
    other.prompt.expect_vaults([&source, &target], [&source]).await?;
    for (vault, prompt) in [(&target, &member.prompt), (&source, &other.prompt)] {
        vault.member_of(prompt).await?;
    }
    Ok(())
}

async fn puts_in(case: Case) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts(6).await?);
    for (some, count) in [(&prompts[..1], 1), (&prompts[1..3], 3), (&prompts[3..], 6)] {
        let said = json!({ "added": some.len(), "vaultId": vault.id, "promptCount": count });
        vault.add(some).await?.status(201)?.shows(&said)?;
    }
    vault.expect_prompts_in_any_order(&prompts).await
}

pub async fn deleted_prompt(case: &Case) -> Result<Prompt> {
    let prompt = case.prompt().await?;
    prompt.delete().await?.status(200)?;
    Ok(prompt)
}

/// A refused request may add the known prompt (S-27).
async fn not_added(case: &Case, prompt: &Prompt) -> Result {
    let (vault, known) = (case.vault().await?, case.prompt().await?);
    for prompts in [vec![prompt], vec![&known, prompt], vec![prompt, &known]] {
        vault.add(prompts).await?.is_client_error("promptIds with one that cannot be added")?;
    }
    vault.listing().await?.lacks("id", prompt.id)
}

/// A server may refuse the second call (S-26).
async fn names_the_vault_once(case: Case) -> Result {
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    prompt.save_into(&vault).await?.status(200)?;
    let again = [Way::Add, Way::Save, Way::Update].map(|way| vault.put(&prompt, way));
    let again = try_join_all(again).await?;
    race::expect_no_server_error(&again)?;
    let shown = again.into_iter().skip(1).filter(|reply| reply.status_code() == 200);
    for reply in shown.chain([prompt.read().await?]) {
        let named = vault_ids(&reply)?;
        let times = named.iter().filter(|id| **id == vault.id).count();
        reply.ensure(times == 1, format!("vaultIds with {} once", vault.id), json_text(&named))?;
    }
    Ok(())
}

async fn added_now(case: Case, pause: Duration) -> Result {
    let (_, target, [member]) = case.source_and_target().await?;
    tokio::time::sleep(case.scaled(pause)).await;
    let [older] = target.filled().await?;
    tokio::time::sleep(case.scaled(pause)).await;
    member.moved_to(&target).await?;
    target.expect_prompts([&member.prompt, &older.prompt]).await
}
